package unzip_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rendermac/unzip"
)

// Whatever the bytes are: no panic, no byte over the limit, nothing outside the
// folder, nothing left after a failure; and what is unpacked is what another
// reader finds under the same names.
func FuzzExtract(f *testing.F) {
	f.Add([]byte{})
	f.Add(build(f))
	f.Add(build(f, piece{name: "a/b", text: "text"}, piece{name: "c/"}, piece{name: "d", text: strings.Repeat("x", 5000)}))
	f.Add(build(f, piece{name: "../x", text: "text"}))
	f.Add(build(f, piece{name: "s", text: "text", header: func(h *zip.FileHeader) { h.Method = zip.Store }}))
	const most = 100_000
	home := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		own, err := os.MkdirTemp(home, "")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(own)
		path, dir := filepath.Join(own, "in.zip"), filepath.Join(own, "out")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var wrote int64
		_, err = unzip.Extract(t.Context(), path, dir, unzip.Limits{Bytes: most, Entries: 50, Wrote: func(n int64) { wrote += n }})
		if wrote > most {
			t.Fatalf("it wrote %d bytes", wrote)
		}
		found, _ := os.ReadDir(own)
		if err != nil {
			if !errors.As(err, new(*unzip.Refused)) {
				t.Fatalf("no refusal: %v", err)
			}
			if len(found) != 1 {
				t.Fatalf("it left %v", found)
			}
			return
		}
		if len(found) != 2 {
			t.Fatalf("it made %v", found)
		}
		compare(t, data, tree(t, dir))
	})
}

// compare holds what was unpacked against what archive/zip reads.
func compare(t *testing.T, data []byte, files map[string]string) {
	other, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return // ours also reads what archive/zip is stricter with
	}
	for _, file := range other.File {
		in, err := file.Open()
		if err != nil {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(in, 1<<20))
		in.Close()
		if got, ok := files[file.Name]; err == nil && ok && got != string(text) {
			t.Errorf("%q holds %q, archive/zip reads %q", file.Name, got, text)
		}
	}
}
