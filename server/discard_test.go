package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"rendermac/artifact"
	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

// orphan is an output whose run has failed while the server was about to die: it
// is published, and nobody has discarded it.
func (h *httpServer) orphan(s store.Session) string {
	h.Helper()
	storetest.MustSubmit(h, h.db, storetest.Job(h.account, storetest.MustUpload(h, h.db, h.account)))
	offer := storetest.MustLease(h, h.db, s)
	result := fence.Result{Bytes: 4, SHA256: fence.HashToken("clip")}
	_, err := h.db.Upload(context.Background(), storetest.Claim(s, offer), result, []store.Part{{Number: 1, Bytes: 4, SHA256: result.SHA256}})
	if err == nil {
		_, err = h.db.Fail(context.Background(), storetest.Claim(s, offer), fence.RunnerFailed, "")
	}
	name := filepath.Join(h.dir, "artifacts", "objects", offer.OutputKey)
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte("clip"), 0o400))
	}
	if err != nil {
		h.Fatal(err)
	}
	return offer.OutputKey
}

func (h *httpServer) owed() []string {
	h.Helper()
	keys, err := h.db.Discards(context.Background(), "", 1000)
	if err != nil {
		h.Fatal(err)
	}
	return keys
}

// However many there are, and however often the server died: before it removed
// the bytes, or before it noted that it had.
func TestF16_WhatACrashLeftIsDiscarded(t *testing.T) {
	h := mustServe(t)
	s := storetest.MustDevice(t, h.db)
	const many = 250
	var keys []string
	for range many {
		keys = append(keys, h.orphan(s))
	}
	if err := h.files.Delete(context.Background(), keys[0]); err != nil { // killed before the mark
		t.Fatal(err)
	}
	if owed := h.owed(); len(owed) != many {
		t.Fatalf("%d outputs are owed, want %d", len(owed), many)
	}
	h.srv.discardAll(context.Background())
	if owed := h.owed(); len(owed) > 0 {
		t.Fatalf("still owed: %v", owed)
	}
	for _, key := range keys {
		if _, _, err := h.files.Open(context.Background(), key); !errors.Is(err, artifact.ErrNotFound) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestF16_WhatCannotBeDiscardedStaysOwed(t *testing.T) {
	h := mustServe(t)
	s := storetest.MustDevice(t, h.db)
	sick, well := h.orphan(s), h.orphan(s)
	folder := filepath.Join(h.dir, "artifacts", "digests", sick) // where a file should be
	if err := os.MkdirAll(filepath.Join(folder, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.srv.discardAll(context.Background())
	if owed := h.owed(); len(owed) != 1 || owed[0] != sick {
		t.Fatalf("owed %v, want %s and not %s", owed, sick, well)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	h.srv.discardAll(context.Background())
	if owed := h.owed(); len(owed) > 0 {
		t.Fatalf("owed %v", owed)
	}
}
