package artifacttest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"rendermac/artifact"
)

// A part whose digest nobody knows beforehand: its URL takes any bytes of its
// length, and no others.
func unboundParts(t *testing.T, f Fixture) {
	object := Bytes(30, f.PartBytes+77)
	parts := Cut(object, f.PartBytes)
	f.MustBegin(t, object)
	for i, part := range parts {
		u := f.mustSignLength(t, i+1, len(part))
		f.mustRefuse(t, "more bytes", u, append(part[:len(part):len(part)], 'x'))
		f.mustRefuse(t, "fewer bytes", u, part[:len(part)-1])
		if status := f.Put(t, u, part); status != http.StatusOK {
			t.Fatalf("part %d: status %d", i+1, status)
		}
	}
	f = f.Restart()
	if held, err := f.Store.Held(t.Context(), Key); err != nil || len(held) != 2 || held[0].Bytes != f.PartBytes || held[1].Bytes != 77 {
		t.Errorf("held: %v, %v", held, err)
	}
	f.MustComplete(t, object)
}

func (f Fixture) mustSignLength(t *testing.T, n, length int) artifact.URL {
	t.Helper()
	u, err := f.Store.SignPart(t.Context(), Key, artifact.Part{Number: n, Bytes: int64(length)}, Owner, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// No URL is signed for a part that the object does not have.
func wrongParts(t *testing.T, f Fixture) {
	if err := f.Store.Begin(t.Context(), Key, 2*f.PartBytes+5, f.PartBytes); err != nil {
		t.Fatal(err)
	}
	for _, p := range []artifact.Part{
		{Number: 0, Bytes: f.PartBytes},
		{Number: 4, Bytes: f.PartBytes},
		{Number: 1, Bytes: 5},
		{Number: 3, Bytes: f.PartBytes},
	} {
		p.SHA256 = Sum(nil)
		if _, err := f.Store.SignPart(t.Context(), Key, p, Owner, time.Now().Add(time.Hour)); err == nil {
			t.Errorf("a URL for %+v", p)
		}
	}
	if err := f.Store.Begin(t.Context(), Key, 10_001, 1); err == nil {
		t.Error("a write of more parts than a store takes")
	}
	if err := f.Store.Begin(t.Context(), "../x", 1, 1); err == nil || errors.Is(err, artifact.ErrNotFound) {
		t.Errorf("Begin of what is no key: %v", err)
	}
}

// Whoever still writes while the upload is completed: what is published has one
// digest, and keeps it.
func completeWhileWriting(t *testing.T, f Fixture) {
	first, second := Bytes(31, f.PartBytes), Bytes(32, f.PartBytes)
	f.MustBegin(t, first)
	urls := []artifact.URL{f.mustSignLength(t, 1, len(first)), f.mustSignLength(t, 1, len(first))}
	if status := f.Put(t, urls[0], first); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	var writing sync.WaitGroup
	for _, u := range urls {
		writing.Go(func() { f.Put(t, u, second) })
	}
	info, err := f.Store.Complete(t.Context(), Key)
	writing.Wait()
	if errors.Is(err, artifact.ErrIncomplete) { // the part was being written anew
		f.Put(t, f.mustSignLength(t, 1, len(first)), first)
		info, err = f.Store.Complete(t.Context(), Key)
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		f.Put(t, urls[1], second) // whatever it answers: some S3 servers say 200 to whom they have just lost a race
		object := map[string][]byte{Sum(first): first, Sum(second): second}[info.SHA256]
		f.MustRead(t, object)
		f = f.Restart()
	}
}

// What may not be shown as it is, is only ever downloaded.
func htmlIsNotShown(t *testing.T, f Fixture) {
	f.MustBegin(t, []byte("<script>"))
	f.MustPut(t, 1, []byte("<script>"))
	f.MustComplete(t, []byte("<script>"))
	f.presented(t, f.Store.SignGet, Key, "a.html", [2]string{"video/mp4", "inline"}) // the key says what it is, not the name
	f.presented(t, f.Store.SignSave, Key, "a.html", [2]string{"video/mp4", "attachment"})
	const page = "uploads/upl_1/page.html"
	if err := f.Store.Begin(t.Context(), page, 0, f.PartBytes); err != nil {
		t.Fatal(err)
	}
	u, err := f.Store.SignPart(t.Context(), page, artifact.Part{Number: 1, SHA256: Sum(nil)}, Owner, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if status := f.Put(t, u, nil); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	if _, err := f.Store.Complete(t.Context(), page); err != nil {
		t.Fatal(err)
	}
	f.presented(t, f.Store.SignGet, page, "page.html", [2]string{"application/octet-stream", "attachment"})
}

func (f Fixture) presented(t *testing.T, sign func(context.Context, string, string, time.Time) (artifact.URL, error), key, name string, want [2]string) {
	t.Helper()
	u, err := sign(t.Context(), key, name, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Get(f.absolute(u))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	shown, _, _ := strings.Cut(answer.Header.Get("Content-Disposition"), ";")
	if got := [2]string{answer.Header.Get("Content-Type"), shown}; got != want {
		t.Errorf("%s as %s is presented as %v, want %v", key, name, got, want)
	}
}

// F8: a store that is away has not lost its objects, and forgets nothing.
func awayAndBack(t *testing.T, f Fixture) {
	if f.Away == nil {
		t.Skip("this fixture cannot take its store away")
	}
	object := Bytes(33, 2*f.PartBytes)
	parts := Cut(object, f.PartBytes)
	f.MustBegin(t, object)
	f.MustPut(t, 1, parts[0])
	back := f.Away(t)
	var asking sync.WaitGroup
	for verb, err := range f.everyVerb(t) {
		asking.Go(func() {
			if err := err(); !errors.Is(err, artifact.ErrUnavailable) || errors.Is(err, artifact.ErrNotFound) {
				t.Errorf("%s: %v, want ErrUnavailable", verb, err)
			}
		})
	}
	asking.Wait()
	back()
	f.MustHold(t, map[int][]byte{1: parts[0]})
	f.MustPut(t, 2, parts[1])
	f.MustComplete(t, object)
}

// everyVerb is each of a store's verbs that has to ask it, on keys that no
// memory knows.
func (f Fixture) everyVerb(t *testing.T) map[string]func() error {
	ctx, s := t.Context(), f.Restart().Store
	return map[string]func() error{
		"Begin":    func() error { return s.Begin(ctx, "a", 1, f.PartBytes) },
		"Complete": func() error { _, err := s.Complete(ctx, Key); return err },
		"Open":     func() error { _, _, err := s.Open(ctx, "b"); return err },
		"Delete":   func() error { return s.Delete(ctx, "c") },
		"Check":    func() error { return s.Check(ctx) },
	}
}
