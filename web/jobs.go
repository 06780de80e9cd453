package web

// Jobs is the list of jobs.
type Jobs struct{}

func (Jobs) template() string { return "jobs.html" }
