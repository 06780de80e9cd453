package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestShortNameLeadsToTheRunAndGoesWithIt(t *testing.T) {
	run := filepath.Join(t.TempDir(), strings.Repeat("deep", 40))
	temporary := filepath.Join(run, "tmp")
	if err := os.MkdirAll(temporary, 0o700); err != nil {
		t.Fatal(err)
	}
	short, err := shorten(run, temporary)
	if err != nil {
		t.Fatal(err)
	}
	if len(short) > 30 {
		t.Errorf("%s is not short", short)
	}
	if err := os.WriteFile(filepath.Join(short, "socket"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(temporary, "socket")); err != nil {
		t.Error(err)
	}
	dropShort(run)
	if _, err := os.Lstat(filepath.Dir(short)); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", filepath.Dir(short), err)
	}
}

// noShortName fails where a name leads into dir still.
func noShortName(t *testing.T, dir string) {
	t.Helper()
	links, err := filepath.Glob(filepath.Join(shortHome, shortPrefix+"*", shortName))
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, dir) {
			t.Errorf("%s still leads to %s", link, to)
		}
	}
}
