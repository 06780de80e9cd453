package agent

import (
	"fmt"
	"os"
	"path/filepath"
)

// A browser makes a socket among its temporary files, and a socket's path holds
// some hundred bytes: where the work folder lies deep, no browser would start. So
// the run's temporary folder gets a short name: a link in a folder that only we
// may enter. The run's own folder has a link to that one, for who clears it.
const (
	shortHome   = "/tmp"       // TMPDIR may be long itself, as macOS's is
	shortPrefix = "rendermac-" // of the folder there
	shortName   = "t"          // the link in it
	shortKnown  = "short-name" // the link in the run's folder
)

func shorten(run, temporary string) (string, error) {
	dir, err := os.MkdirTemp(shortHome, shortPrefix)
	if err == nil {
		err = os.Symlink(dir, filepath.Join(run, shortKnown))
	}
	short := filepath.Join(dir, shortName)
	if err == nil {
		err = os.Symlink(temporary, short)
	}
	if err != nil {
		return "", fmt.Errorf("give the temporary folder a short name: %w", err)
	}
	return short, nil
}

// dropShort removes a run's short name: a link, and a folder that is empty then.
func dropShort(run string) {
	if dir, err := os.Readlink(filepath.Join(run, shortKnown)); err == nil {
		os.Remove(filepath.Join(dir, shortName))
		os.Remove(dir)
	}
}
