package artifact

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/minio/minio-go/v7"
)

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

// Origin is where the store's URLs lead, as browsers name it: scheme, host, port.
func (s *S3) Origin(ctx context.Context) (string, error) {
	u, err := s.public.PresignedGetObject(ctx, s.o.Bucket, "origin", time.Minute, nil)
	if err != nil {
		return "", err
	}
	return u.Scheme + "://" + u.Host, nil
}
