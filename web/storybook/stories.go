package main

import (
	"slices"
	"time"

	"rendermac/web"
)

// story is one page in one state. Its name is the page's, then the state:
// "job/failed".
type story struct {
	Name  string
	Frame web.Frame
	Page  web.Page
}

// stories has a slice a page, each in the page's own file.
var stories = slices.Concat(
	overview,
	devices,
	jobs,
	job,
	newJob,
	faults,
	signIn,
	settings,
	journal,
)

// now is when every story happens.
var now = time.Date(2026, 12, 1, 14, 30, 0, 0, time.UTC)

// admin and reader are frames of the two kinds of people.
func admin(title, at string) web.Frame {
	return web.Frame{Title: title, At: at, Installation: "render.studio.example", Key: "studio", Scope: "admin", Version: "1.0.0"}
}

func reader(title, at string) web.Frame {
	f := admin(title, at)
	f.Key, f.Scope = "wall screen", "read"
	return f
}
