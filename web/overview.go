package web

// Overview is the page that is left open.
type Overview struct{}

func (Overview) template() string { return "overview.html" }
