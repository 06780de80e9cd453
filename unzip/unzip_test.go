package unzip_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rendermac/unzip"
)

var roomy = unzip.Limits{Bytes: 1 << 20, Entries: 100}

// piece is one entry of a zip to build.
type piece struct {
	name, text string
	header     func(*zip.FileHeader)
	raw        bool // the header's sizes and checksum as they are
}

// build makes a zip of pieces by another's hand: archive/zip.
func build(tb testing.TB, pieces ...piece) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, p := range pieces {
		h := &zip.FileHeader{Name: p.name, Method: zip.Deflate}
		if p.header != nil {
			p.header(h)
		}
		create := w.CreateHeader
		if p.raw {
			create = w.CreateRaw
		}
		out, err := create(h)
		if err == nil {
			_, err = io.WriteString(out, p.text)
		}
		if err != nil && !strings.HasSuffix(p.name, "/") {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// extract unpacks into a folder of its own, which must be gone where it fails.
func extract(tb testing.TB, data []byte, limits unzip.Limits) (map[string]string, []string, error) {
	tb.Helper()
	home := tb.TempDir()
	path, dir := filepath.Join(home, "in.zip"), filepath.Join(home, "out")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tb.Fatal(err)
	}
	names, err := unzip.Extract(tb.Context(), path, dir, limits)
	found, _ := os.ReadDir(home)
	if err != nil {
		if len(found) != 1 {
			tb.Errorf("it failed and left %v", found)
		}
		return nil, nil, err
	}
	if len(found) != 2 {
		tb.Errorf("beside the zip there are %v", found)
	}
	return tree(tb, dir), names, nil
}

// tree is every file below dir with its text; folders end in a slash.
func tree(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		if err != nil || path == dir {
			return err
		}
		if d.IsDir() {
			files[name+"/"] = ""
			return nil
		}
		if !d.Type().IsRegular() {
			tb.Errorf("%q is no regular file", name)
		}
		text, err := os.ReadFile(path)
		files[name] = string(text)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return files
}

func TestExtract_WhatIsRight(t *testing.T) {
	long := strings.Repeat("a long line\n", 20_000)
	mode := func(m fs.FileMode) func(*zip.FileHeader) { return func(h *zip.FileHeader) { h.SetMode(m) } }
	data := build(
		t,
		piece{name: "index.html", text: "hello"},
		piece{name: "empty", header: mode(0o644)},
		piece{name: "stored.txt", text: long, header: func(h *zip.FileHeader) { h.Method = zip.Store }},
		piece{name: "a/", header: mode(fs.ModeDir | 0o755)},
		piece{name: "a/deep/er/file.js", text: long},
		piece{name: "a/ -o 'x' $(y) 😀 e\u0301.png", text: "name"},
		piece{name: "Aufn\x84hme.png", text: "cp437", header: func(h *zip.FileHeader) { h.NonUTF8 = true }},
		piece{name: "%d", text: "pattern", header: mode(0o4755)},
		piece{name: "left/out", text: "skipped"},
	)
	var wrote int64
	limits := unzip.Limits{
		Bytes: 1 << 20, Entries: 9,
		Skip:  func(name string) bool { return strings.HasPrefix(name, "left") },
		Wrote: func(n int64) { wrote += n },
	}
	files, names, err := extract(t, data, limits)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"index.html": "hello", "empty": "", "stored.txt": long, "a/": "", "a/deep/": "", "a/deep/er/": "", "a/deep/er/file.js": long,
		"a/ -o 'x' $(y) 😀 e\u0301.png": "name", "Aufnähme.png": "cp437", "%d": "pattern",
	}
	for name, text := range want {
		if got, ok := files[name]; !ok || got != text {
			t.Errorf("%q: got %.20q (%d bytes), %v", name, got, len(got), ok)
		}
	}
	if len(files) != len(want) {
		t.Errorf("there are %d files and folders, want %d", len(files), len(want))
	}
	inOrder := []string{"index.html", "empty", "stored.txt", "a/deep/er/file.js", "a/ -o 'x' $(y) 😀 e\u0301.png", "Aufnähme.png", "%d"}
	if !slices.Equal(names, inOrder) {
		t.Errorf("names: %q", names)
	}
	if want := int64(2*len(long) + len("hello"+"name"+"cp437"+"pattern")); wrote != want {
		t.Errorf("told of %d bytes, want %d", wrote, want)
	}
}

