package artifact

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"
)

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
