package web

// New is where files become jobs.
type New struct{}

func (New) template() string { return "new.html" }