func TestExtract_FilesAreForTheirOwnerOnly(t *testing.T) {
	home := t.TempDir()
	path, dir := filepath.Join(home, "in.zip"), filepath.Join(home, "out")
	data := build(t, piece{name: "a/run.sh", text: "x", header: func(h *zip.FileHeader) { h.SetMode(0o6777) }})
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := unzip.Extract(t.Context(), path, dir, roomy); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{".": fs.ModeDir | 0o700, "a": fs.ModeDir | 0o700, "a/run.sh": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
}

// Every name that some system could take for another place, or for another name.
func TestExtract_NamesThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		want  string
		names []string
	}{
		{`"/etc/passwd" has an absolute path`, []string{"/etc/passwd"}},
		{`"C:evil" has an absolute path`, []string{"C:evil"}},
		{`"c:/evil" has an absolute path`, []string{"c:/evil"}},
		{`"../evil" has a path with an empty part, . or .. in it`, []string{"fine", "../evil"}},
		{`"a/../../evil" has a path with`, []string{"a/../../evil"}},
		{`"a/.." has a path with`, []string{"a/.."}},
		{`"a/./b" has a path with`, []string{"a/./b"}},
		{`"a//b" has a path with`, []string{"a//b"}},
		{`"." has a path with`, []string{"."}},
		{`"a/" has a path with`, []string{"a//"}},
		{`"" has no name`, []string{"/"}},
		{`"..\\evil" has a backslash`, []string{`..\evil`}},
		{`"a\x00b" has control characters`, []string{"a\x00b"}},
		{`"a\nb" has control characters`, []string{"a\nb"}},
		{`"\x1b[31m" has control characters`, []string{"\x1b[31m"}},
		{`at most 255 bytes`, []string{strings.Repeat("n", 256)}},
		{`at most 255 bytes`, []string{"a/" + strings.Repeat("é", 128) + "/b"}},
		{`at most 512 bytes`, []string{strings.Repeat("abcdefg/", 64) + "x"}},
		{`"a" is there twice`, []string{"a", "a"}},
		{`"a" is there twice`, []string{"a/", "a/"}},
		{`"a" is there twice`, []string{"a/b", "a"}},
		{`"a/b" lies in "a", which is a file`, []string{"a", "a/b"}},
		{`"INDEX.html" differs from "index.HTML" only by case`, []string{"index.HTML", "INDEX.html"}},
		{`"straSSe" differs from "straße" only by case`, []string{"straße", "straSSe"}},
		{"\"\u00e9\" differs from \"e\u0301\" only by case or by how accents are written", []string{"e\u0301", "\u00e9"}},
		{"\"\u00c9\" differs from \"e\u0301\" only by case or by how accents are written", []string{"e\u0301", "\u00c9"}},
		{`"A/y" lies in a folder whose name differs from "a" only by case`, []string{"a/x", "A/y"}},
		{`"Σ" differs from "ς" only by case`, []string{"ς", "Σ"}},
	} {
		var pieces []piece
		for _, name := range c.names {
			pieces = append(pieces, piece{name: name})
		}
		expectRefusal(t, build(t, pieces...), roomy, c.want)
	}
}

// expectRefusal wants one plain sentence with these words.
func expectRefusal(t *testing.T, data []byte, limits unzip.Limits, words string) {
	t.Helper()
	_, _, err := extract(t, data, limits)
	var refused *unzip.Refused
	switch {
	case !errors.As(err, &refused):
		t.Errorf("want %q, got %v", words, err)
	case !strings.Contains(refused.Message, words):
		t.Errorf("want %q, got %q", words, refused.Message)
	case strings.ContainsAny(refused.Message, "\n\x00\x1b") || len(refused.Message) > 400:
		t.Errorf("no plain sentence: %q", refused.Message)
	}
}

