package server

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/artifact"
	"rendermac/artifact/artifacttest"
)

// In a bucket, too, an old upload goes, and one that was never completed with all
// of its parts.
func TestRetention_OnS3(t *testing.T) {
	ctx := context.Background()
	var h *httpServer
	bucket := artifacttest.StartS3(t).Options(t)
	bucket.Now = func() time.Time { return h.clock.Now() }
	s3, err := artifact.OpenS3(bucket)
	if err != nil {
		t.Fatal(err)
	}
	h = mustServe(t, func(o *Options) {
		o.Artifacts, o.Blobs, o.PartBytes, o.Retention.Uploads = s3, nil, artifact.MinS3Part, testDay
	})
	announce := func() (id, key string) {
		u := into[api.UploadCreated](h.post("/v1/uploads", h.submit, `{"name":"a.mov","bytes":4}`).is(201))
		var headers []string
		for name, value := range u.Parts[0].Headers {
			headers = append(headers, name, value)
		}
		h.do("PUT", u.Parts[0].URL, "", []byte("clip"), headers...).is(200)
		return u.ID, "uploads/" + u.ID + "/original"
	}
	whole, wholeKey := announce()
	h.post("/v1/uploads/"+whole+"/complete", h.submit, nil).is(200)
	_, openKey := announce()
	if open, err := s3.Pending(ctx); err != nil || !slices.Equal(open, []string{openKey}) {
		t.Fatalf("open are %v (%v)", open, err)
	}
	h.clock.Advance(2 * testDay)
	report := into[api.GC](h.post("/v1/gc", h.admin, `{}`).is(200))
	if one := (api.Freed{Count: 1, Bytes: 4}); report.Uploads != one || report.OpenUploads != one {
		t.Errorf("removed %+v", report)
	}
	if _, _, err := s3.Open(ctx, wholeKey); !errors.Is(err, artifact.ErrNotFound) {
		t.Errorf("the old upload: %v", err)
	}
	if open, err := s3.Pending(ctx); err != nil || len(open) > 0 {
		t.Errorf("still open: %v (%v)", open, err)
	}
	if owed := h.owed(); len(owed) > 0 {
		t.Errorf("still owed: %v", owed)
	}
}
