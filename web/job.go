package web

// Job is one job's story.
type Job struct{}

func (Job) template() string { return "job.html" }