func TestExtract_EntriesThatAreRefused(t *testing.T) {
	set := func(change func(*zip.FileHeader)) func(*zip.FileHeader) { return change }
	mode := func(m fs.FileMode) func(*zip.FileHeader) {
		return set(func(h *zip.FileHeader) { h.SetMode(m) })
	}
	for _, c := range []struct {
		want string
		of   piece
	}{
		{"is a link", piece{name: "a", text: "/etc/passwd", header: mode(fs.ModeSymlink | 0o777)}},
		{"devices, pipes and sockets", piece{name: "a", header: mode(fs.ModeDevice | 0o600)}},
		{"devices, pipes and sockets", piece{name: "a", header: mode(fs.ModeDevice | fs.ModeCharDevice | 0o600)}},
		{"devices, pipes and sockets", piece{name: "a", header: mode(fs.ModeNamedPipe | 0o600)}},
		{"devices, pipes and sockets", piece{name: "a", header: mode(fs.ModeSocket | 0o600)}},
		{"both a file and a folder", piece{name: "a", header: mode(fs.ModeDir | 0o700)}},
		{"both a file and a folder", piece{name: "a/", header: mode(0o600)}},
		{"is encrypted", piece{name: "a", raw: true, header: set(func(h *zip.FileHeader) { h.Flags |= 1; h.Method = zip.Store })}},
		{"is encrypted", piece{name: "a", raw: true, header: set(func(h *zip.FileHeader) { h.Method = 99 })}},
		{"packed by method 12", piece{name: "a", raw: true, header: set(func(h *zip.FileHeader) { h.Method = 12 })}},
		{"packed by method 8", piece{name: "a", raw: true, header: set(func(h *zip.FileHeader) { h.Flags |= 1 << 5; h.Method = 8 })}},
		{"a size that makes no sense", piece{name: "a", raw: true, header: set(func(h *zip.FileHeader) { h.Method = zip.Store; h.UncompressedSize64 = 5 })}},
		{"cannot be inflated", piece{name: "a", text: "\xff\xff\xff\xff", raw: true, header: set(func(h *zip.FileHeader) { h.CompressedSize64 = 4; h.UncompressedSize64 = 9; h.Method = 8 })}},
		{"cannot be inflated", piece{name: "a", text: "", raw: true, header: set(func(h *zip.FileHeader) { h.UncompressedSize64 = 9; h.Method = 8 })}},
	} {
		expectRefusal(t, build(t, piece{name: "before", text: "x"}, c.of), roomy, c.want)
	}
}

func TestExtract_Limits(t *testing.T) {
	many := make([]piece, 11)
	for i := range many {
		many[i] = piece{name: string(rune('a' + i)), text: strings.Repeat("x", 100)}
	}
	expectRefusal(t, build(t, many...), unzip.Limits{Bytes: 1 << 20, Entries: 10}, "holds 11 entries: at most 10")
	expectRefusal(t, build(t, many...), unzip.Limits{Bytes: 1099, Entries: 11}, "more than 1099 bytes")
	full, asked := errors.New("full"), int64(0)
	room := func(n int64) error { asked = n; return full }
	if _, _, err := extract(t, build(t, many...), unzip.Limits{Bytes: 1100, Entries: 11, Room: room}); !errors.Is(err, full) || asked != 1100 {
		t.Errorf("without room: %v after %d bytes were asked for", err, asked)
	}
	if _, names, err := extract(t, build(t, many...), unzip.Limits{Bytes: 1100, Entries: 11}); err != nil || len(names) != 11 {
		t.Errorf("just inside the limits: %d files, %v", len(names), err)
	}
}

