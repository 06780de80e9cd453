package unzip

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

const (
	longestName = 255 // bytes; what file systems take
	longestPath = 512
)

var drive = regexp.MustCompile(`^[A-Za-z]:`)

// nameFault is what is wrong with a path, or "".
func nameFault(name string) string {
	switch {
	case name == "":
		return "has no name"
	case strings.HasPrefix(name, "/") || drive.MatchString(name):
		return "has an absolute path: only paths inside the zip's own folder are accepted"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "has control characters in its name"
	case strings.Contains(name, `\`):
		return "has a backslash in its name: folders are told apart by /"
	case len(name) > longestPath:
		return "has too long a path: at most 512 bytes are accepted"
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "" || part == "." || part == "..":
			return "has a path with an empty part, . or .. in it"
		case len(part) > longestName:
			return "has too long a name: at most 255 bytes are accepted"
		}
	}
	return ""
}

// nameBook finds names that some file system takes for one: macOS ignores case,
// and how an accent is written.
type nameBook struct {
	fold cases.Caser
	seen map[string]seenName
}

type seenName struct {
	name           string
	folder, listed bool // listed has an entry of its own
}

func newNameBook() *nameBook { return &nameBook{cases.Fold(), map[string]seenName{}} }

func (b *nameBook) key(name string) string {
	return norm.NFD.String(b.fold.String(norm.NFD.String(name)))
}

// add takes an entry and the folders that it is in.
func (b *nameBook) add(e *entry) error {
	for i := range len(e.name) {
		if e.name[i] != '/' {
			continue
		}
		folder := e.name[:i]
		key := b.key(folder)
		was, ok := b.seen[key]
		switch {
		case !ok:
			b.seen[key] = seenName{name: folder, folder: true}
		case was.name != folder:
			return e.refuse("lies in a folder whose name differs from %.80q only by case or by how accents are written", was.name)
		case !was.folder:
			return e.refuse("lies in %.80q, which is a file", was.name)
		}
	}
	key := b.key(e.name)
	was, ok := b.seen[key]
	switch {
	case ok && was.name != e.name:
		return e.refuse("differs from %.80q only by case or by how accents are written", was.name)
	case ok && (was.listed || !e.folder):
		return e.refuse("is there twice")
	}
	b.seen[key] = seenName{e.name, e.folder, true}
	return nil
}
