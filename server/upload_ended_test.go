package server

import (
	"context"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/artifact"
	"rendermac/store"
)

// endingStore does something between what is asked of a write and its URL.
type endingStore struct {
	artifact.Store
	end func()
}

func (e *endingStore) SignPart(ctx context.Context, key string, p artifact.Part, owner string, expires time.Time) (artifact.URL, error) {
	if end := e.end; end != nil {
		e.end = nil
		end()
	}
	return e.Store.SignPart(ctx, key, p, owner, expires)
}

// An upload that retention removes while its URLs are made is not there, and is no
// fault of the server's.
func TestUploads_RemovedWhileURLsAreMade(t *testing.T) {
	ending := &endingStore{}
	h := mustServe(t, func(o *Options) {
		ending.Store = o.Artifacts
		o.Artifacts = ending
	})
	id := into[api.UploadCreated](h.post("/v1/uploads", h.submit, api.UploadRequest{Name: "a.mov", Bytes: 3}).is(201)).ID
	remove := func() {
		gone, err := h.db.RemoveFiles(t.Context(), store.OpenUploads, []store.OldFile{{ID: id}})
		if err != nil || len(gone) != 1 {
			t.Fatal(gone, err)
		}
		if err := h.srv.erase(t.Context(), gone[0].Key); err != nil {
			t.Fatal(err)
		}
	}
	ending.end = remove
	h.get("/v1/uploads/"+id, h.submit).is(404)
	if ending.end != nil {
		t.Fatal("no URL was asked for")
	}

	id = into[api.UploadCreated](h.post("/v1/uploads", h.submit, api.UploadRequest{Name: "a.mov", Bytes: 3}).is(201)).ID
	ending.end = remove
	part := api.Part{Number: 1, Bytes: 3, SHA256: sum([]byte("abc"))}
	h.post("/v1/uploads/"+id+"/parts", h.submit, api.UploadParts{Parts: []api.Part{part}}).is(404)
}
