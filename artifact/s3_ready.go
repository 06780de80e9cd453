package artifact

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/minio/minio-go/v7"
)

// Find looks for the store in its bucket, and makes one where none has been
// before, unless there are files that should be in it (F8). Every verb asks it
// until it was found: a bucket that was away at the start may be the wrong one.
func (s *S3) Find(ctx context.Context) error {
	if s.found.Load() {
		return nil
	}
	err := within(ctx, s3Patience, s.findMarker)
	if err == nil {
		s.found.Store(true)
	}
	return err
}

func (s *S3) findMarker(ctx context.Context) error {
	var m s3Marker
	name := s.o.Prefix + markerName
	err := s.getJSON(ctx, name, &m)
	if errors.Is(err, ErrNotFound) && !s.o.Used && s.o.ID != "" {
		err = s.mark(ctx, name, &m)
	}
	switch {
	case errors.Is(err, ErrNotFound) && s.o.Used:
		return &SettingsError{fmt.Sprintf("the database knows of files, and there is no store in the bucket %s under %q: correct store.s3.bucket or store.s3.prefix; if the files are there all the same, or lost for good, put an object {} under the name %s there and start again", s.o.Bucket, s.o.Prefix, name)}
	case errors.Is(err, ErrNotFound):
		return nil // it is begun by the server, not by who looks
	case err != nil || m.ID == s.o.ID && m.ID != "":
		return err
	case m.ID == "" && s.o.Used: // of an earlier build, or put there to be taken over
		return s.putJSON(ctx, name, s3Marker{s.o.ID})
	}
	takeOver := "remove the object " + name
	if s.o.Used {
		takeOver = "put an object {} in the place of " + name
	}
	return &SettingsError{fmt.Sprintf("there is another server's store in the bucket %s under %q, as far as this server's database knows: correct store.s3.bucket or store.s3.prefix, or restore the database from its backup; to take over what is in it all the same, %s and start again", s.o.Bucket, s.o.Prefix, takeOver)}
}

// s3Marker tells a store from any other.
type s3Marker struct {
	ID string `json:"id,omitempty"`
}

// mark makes the prefix a store. Of two servers that do so at once one wins, and
// both read which: what was written is not believed.
func (s *S3) mark(ctx context.Context, name string, m *s3Marker) error {
	body, err := json.Marshal(s3Marker{s.o.ID})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	o := minio.PutObjectOptions{DisableContentSha256: true, ContentType: "application/json"}
	o.SetMatchETagExcept("*")
	_, err = s.core.PutObject(ctx, s.o.Bucket, name, bytes.NewReader(body), int64(len(body)), "", hex.EncodeToString(sum[:]), o)
	switch {
	case refusedWith(err, "NotImplemented"):
		err = s.put(ctx, name, body)
	case refusedWith(err, "PreconditionFailed"):
		err = nil
	default:
		err = s.failure(ctx, err)
	}
	if err != nil {
		return err
	}
	return s.getJSON(ctx, name, m)
}

// S3Facts are what a server does with a URL that is bound to a part's bytes.
type S3Facts struct {
	Digest bool // other bytes are refused
	Length bool // more bytes are refused
	Listed bool // the SHA-256 of each part is listed
}

// Warnings say what the lack of each means.
func (f S3Facts) Warnings() []string {
	var all []string
	if !f.Digest {
		all = append(all, "this S3 server does not check the SHA-256 that a part's URL is bound to: whoever has a URL can send other bytes of that length; they are found out when the whole is hashed, before it counts, and have to be sent again")
	}
	if !f.Length {
		all = append(all, "this S3 server does not check the length that a part's URL is bound to: whoever has a URL can fill the bucket; what is too long is never published")
	}
	if !f.Listed {
		all = append(all, "this S3 server does not list the SHA-256 of parts: an upload that is gone on with knows its parts by their lengths only, and wrong ones are found out when the whole is hashed")
	}
	return all
}

// Probe finds out the facts with a multipart of its own, which it aborts. It
// uses the server's own endpoint.
func (s *S3) Probe(ctx context.Context) (f S3Facts, err error) {
	err = within(ctx, s3Patience, func(ctx context.Context) (err error) {
		f, err = s.facts(ctx)
		return err
	})
	return f, err
}

func (s *S3) facts(ctx context.Context) (f S3Facts, err error) {
	name := s.name(folderChecks, rand.Text())
	id, err := s.core.NewMultipartUpload(ctx, s.o.Bucket, name, boundParts)
	if err != nil {
		return f, s.failure(ctx, err)
	}
	defer func() {
		err = errors.Join(err, s.failure(ctx, s.core.AbortMultipartUpload(context.WithoutCancel(ctx), s.o.Bucket, name, id)))
	}()
	right, wrong := []byte("rendermac: right"), []byte("rendermac: wrong")
	for _, try := range []struct {
		body    []byte
		refused *bool
	}{{wrong, &f.Digest}, {append(right[:len(right):len(right)], '!'), &f.Length}, {right, nil}} {
		status, err := s.probe(ctx, name, id, right, try.body)
		if err != nil {
			return f, err
		}
		if try.refused != nil {
			*try.refused = status >= 400
		} else if status != http.StatusOK {
			return f, fmt.Errorf("the S3 server answers %d to a part that is sent as its URL says: check its clock, and what stands between", status)
		}
	}
	list, err := s.core.ListObjectParts(ctx, s.o.Bucket, name, id, 0, 10)
	sum := sha256.Sum256(right)
	f.Listed = len(list.ObjectParts) == 1 && list.ObjectParts[0].ChecksumSHA256 == base64.StdEncoding.EncodeToString(sum[:])
	return f, s.failure(ctx, err)
}

// probe sends body to a URL that is bound to others.
func (s *S3) probe(ctx context.Context, name, id string, bound, body []byte) (status int, err error) {
	sum := sha256.Sum256(bound)
	signed := http.Header{}
	signed.Set("Content-Length", strconv.Itoa(len(bound)))
	signed.Set(checksumHeader, base64.StdEncoding.EncodeToString(sum[:]))
	u, err := s.core.PresignHeader(ctx, http.MethodPut, s.o.Bucket, name, time.Minute, url.Values{"partNumber": {"1"}, "uploadId": {id}}, signed)
	if err != nil {
		return 0, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, u.String(), bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set(checksumHeader, signed.Get(checksumHeader))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, s.failure(ctx, err)
	}
	answer.Body.Close()
	if answer.StatusCode >= 500 {
		return 0, s.failure(ctx, minio.ErrorResponse{StatusCode: answer.StatusCode, Code: answer.Status})
	}
	return answer.StatusCode, nil
}
