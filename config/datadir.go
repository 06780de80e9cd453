package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// dataDir is the data directory: flag, environment, or the platform's own place.
func dataDir(flag string) (dir, source string, err error) {
	env := os.Getenv("RENDERMAC_DATA")
	switch {
	case flag != "":
		dir, source = flag, "flag --data"
	case env != "":
		dir, source = env, "environment RENDERMAC_DATA"
	default:
		home, err := os.UserHomeDir()
		if err != nil {
			return "", "", errors.New("there is no home directory to keep data in: pass --data DIR")
		}
		dir, source = platformDir(runtime.GOOS, home, os.Getenv("XDG_DATA_HOME")), "default"
	}
	dir, err = filepath.Abs(dir)
	return dir, source, err
}

func platformDir(goos, home, xdg string) string {
	switch {
	case goos == "darwin":
		return filepath.Join(home, "Library", "Application Support", "RenderMac")
	case filepath.IsAbs(xdg):
		return filepath.Join(xdg, "rendermac")
	default:
		return filepath.Join(home, ".local", "share", "rendermac")
	}
}
