package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rendermac/media"
)

// checkOutput finds what would keep a result from being saved, before anything
// is uploaded.
func (s *submission) checkOutput(files []string) error {
	if s.out == "" {
		return nil
	}
	if err := s.checkNames(files); err != nil && !s.joins() {
		return err
	}
	if !s.intoFolder {
		if info, err := os.Stat(s.out); err != nil || !info.IsDir() {
			if err := checkFolder(s.out); err != nil {
				return err
			}
			return s.checkTargets(files, slices.Repeat([]string{s.out}, len(files)))
		}
	} else if err := os.MkdirAll(s.out, 0o755); err != nil {
		return plainFault("folder", s.out, err)
	}
	ext := s.extension()
	if ext == "" {
		return nil
	}
	targets := make([]string, len(files))
	for i, file := range files {
		if s.joins() {
			file = files[0]
		}
		targets[i] = filepath.Join(s.out, s.resultName(file, ext))
	}
	return s.checkTargets(files, targets)
}

// extension is what the results will be, where this build knows the service and
// its presets; where it does not, a result that is in the way of another is
// found when it is saved.
func (s *submission) extension() string {
	service, ok := media.Lookup(s.service)
	if !ok {
		return ""
	}
	resolved, faults := service.Resolve(s.job.Params)
	if len(faults) > 0 {
		return ""
	}
	return service.Output(resolved).Ext
}

func (s *submission) resultName(file, ext string) string {
	if s.outputName != "" {
		return s.outputName
	}
	return stem(file) + "." + ext
}

func stem(file string) string { return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) }

// checkNames refuses files whose results would have one name: it is made from
// the file's own without its extension, and many disks ignore case.
func (s *submission) checkNames(files []string) error {
	seen := map[string]string{}
	for _, file := range files {
		name := strings.ToLower(stem(file))
		if other, ok := seen[name]; ok {
			return fmt.Errorf("the results of %s and %s would have the same name in %s: submit them apart, each with a folder of its own for -o", other, file, s.out)
		}
		seen[name] = file
	}
	return nil
}

// checkTargets refuses to overwrite, and never lets a result take the place of
// the film that it is made from.
func (s *submission) checkTargets(files, targets []string) error {
	var exist []string
	for i, target := range targets {
		there, err := os.Stat(target)
		if err != nil {
			continue
		}
		if input, err := os.Stat(files[i]); err == nil && os.SameFile(there, input) {
			return fmt.Errorf("the result of %s would take its own place: choose another -o", files[i])
		}
		exist = append(exist, target)
	}
	exist = slices.Compact(exist)
	switch {
	case s.force || len(exist) == 0:
		return nil
	case len(exist) == 1:
		return fmt.Errorf("%s exists: pass --force to overwrite it", exist[0])
	}
	return fmt.Errorf("%s exist: pass --force to overwrite them", some(exist))
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
