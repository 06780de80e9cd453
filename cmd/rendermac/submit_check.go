package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// check finds what would fail only after an upload.
func (s *submission) check(files []string) error {
	if s.priority < -100 || s.priority > 100 {
		return usagef("--priority must be -100 to 100")
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return plainFault("file", file, err)
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is not a regular file", file)
		}
	}
	if s.out == "" {
		return nil
	}
	if err := s.checkNames(files); err != nil {
		return err
	}
	if len(files) > 1 || strings.HasSuffix(s.out, "/") {
		if err := os.MkdirAll(s.out, 0o755); err != nil {
			return plainFault("folder", s.out, err)
		}
		return nil
	}
	if info, err := os.Stat(s.out); err == nil && !info.IsDir() && !s.force {
		return fmt.Errorf("%s exists: pass --force to overwrite it", s.out)
	}
	return checkFolder(s.out)
}

// checkNames refuses files whose results would have one name: it is made from
// the file's own without its extension, and many disks ignore case.
func (s *submission) checkNames(files []string) error {
	seen := map[string]string{}
	for _, file := range files {
		name := strings.ToLower(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
		if other, ok := seen[name]; ok {
			return fmt.Errorf("the results of %s and %s would have the same name in %s: submit them apart, each with a folder of its own for -o", other, file, s.out)
		}
		seen[name] = file
	}
	return nil
}

// checkFolder finds out whether path can be written where it is to stand.
func checkFolder(path string) error {
	folder := filepath.Dir(path)
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no folder %s: make it first", folder)
	case err != nil:
		return plainFault("folder", folder, err)
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", folder)
	}
	return nil
}

// plainFault is err, of a call on path, without the call's name.
func plainFault(kind, path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no %s %s", kind, path)
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("the %s %s cannot be used: %w", kind, path, err)
}
