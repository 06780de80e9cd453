package artifact

import (
	"cmp"
	"context"
	"errors"
)

// s3Write is an open write. Its journal stands in the bucket before its
// multipart can be there, so that none is ever without.
type s3Write struct {
	key string
	layout
	upload string // the multipart's id; "" until the first URL is asked for
	bound  bool   // its URLs are bound to digests, not to lengths alone
	stray  bool   // a multipart of which no journal knows may be left
}

// s3Journal is what is kept of it.
type s3Journal struct {
	UploadID  string `json:"upload_id"`
	Bytes     int64  `json:"bytes"`
	PartBytes int64  `json:"part_bytes"`
	Bound     bool   `json:"bound"`
}

// find returns the open write of key, from memory or else from its journal.
// ErrNotFound if there is none.
func (s *S3) find(ctx context.Context, key string) (*s3Write, error) {
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	s.mu.Lock()
	w := s.writes[key]
	s.mu.Unlock()
	if w != nil {
		return w, nil
	}
	var j s3Journal
	if err := s.getJSON(ctx, s.name(folderWrites, key), &j); err != nil {
		return nil, err
	}
	w = &s3Write{key: key, layout: layout{j.Bytes, j.PartBytes}, upload: j.UploadID, bound: j.Bound, stray: true}
	if _, err := s.parts(ctx, w); errors.Is(err, errGone) {
		return s.gone(ctx, w)
	} else if err != nil {
		return nil, err
	}
	s.keep(w)
	return w, nil
}

// gone is the write whose multipart is no more. Either it was published, and
// only the journal is left, or everything that was sent is lost.
func (s *S3) gone(ctx context.Context, w *s3Write) (*s3Write, error) {
	_, _, err := s.head(ctx, s.name(folderObjects, w.key))
	if err == nil {
		return nil, cmp.Or(s.forget(ctx, w.key), ErrNotFound)
	}
	if !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	anew := &s3Write{key: w.key, layout: w.layout}
	return anew, s.journal(ctx, anew)
}

func (s *S3) keep(w *s3Write) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes[w.key] = w
}

// journal makes what w is last, and only then known. A failure leaves open which
// of the two is in the bucket: it is read there the next time.
func (s *S3) journal(ctx context.Context, w *s3Write) error {
	s.mu.Lock()
	delete(s.writes, w.key)
	s.mu.Unlock()
	if err := s.putJSON(ctx, s.name(folderWrites, w.key), s3Journal{w.upload, w.bytes, w.partBytes, w.bound}); err != nil {
		return err
	}
	s.keep(w)
	return nil
}

// forget removes the journal of a write that is over.
func (s *S3) forget(ctx context.Context, key string) error {
	s.mu.Lock()
	delete(s.writes, key)
	s.mu.Unlock()
	return s.remove(ctx, s.name(folderWrites, key))
}
