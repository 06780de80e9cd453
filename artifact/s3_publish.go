package artifact

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/minio/minio-go/v7"
)

// s3Digest is the note beside an object. The ETag says of which one: a digest of
// what stood under the key before does not count.
type s3Digest struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	ETag   string `json:"etag"`
}

// Complete implements Store. Each step can be the last before a crash, or have
// been done without an answer: the multipart is completed, the journal removed,
// the object hashed, the digest noted.
func (s *S3) Complete(ctx context.Context, key string) (Info, error) {
	unlock, err := s.enter(ctx, key)
	if err != nil {
		return Info{}, err
	}
	defer unlock()
	w, err := s.find(ctx, key)
	if err == nil {
		err = s.publish(ctx, w)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Info{}, err
	}
	info, etag, err := s.stat(ctx, key)
	if err != nil || info.SHA256 != "" {
		return info, err
	}
	return s.seal(ctx, info, etag)
}

const publishTries = 3 // writers may still change parts that have no digest

// publish completes w's multipart with the parts that the server lists, if they
// are all there. From then on no URL of it can write.
func (s *S3) publish(ctx context.Context, w *s3Write) error {
	for try := 1; ; try++ {
		parts, err := s.parts(ctx, w)
		if err == nil {
			err = s.complete(ctx, w, parts)
		}
		switch {
		case err == nil:
			return s.forget(ctx, w.key)
		case errors.Is(err, errGone):
			_, err = s.gone(ctx, w)
			return cmp.Or(err, ErrIncomplete)
		case !errors.Is(err, errChanged) || try == publishTries:
			return err
		}
	}
}

// errChanged is a part that was written anew after it had been listed.
var errChanged = errors.Join(ErrIncomplete, errors.New("a part was written anew meanwhile"))

func (s *S3) complete(ctx context.Context, w *s3Write, parts []minio.ObjectPart) error {
	var whole []minio.CompletePart
	for _, p := range parts {
		if p.Size == w.length(p.PartNumber) {
			whole = append(whole, minio.CompletePart{PartNumber: p.PartNumber, ETag: strings.Trim(p.ETag, `"`), ChecksumSHA256: p.ChecksumSHA256})
		}
	}
	if int64(len(whole)) < w.parts() {
		return ErrIncomplete
	}
	o := minio.PutObjectOptions{}
	if !s.unconditional.Load() {
		o.SetMatchETagExcept("*")
	}
	long, cancel := context.WithTimeout(ctx, s3Long)
	defer cancel()
	_, err := s.core.CompleteMultipartUpload(long, s.o.Bucket, s.name(folderObjects, w.key), w.upload, whole, o)
	switch {
	case refusedWith(err, "NotImplemented") && s.unconditional.CompareAndSwap(false, true):
		return s.complete(ctx, w, parts)
	case refusedWith(err, "PreconditionFailed"): // it was completed, and the answer got lost
		return s.end(ctx, w)
	case refusedWith(err, "InvalidPart"):
		return errChanged
	}
	return s.failure(ctx, err)
}

// stat describes a published object, and gives the ETag that pins it. It asks for
// the digest first: the answer to a HEAD does not tell a bucket that is missing
// from an object that is.
func (s *S3) stat(ctx context.Context, key string) (Info, string, error) {
	if err := CheckKey(key); err != nil {
		return Info{}, "", err
	}
	var d s3Digest
	if err := s.getJSON(ctx, s.name(folderDigests, key), &d); err != nil && !errors.Is(err, ErrNotFound) {
		return Info{}, "", err
	}
	etag, bytes, err := s.head(ctx, s.name(folderObjects, key))
	if err != nil {
		return Info{}, "", err
	}
	info := Info{Key: key, Bytes: bytes}
	if d.ETag == etag && d.Bytes == bytes {
		info.SHA256 = d.SHA256
	}
	return info, etag, nil
}

// seal hashes a published object, pinned by its ETag, and notes the digest.
func (s *S3) seal(ctx context.Context, info Info, etag string) (Info, error) {
	object := &s3Range{s: s, ctx: ctx, name: s.name(folderObjects, info.Key), etag: etag, end: info.Bytes}
	defer object.Close()
	_, sum, err := stream(io.Discard, object)
	if err != nil {
		return Info{}, err
	}
	info.SHA256 = sum
	return info, s.putJSON(ctx, s.name(folderDigests, info.Key), s3Digest{sum, info.Bytes, etag})
}

// Delete implements Store.
func (s *S3) Delete(ctx context.Context, key string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	unlock, err := s.enter(ctx, key)
	if err != nil {
		return err
	}
	defer unlock()
	return cmp.Or(s.remove(ctx, s.name(folderDigests, key)), s.remove(ctx, s.name(folderObjects, key)))
}
