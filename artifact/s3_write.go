package artifact

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
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

// Begin implements Store. The multipart is made when the first URL is asked for:
// only then is known whether its parts' digests are.
func (s *S3) Begin(ctx context.Context, key string, bytes, partBytes int64) error {
	want := layout{bytes, partBytes}
	if err := cmp.Or(CheckKey(key), want.check()); err != nil {
		return err
	}
	unlock, err := s.enter(ctx, key)
	if err != nil {
		return err
	}
	defer unlock()
	w, err := s.find(ctx, key)
	switch {
	case err == nil && w.layout == want:
		return nil
	case err == nil:
		return s.anew(ctx, w, want)
	case !errors.Is(err, ErrNotFound):
		return err
	}
	if _, _, err := s.head(ctx, s.name(folderObjects, key)); !errors.Is(err, ErrNotFound) {
		return cmp.Or(err, ErrPublished)
	}
	return s.journal(ctx, &s3Write{key: key, layout: want})
}

// anew ends w's multipart, and all URLs with it, and goes on with none: S3
// cannot forget one part alone, nor end one URL.
func (s *S3) anew(ctx context.Context, w *s3Write, l layout) error {
	if err := s.end(ctx, w); err != nil {
		return err
	}
	return s.journal(ctx, &s3Write{key: w.key, layout: l})
}

// end aborts w's multipart and what a crash may have left beside it.
func (s *S3) end(ctx context.Context, w *s3Write) error {
	ids := []string{}
	if w.upload != "" {
		ids = append(ids, w.upload)
	}
	if w.stray {
		found, err := s.multiparts(ctx, w.key)
		if err != nil {
			return err
		}
		ids = append(ids, found...)
	}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		brief, cancel := context.WithTimeout(ctx, s3Patience)
		err := s.failure(ctx, s.core.AbortMultipartUpload(brief, s.o.Bucket, s.name(folderObjects, w.key), id))
		cancel()
		if err != nil && !errors.Is(err, errGone) && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}

// multiparts lists those of one key: MinIO knows of no others by a prefix.
func (s *S3) multiparts(ctx context.Context, key string) (ids []string, err error) {
	brief, cancel := context.WithTimeout(ctx, s3Patience)
	defer cancel()
	name := s.name(folderObjects, key)
	list, err := s.core.ListMultipartUploads(brief, s.o.Bucket, name, "", "", "", 1000)
	if err != nil {
		return nil, s.failure(ctx, err)
	}
	for _, u := range list.Uploads {
		if u.Key == name {
			ids = append(ids, u.UploadID)
		}
	}
	return ids, nil
}

// SignPart implements Store.
func (s *S3) SignPart(ctx context.Context, key string, p Part, _ string, expires time.Time) (URL, error) {
	w, err := s.started(ctx, key, p.SHA256 != "")
	if err != nil {
		return URL{}, err
	}
	if p.Bytes != w.length(p.Number) {
		return URL{}, fmt.Errorf("part %d of %s cannot be %d bytes long: parts are %d bytes but for the last", p.Number, key, p.Bytes, w.partBytes)
	}
	if w.bound && p.SHA256 == "" {
		return URL{}, ErrBound
	}
	signed, send := http.Header{}, map[string]string{}
	signed.Set("Content-Length", strconv.FormatInt(p.Bytes, 10)) // which every client sends by itself
	if w.bound {
		sum, err := hex.DecodeString(p.SHA256)
		if err != nil {
			return URL{}, fmt.Errorf("part %d of %s: its SHA-256 is not in hex", p.Number, key)
		}
		send[checksumHeader] = base64.StdEncoding.EncodeToString(sum)
		signed.Set(checksumHeader, send[checksumHeader])
	}
	q := url.Values{"partNumber": {strconv.Itoa(p.Number)}, "uploadId": {w.upload}}
	return s.presign(ctx, http.MethodPut, key, q, signed, send, expires)
}

// started returns the open write of key with a multipart. S3 checks the parts of
// one either all or not at all: with the first digest it begins anew.
func (s *S3) started(ctx context.Context, key string, bound bool) (*s3Write, error) {
	unlock, err := s.enter(ctx, key)
	if err != nil {
		return nil, err
	}
	defer unlock()
	w, err := s.find(ctx, key)
	if err != nil || w.upload != "" && (w.bound || !bound) {
		return w, err
	}
	if w.upload == "" {
		err = s.end(ctx, w) // strays only
	} else {
		err = s.anew(ctx, w, w.layout)
	}
	if err != nil {
		return nil, err
	}
	o := minio.PutObjectOptions{}
	if bound {
		o = boundParts
	}
	brief, cancel := context.WithTimeout(ctx, s3Patience)
	defer cancel()
	id, err := s.core.NewMultipartUpload(brief, s.o.Bucket, s.name(folderObjects, key), o)
	if err != nil {
		w.stray = true // it may have been made all the same
		return nil, s.failure(ctx, err)
	}
	next := &s3Write{key: key, layout: w.layout, upload: id, bound: bound}
	return next, s.journal(ctx, next)
}

