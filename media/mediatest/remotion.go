package mediatest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// standInRole in the environment makes a test binary the stand-in.
const standInRole = "RENDERMAC_REMOTION_STANDIN"

// Remotion is a stand-in for a user's Remotion and browser, for tests of packages
// whose TestMain calls RemotionMain. Both are scripts, because an agent hands
// nothing of its environment on.
func Remotion(tb testing.TB) (command, browser string) {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	command, browser = filepath.Join(dir, "remotion"), filepath.Join(dir, "chromium")
	script(tb, command, fmt.Sprintf("%s=1 exec '%s' \"$@\"", standInRole, self))
	script(tb, browser, standInBrowser)
	return command, browser
}

// standInBrowser has a child, as browsers do, and keeps a profile.
const standInBrowser = `
[ "$1" = --version ] && echo "Chromium 100.0 (stand-in)" && exit
for arg; do case $arg in --user-data-dir=*) profile=${arg#*=};; esac; done
sleep 1000 &
echo $$ $! > "$profile/pids"
echo "DevTools listening on ws://127.0.0.1:9/devtools/browser/0" >&2
wait`

func script(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		tb.Fatal(err)
	}
}

// Bundle is a zip with an index.html and the compositions that the stand-in will
// find in it: their frames, by id. more are further files, by name; an empty one
// is left out.
func Bundle(tb testing.TB, compositions map[string]int, more map[string]string) []byte {
	tb.Helper()
	files := map[string]string{"index.html": "<!doctype html><title>stand-in</title>", "bundle.js": "// nothing"}
	for id, frames := range compositions {
		files["compositions/"+id] = fmt.Sprint(frames)
	}
	maps.Copy(files, more)
	maps.DeleteFunc(files, func(_, content string) bool { return content == "" })
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(files[name]))
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}
