package main

import (
	"io"
	"slices"
)

// story is one page in one state. Its name is the page's, then the state:
// "job/failed".
type story struct {
	Name   string
	Render func(w io.Writer) error
}

// stories has a slice a page, each in the page's own file.
var stories = slices.Concat(
	home,
)
