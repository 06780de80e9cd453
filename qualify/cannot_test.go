package qualify

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// cannot is for what this machine lacks. It skips, but never where someone asked
// for this very thing: a soak or a card that is green has done its work.
func cannot(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("RENDERMAC_SOAK") != "" || os.Getenv("QUALIFY_CARD") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// lookAtSources makes every file of the module an input of these tests, as the
// go command's cache sees it: it knows nothing of the binary that they build.
func lookAtSources() error {
	return filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != ".." && (d.Name()[0] == '.' || d.Name() == "bin" || d.Name() == "docs"):
			return filepath.SkipDir
		}
		_, err = os.Stat(path)
		return err
	})
}
