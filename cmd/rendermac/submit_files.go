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

// films are the extensions that a folder is searched for, and where it has none of
// them, sounds. A file that is named itself may have any.
var films = []string{
	".3gp", ".avi", ".dv", ".flv", ".m2ts", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".mts", ".mxf", ".ogv", ".ts", ".webm", ".wmv",
}

var sounds = []string{".aac", ".aif", ".aiff", ".caf", ".flac", ".m4a", ".mp3", ".oga", ".ogg", ".opus", ".w64", ".wav"}

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
			if found, err = mediaIn(arg, out); err != nil {
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

// mediaIn is the films of a folder by name, or else its sounds, and says what it
// leaves out. Links count as what they lead to.
func mediaIn(folder string, out io.Writer) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, plainFault("folder", folder, err)
	}
	var files []string
	hidden, folders := 0, 0
	for _, entry := range entries {
		info, err := os.Stat(filepath.Join(folder, entry.Name())) // a dead link is a fault of its own later
		switch {
		case strings.HasPrefix(entry.Name(), "."):
			hidden++
		case err == nil && info.IsDir():
			folders++
		default:
			files = append(files, entry.Name())
		}
	}
	found, others := ofKind(films, files)
	kind := "film"
	if len(found) == 0 {
		found, others = ofKind(sounds, files)
		kind = "sound file"
	}
	if len(found) == 0 {
		return nil, errors.New("there is no film or sound in " + folder + ", by the names of its files; folders inside it are not searched")
	}
	fmt.Fprintf(out, "%s: %s%s\n", clean(folder), count(len(found), kind), clean(leftOut(others, hidden, folders)))
	for i, name := range found {
		found[i] = filepath.Join(folder, name)
	}
	return found, nil
}

// ofKind is the files with one of these extensions, and the others.
func ofKind(extensions, files []string) (of, others []string) {
	for _, name := range files {
		if slices.Contains(extensions, strings.ToLower(filepath.Ext(name))) {
			of = append(of, name)
		} else {
			others = append(others, name)
		}
	}
	return of, others
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
