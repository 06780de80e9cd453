package artifacttest

import (
	"net/http"
	"strings"
	"testing"

	"rendermac/artifact"
)

// mustRefuse sends a body that the store must not take.
func (f Fixture) mustRefuse(t *testing.T, what string, u artifact.URL, body []byte) {
	t.Helper()
	if status := f.Put(t, u, body); status != 0 && (status < 400 || status > 499) {
		t.Errorf("%s: status %d, want a refusal", what, status)
	}
}

func urlWritesNothingElse(t *testing.T, f Fixture) {
	object := Bytes(20, 2*f.PartBytes)
	parts := Cut(object, f.PartBytes)
	f.MustBegin(t, object)
	u := f.MustSign(t, 1, parts[0])
	f.mustRefuse(t, "other bytes", u, parts[1])
	f.mustRefuse(t, "fewer bytes", u, parts[0][:100])
	f.mustRefuse(t, "more bytes", u, object)
	f.mustRefuse(t, "another key", artifact.URL{URL: strings.Replace(u.URL, "att_1", "att_2", 1), Headers: u.Headers}, parts[0])
	f.mustRefuse(t, "another owner or signature", artifact.URL{URL: u.URL + "0", Headers: u.Headers}, parts[0])
	f.MustHold(t, nil)
	if status := f.Put(t, u, parts[0]); status != http.StatusOK {
		t.Errorf("the right bytes after all that: status %d", status)
	}
	f.MustHold(t, map[int][]byte{1: parts[0]})
}

func urlDiesWithComplete(t *testing.T, f Fixture) {
	object, other := Bytes(21, f.PartBytes), Bytes(22, f.PartBytes)
	f.MustBegin(t, object)
	stale := f.MustSign(t, 1, other)
	used := f.MustSign(t, 1, object)
	f.MustPut(t, 1, object)
	f.MustComplete(t, object)
	for range 2 { // in this process, and in the next
		f.mustRefuse(t, "a stale URL", stale, other)
		f.mustRefuse(t, "the URL that was used", used, object)
		f.MustRead(t, object)
		f = f.Restart()
	}
	if err := f.Store.Delete(t.Context(), Key); err != nil {
		t.Fatal(err)
	}
	f.MustBegin(t, object)
	f.mustRefuse(t, "a stale URL, the key begun again", stale, other)
	f.mustRefuse(t, "the used URL, the key begun again", used, object)
	f.MustHold(t, nil)
}

func urlDiesWithAbort(t *testing.T, f Fixture) {
	object := Bytes(23, f.PartBytes)
	f.MustBegin(t, object)
	stale := f.MustSign(t, 1, object)
	for range 2 {
		if err := f.Store.Abort(t.Context(), Key); err != nil {
			t.Fatal(err)
		}
	}
	f.mustRefuse(t, "a stale URL", stale, object)
	f = f.Restart()
	f.mustRefuse(t, "a stale URL after a restart", stale, object)
	f.MustBegin(t, object)
	f.mustRefuse(t, "a stale URL, the key begun again", stale, object)
	f.MustHold(t, nil)
	f.finish(t, object)
}

func urlDiesWithDrop(t *testing.T, f Fixture) {
	before, after := Bytes(24, f.PartBytes), Bytes(25, f.PartBytes)
	f.MustBegin(t, before)
	stale := f.MustSign(t, 1, before)
	f.MustPut(t, 1, before)
	if err := f.Store.Drop(t.Context(), Key, []int{1}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		f.MustHold(t, nil)
		f.mustRefuse(t, "a URL from before the drop", stale, before)
		f = f.Restart()
	}
	f.finish(t, after)
}
