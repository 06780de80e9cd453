package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// films are the extensions that a folder is searched for. A file that is named
// itself may have any.
var films = []string{
	".3gp", ".avi", ".dv", ".flv", ".m2ts", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".mts", ".mxf", ".ogv", ".ts", ".webm", ".wmv",
}

// findFiles is every file that the arguments stand for, in their order. It finds
// all that cannot be submitted at once.
func (s *submission) findFiles(args []string, out io.Writer) ([]string, error) {
	var files []string
	var wrong faults
	s.intoFolder = len(args)+len(s.paths) > 1 && !s.joins() || strings.HasSuffix(s.out, "/")
	for _, arg := range args {
		found := []string{arg}
		if info, err := os.Stat(arg); err == nil && info.IsDir() {
			s.intoFolder = s.intoFolder || !s.joins()
			if found, err = filmsIn(arg, out); err != nil {
				wrong = append(wrong, err)
			}
		}
		files = append(files, found...)
	}
	for _, file := range files {
		if err := checkFile(file); err != nil {
			wrong = append(wrong, err)
		}
	}
	return files, wrong.err()
}

// checkFile finds out whether a file can be read and has something in it. It
// opens regular files only: to open a pipe would wait for its other end.
func checkFile(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return plainFault("file", file, err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", file)
	case info.Size() == 0:
		return fmt.Errorf("the file %s is empty", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return plainFault("file", file, err)
	}
	return f.Close()
}

// filmsIn is the films of a folder by name, and says what it leaves out. Links
// count as what they lead to.
func filmsIn(folder string, out io.Writer) (found []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, plainFault("folder", folder, err)
	}
	var others []string
	hidden, folders := 0, 0
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		info, err := os.Stat(path) // a dead link is a fault of its own later
		switch {
		case strings.HasPrefix(entry.Name(), "."):
			hidden++
		case err == nil && info.IsDir():
			folders++
		case !slices.Contains(films, strings.ToLower(filepath.Ext(path))):
			others = append(others, entry.Name())
		default:
			found = append(found, path)
		}
	}
	if len(found) == 0 {
		return nil, errors.New("there is no film in " + folder + ", by the names of its files; folders inside it are not searched")
	}
	left := leftOut(others, hidden, folders)
	fmt.Fprintf(out, "%s: %s%s\n", clean(folder), count(len(found), "film"), clean(left))
	return found, nil
}

// leftOut is what was not taken of a folder, in words.
func leftOut(others []string, hidden, folders int) string {
	var parts []string
	if len(others) > 0 {
		parts = append(parts, some(others))
	}
	if folders > 0 {
		parts = append(parts, count(folders, "folder"))
	}
	if hidden > 0 {
		parts = append(parts, count(hidden, "hidden file"))
	}
	if len(parts) == 0 {
		return ""
	}
	return "; left out: " + strings.Join(parts, ", ")
}

// some is the first names of many, and how many more there are.
func some(names []string) string {
	const first = 3
	if len(names) <= first+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:first], ", "), len(names)-first)
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