// boundParts makes the server keep the SHA-256 of each part, and insist on it.
var boundParts = minio.PutObjectOptions{UserMetadata: map[string]string{"x-amz-checksum-algorithm": "SHA256"}}

const (
	checksumHeader = "x-amz-checksum-sha256"
	longestURL     = 7 * 24 * time.Hour // S3 signs for no longer
)

func (s *S3) presign(ctx context.Context, method, key string, q url.Values, signed http.Header, send map[string]string, expires time.Time) (URL, error) {
	left := min(expires.Sub(s.o.Now()), longestURL).Truncate(time.Second)
	if left < time.Second {
		return URL{}, errors.New("a URL cannot be signed for a time that has passed")
	}
	u, err := s.public.PresignHeader(ctx, method, s.o.Bucket, s.name(folderObjects, key), left, q, signed)
	if err != nil {
		return URL{}, fmt.Errorf("a URL could not be signed: %w", err)
	}
	return URL{URL: u.String(), Headers: send}, nil
}

// Held implements Store.
func (s *S3) Held(ctx context.Context, key string) ([]Part, error) {
	unlock, err := s.enter(ctx, key)
	if err != nil {
		return nil, err
	}
	defer unlock()
	w, err := s.find(ctx, key)
	if err != nil {
		return nil, err
	}
	parts, err := s.parts(ctx, w)
	if errors.Is(err, errGone) {
		_, err = s.gone(ctx, w)
		return nil, err
	}
	held := []Part{}
	for _, p := range parts {
		if p.Size == w.length(p.PartNumber) {
			sum, _ := base64.StdEncoding.DecodeString(p.ChecksumSHA256) // of a server that lists them
			held = append(held, Part{Number: p.PartNumber, Bytes: p.Size, SHA256: hex.EncodeToString(sum)})
		}
	}
	return held, err
}

// parts lists what the server holds of w, by number.
func (s *S3) parts(ctx context.Context, w *s3Write) (all []minio.ObjectPart, err error) {
	if w.upload == "" {
		return nil, nil
	}
	for after := 0; ; {
		brief, cancel := context.WithTimeout(ctx, s3Patience)
		page, err := s.core.ListObjectParts(brief, s.o.Bucket, s.name(folderObjects, w.key), w.upload, after, 1000)
		cancel()
		if err != nil {
			return nil, s.failure(ctx, err)
		}
		all = append(all, page.ObjectParts...)
		if !page.IsTruncated || page.NextPartNumberMarker <= after {
			return all, nil
		}
		after = page.NextPartNumberMarker
	}
}

// Drop implements Store. It forgets more than it is asked to: see anew.
func (s *S3) Drop(ctx context.Context, key string, numbers []int) error {
	unlock, err := s.enter(ctx, key)
	if err != nil {
		return err
	}
	defer unlock()
	w, err := s.find(ctx, key)
	if err != nil || len(numbers) == 0 {
		return err
	}
	return s.anew(ctx, w, w.layout)
}

// Abort implements Store.
func (s *S3) Abort(ctx context.Context, key string) error {
	unlock, err := s.enter(ctx, key)
	if err != nil {
		return err
	}
	defer unlock()
	w, err := s.find(ctx, key)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.end(ctx, w); err != nil {
		return err
	}
	return s.forget(ctx, key)
}

// Pending implements Store.
func (s *S3) Pending(ctx context.Context) ([]string, error) {
	if err := s.Find(ctx); err != nil {
		return nil, err
	}
	brief, cancel := context.WithTimeout(ctx, s3Long)
	defer cancel()
	prefix, keys := s.name(folderWrites, ""), []string{}
	for o := range s.core.Client.ListObjects(brief, s.o.Bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if o.Err != nil {
			return nil, s.failure(ctx, o.Err)
		}
		keys = append(keys, strings.TrimPrefix(o.Key, prefix))
	}
	slices.Sort(keys)
	return keys, nil
}