// What the two headers and the bytes say may each be another thing.
func TestExtract_Lies(t *testing.T) {
	plain := build(t, piece{name: "name", text: "some text that is long enough"})
	local, directory := 0, bytes.Index(plain, []byte("PK\x01\x02"))
	streamed := func(b []byte) { // archive/zip streams: put the sizes into the local header
		copy(b[local+14:local+26], b[directory+16:directory+28])
		b[local+6] &^= 8
		b[directory+8] &^= 8
	}
	for _, c := range []struct {
		want string
		lie  func(b []byte)
	}{
		{"", streamed},
		{"two headers that do not agree", func(b []byte) { b[local+30] = 'N' }},
		{"two headers that do not agree", func(b []byte) { b[local+8] = 0 }},
		{"two headers that do not agree", func(b []byte) { b[local+6] ^= 1 }},
		{"two headers that do not agree", func(b []byte) { b[local+1] = 'X' }},
		{"two headers that do not agree", func(b []byte) { b[local+26]++ }},
		{"two headers that do not agree", func(b []byte) { streamed(b); b[local+22]++ }},
		{"two headers that do not agree", func(b []byte) { streamed(b); b[local+18]-- }},
		{"two headers that do not agree", func(b []byte) { streamed(b); b[local+14]++ }},
		{"two headers that do not agree", func(b []byte) { binary.LittleEndian.PutUint32(b[local+22:], 1<<32-1) }},
		{"its checksum is wrong", func(b []byte) { b[directory+16]++ }},
		{"to more than the 28 bytes that it announces", func(b []byte) { b[directory+24]-- }},
		{"to fewer than the 30 bytes that it announces", func(b []byte) { b[directory+24]++ }},
		{"cannot be inflated", func(b []byte) { b[directory+20] -= 4 }},
		{"overlaps", func(b []byte) { b[directory+20] += 20 }},
		{"lies outside the zip", func(b []byte) { b[directory+20] += 200 }},
		{"overlaps", func(b []byte) { b[local+29] = 0xff }},
		{"lies outside the zip", func(b []byte) { b[directory+45] = 0xff }},
		{"a size that makes no sense", func(b []byte) { binary.LittleEndian.PutUint32(b[directory+24:], 1<<32-1) }},
		{"its directory makes no sense", func(b []byte) { b[directory] = 'X' }},
		{"its directory makes no sense", func(b []byte) { b[directory+28] = 0xff }},
		{"one of several parts", func(b []byte) { b[directory+34] = 1 }},
		{"one of several parts", func(b []byte) { b[len(b)-18] = 1 }},
		{"one of several parts", func(b []byte) { b[len(b)-12]++ }},
		{"its directory makes no sense", func(b []byte) { b[len(b)-12]++; b[len(b)-14]++ }},
		{"more entries than its end says", func(b []byte) { b[len(b)-12]--; b[len(b)-14]-- }},
		{"does not lie where its end says", func(b []byte) { b[len(b)-6]++ }},
		{"does not lie where its end says", func(b []byte) { b[len(b)-10]++ }},
		{"its directory, which comes last, is missing", func(b []byte) { b[len(b)-22] = 'X' }},
		{"its directory, which comes last, is missing", func(b []byte) { b[len(b)-2] = 1 }},
		{"is no zip", func(b []byte) { b[0], b[len(b)-22] = 'X', 'X' }},
	} {
		b := bytes.Clone(plain)
		c.lie(b)
		if c.want == "" {
			if _, _, err := extract(t, b, roomy); err != nil {
				t.Error(err)
			}
			continue
		}
		expectRefusal(t, b, roomy, c.want)
	}
	expectRefusal(t, nil, roomy, "is empty (0 bytes)")
	expectRefusal(t, []byte("P"), roomy, "is no zip")
	for n := range plain {
		if _, _, err := extract(t, plain[:n], roomy); !errors.As(err, new(*unzip.Refused)) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
}

// Two records for one body: the second name quotes what the first has packed.
func TestExtract_OverlappingEntries(t *testing.T) {
	data := build(t, piece{name: "a", text: strings.Repeat("bomb", 1000)}, piece{name: "b", text: strings.Repeat("bomb", 1000)})
	first := bytes.Index(data, []byte("PK\x01\x02"))
	second := first + 4 + bytes.Index(data[first+4:], []byte("PK\x01\x02"))
	copy(data[second+42:second+46], data[first+42:first+46]) // the same local header
	data[second+46] = 'b'
	expectRefusal(t, data, roomy, "overlaps with another")
	nested := build(t, piece{name: "outer", text: string(build(t, piece{name: "inner", text: "x"})), header: func(h *zip.FileHeader) { h.Method = zip.Store }},
		piece{name: "inner", text: "x"})
	last := bytes.LastIndex(nested, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(nested[last+42:], uint32(bytes.Index(nested[4:], []byte("PK\x03\x04"))+4))
	expectRefusal(t, nested, roomy, "overlaps with another")
}

// A zip of more than 4 GiB, or 65,535 entries, has its numbers in a record of its own.
func TestExtract_Zip64(t *testing.T) {
	plain := build(t, piece{name: "name", text: "text"})
	endAt := len(plain) - 22
	directory := bytes.Index(plain, []byte("PK\x01\x02"))
	make64 := func(change func(record, locator, end []byte)) []byte {
		record, locator, end := make([]byte, 56), make([]byte, 20), bytes.Clone(plain[endAt:])
		le := binary.LittleEndian
		le.PutUint32(record, 0x06064b50)
		le.PutUint64(record[4:], 44)
		le.PutUint64(record[24:], 1)
		le.PutUint64(record[32:], 1)
		le.PutUint64(record[40:], uint64(endAt-directory))
		le.PutUint64(record[48:], uint64(directory))
		le.PutUint32(locator, 0x07064b50)
		le.PutUint64(locator[8:], uint64(endAt))
		le.PutUint32(locator[16:], 1)
		le.PutUint16(end[8:], 0xffff)
		le.PutUint16(end[10:], 0xffff)
		le.PutUint32(end[12:], 0xffffffff)
		le.PutUint32(end[16:], 0xffffffff)
		change(record, locator, end)
		return slices.Concat(plain[:endAt], record, locator, end)
	}
	le := binary.LittleEndian
	if files, _, err := extract(t, make64(func(_, _, _ []byte) {}), roomy); err != nil || files["name"] != "text" {
		t.Errorf("an honest one: %v, %v", files, err)
	}
	for _, c := range []struct {
		want   string
		change func(record, locator, end []byte)
	}{
		{"at most 100 are accepted", func(r, _, _ []byte) { le.PutUint64(r[24:], 1<<63); le.PutUint64(r[32:], 1<<63) }},
		{"end records do not agree", func(_, _, e []byte) { le.PutUint16(e[8:], 2) }},
		{"end records do not agree", func(_, _, e []byte) { le.PutUint32(e[12:], 2) }},
		{"end records do not agree", func(_, _, e []byte) { le.PutUint32(e[16:], 0) }},
		{"one of several parts", func(r, _, _ []byte) { le.PutUint64(r[24:], 2) }},
		{"end records do not agree", func(r, _, _ []byte) { le.PutUint32(r[16:], 1) }},
		{"does not lie where its end says", func(r, _, _ []byte) { le.PutUint64(r[48:], 1<<63) }},
		{"does not lie where its end says", func(r, _, _ []byte) { le.PutUint64(r[40:], 1<<64-1) }},
		{"not where it should be", func(_, l, _ []byte) { le.PutUint64(l[8:], 1<<64-1) }},
		{"not where it should be", func(_, l, _ []byte) { le.PutUint64(l[8:], 0) }},
		{"not where it should be", func(r, _, _ []byte) { le.PutUint64(r[4:], 45) }},
	} {
		expectRefusal(t, make64(c.change), roomy, c.want)
	}
	// As a program writes it that knows no zip64: the numbers wrap around.
	wrapped := bytes.Clone(plain)
	binary.LittleEndian.PutUint16(wrapped[endAt+8:], 0)
	binary.LittleEndian.PutUint16(wrapped[endAt+10:], 0)
	expectRefusal(t, wrapped, roomy, "must be written as zip64")
}

func TestExtract_EndsWithItsContext(t *testing.T) {
	home := t.TempDir()
	path, dir := filepath.Join(home, "in.zip"), filepath.Join(home, "out")
	data := build(t, piece{name: "a", text: strings.Repeat("x", 1<<19)}, piece{name: "b", text: strings.Repeat("x", 1<<19)})
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	why := errors.New("cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	limits := roomy
	var wrote int64
	limits.Wrote = func(n int64) { wrote += n; cancel(why) }
	if _, err := unzip.Extract(ctx, path, dir, limits); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || wrote > 1<<18 {
		t.Errorf("after %d bytes, the folder: %v", wrote, err)
	}
	if _, err := unzip.Extract(ctx, path, dir, roomy); !errors.Is(err, why) {
		t.Errorf("before the start: %v", err)
	}
}

// A folder that is there already is somebody else's.
func TestExtract_TakesNoFolderThatIsThere(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "in.zip")
	if err := os.WriteFile(path, build(t, piece{name: "a"}), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := unzip.Extract(t.Context(), path, home, roomy); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error("the folder that was there is gone")
	}
	if _, err := unzip.Extract(t.Context(), path, filepath.Join(home, "none", "out"), roomy); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("got %v", err)
	}
	if _, err := unzip.Extract(t.Context(), filepath.Join(home, "none"), filepath.Join(home, "out"), roomy); errors.As(err, new(*unzip.Refused)) || err == nil {
		t.Errorf("a zip that is not there: %v", err)
	}
}
