package web

// Frame is what stands around a page.
type Frame struct {
	Title        string
	At           string // the rail's entry, by its path
	Installation string // as people know this server: the host in its address
	Account      string
	Scope        string // of the session's key: read, submit or admin
	Version      string
	Query        string // what the search holds
}

// IsAdmin tells whether the session may change devices and settings.
func (f Frame) IsAdmin() bool { return f.Scope == "admin" }

// MaySubmit tells whether the session may make, cancel and retry jobs.
func (f Frame) MaySubmit() bool { return f.Scope != "read" }

type framed struct {
	Frame
	Page Page
}

type entry struct{ Path, Name, Icon, Key string }

// Rail leads to the pages that the session may use.
func (f framed) Rail() []entry {
	rail := []entry{{"/", "Overview", "overview", "g o"}, {"/jobs", "Jobs", "jobs", "g j"}}
	if f.MaySubmit() {
		rail = append(rail, entry{"/new", "New job", "new", "n"})
	}
	return append(rail, entry{"/devices", "Devices", "devices", "g d"}, entry{"/settings", "Settings", "settings", "g s"})
}

// Script is the page's own module; a page without one has the frame's only.
func (f framed) Script() string {
	if p, has := f.Page.(interface{ script() string }); has {
		return p.script()
	}
	return ""
}
