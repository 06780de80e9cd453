package web

// Fault is what stands where a page cannot be shown.
type Fault struct{ Title, Detail string }

func (Fault) template() string { return "fault.html" }
