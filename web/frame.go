package web

import (
	"io/fs"
	"strings"
)

// Frame is what stands around a page.
type Frame struct {
	Title        string
	At           string // the rail's entry, by its path
	Installation string // as people know this server: the host in its address
	Key          string // the name of the session's key
	Scope        string // and its scope: read, submit or admin
	Version      string
	Query        string // what the search holds
	Event        int64  // the newest event before the page was made: its stream goes on from there
}

// IsAdmin tells whether the session may change devices and settings.
func (f Frame) IsAdmin() bool { return f.Scope == "admin" }

// MaySubmit tells whether the session may make, cancel and retry jobs.
func (f Frame) MaySubmit() bool { return f.Scope != "read" }

type framed struct {
	Frame
	Page Page
}

// Title is the page's own where it has one, as a job has its file's name.
func (f framed) Title() string {
	if named, is := f.Page.(interface{ title() string }); is {
		return named.title()
	}
	return f.Frame.Title
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

// Sheet names what is the page's own beside its template: its style, and its
// module where it has one.
func (f framed) Sheet() string { return strings.TrimSuffix(f.Page.template(), ".html") }

// Script tells whether there is such a module.
func (f framed) Script() bool {
	_, err := fs.Stat(files, "js/"+f.Sheet()+".js")
	return err == nil
}
