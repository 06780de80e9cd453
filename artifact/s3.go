package artifact

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// S3 is the Store in a bucket, under a prefix:
//
//	writes/KEY    the journal of an open write
//	objects/KEY   published objects
//	digests/KEY   the SHA-256 of each
//	checks/…      what Check and Probe write, and remove at once
//	store         the marker by which it is known again
//
// A write is a multipart upload straight to its final key. Its URLs name the
// multipart's id, so that they die with it; what Complete publishes is named by
// the parts' ETags. One process at a time may use a prefix.
type S3 struct {
	o             S3Options
	core          minio.Core    // for what the server itself asks
	public        *minio.Client // for URLs that others use
	unconditional atomic.Bool   // the server knows no If-None-Match
	found         atomic.Bool   // by its marker
	locks

	mu     sync.Mutex
	writes map[string]*s3Write // by key; what is not here may still be in the bucket
}

// S3Options say where a bucket is and who may use it.
type S3Options struct {
	Endpoint       string // http or https URL
	PublicEndpoint string // the same for URLs that others use; "" is Endpoint
	Bucket         string
	Region         string // "" is us-east-1
	AccessKey      string
	SecretKey      string
	Prefix         string
	PathStyle      bool   // the bucket stands in the path, not in the host
	ID             string // of the store, which the database knows; "" makes none and knows none
	Used           bool   // files are kept in it: no store is begun in its place (F8)
	Now            func() time.Time
}

const (
	// What S3 asks of a part's length, but for the last one.
	MinS3Part = 5 << 20
	MaxS3Part = 5 << 30

	folderChecks  = "checks"
	markerName    = "store"
	s3Tries       = 3                // of one request, before the store counts as away
	s3Patience    = 30 * time.Second // for one answer
	s3Long        = 10 * time.Minute // for the answer to a Complete: some servers copy first
	checkPatience = 5 * time.Second
)

// OpenS3 asks the server nothing: one that is away now may come back.
func OpenS3(o S3Options) (*S3, error) {
	if o.Prefix = strings.Trim(o.Prefix, "/"); o.Prefix != "" {
		if err := CheckKey(o.Prefix); err != nil {
			return nil, err
		}
		o.Prefix += "/"
	}
	if o.Bucket == "" || o.AccessKey == "" || o.SecretKey == "" {
		return nil, errors.New("an S3 store needs a bucket, an access key and its secret")
	}
	inside, err := s3Client(o, o.Endpoint)
	if err != nil {
		return nil, err
	}
	public, err := s3Client(o, cmp.Or(o.PublicEndpoint, o.Endpoint))
	if err != nil {
		return nil, err
	}
	return &S3{o: o, core: minio.Core{Client: inside}, public: public, writes: map[string]*s3Write{}}, nil
}

// s3Client has its region set, so that signing asks nobody.
func s3Client(o S3Options, endpoint string) (*minio.Client, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" {
		return nil, fmt.Errorf("%q is no S3 endpoint: it must be like https://s3.example.com", endpoint)
	}
	lookup := minio.BucketLookupDNS
	if o.PathStyle {
		lookup = minio.BucketLookupPath
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	transport.DisableCompression = true // an object's bytes as they are
	client, err := minio.New(u.Host, &minio.Options{
		Creds: credentials.NewStaticV4(o.AccessKey, o.SecretKey, ""), Secure: u.Scheme == "https", Transport: transport,
		Region: cmp.Or(o.Region, "us-east-1"), BucketLookup: lookup, MaxRetries: s3Tries,
	})
	if err != nil {
		return nil, fmt.Errorf("the S3 store cannot be used: %w", err)
	}
	return client, nil
}

// enter begins a verb on a key.
func (s *S3) enter(ctx context.Context, key string) (unlock func(), err error) {
	if err := s.Find(ctx); err != nil {
		return nil, err
	}
	return s.lock(ctx, key)
}

// name is a key's object in one of the folders.
func (s *S3) name(folder, key string) string { return s.o.Prefix + folder + "/" + key }

// Check implements Store.
func (s *S3) Check(ctx context.Context) error {
	return within(ctx, checkPatience, func(ctx context.Context) error {
		if err := s.Find(ctx); err != nil {
			return err
		}
		name := s.name(folderChecks, rand.Text())
		if err := s.put(ctx, name, []byte("can it write?\n")); err != nil {
			return err
		}
		return s.remove(ctx, name)
	})
}

// within gives several steps one time. That it has passed is the server's fault,
// not the caller's.
func within(ctx context.Context, patience time.Duration, steps func(context.Context) error) error {
	brief, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := steps(brief)
	if err != nil && brief.Err() != nil && ctx.Err() == nil {
		return unavailable(errors.New("the S3 server does not answer"))
	}
	return err
}

// put writes a small object.
func (s *S3) put(ctx context.Context, name string, body []byte) error {
	brief, cancel := context.WithTimeout(ctx, s3Patience)
	defer cancel()
	sum := sha256.Sum256(body)
	_, err := s.core.PutObject(brief, s.o.Bucket, name, bytes.NewReader(body), int64(len(body)), "", hex.EncodeToString(sum[:]),
		minio.PutObjectOptions{DisableContentSha256: true, ContentType: "application/json"})
	return s.failure(ctx, err)
}

func (s *S3) putJSON(ctx context.Context, name string, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return s.put(ctx, name, body)
}

const smallObject = 64 << 10

// getJSON reads a small object; ErrNotFound if there is none.
func (s *S3) getJSON(ctx context.Context, name string, value any) error {
	brief, cancel := context.WithTimeout(ctx, s3Patience)
	defer cancel()
	body, _, _, err := s.core.GetObject(brief, s.o.Bucket, name, minio.GetObjectOptions{})
	if err != nil {
		return s.failure(ctx, err)
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, smallObject))
	if err != nil {
		return s.failure(ctx, err)
	}
	if err := json.Unmarshal(text, value); err != nil {
		return fmt.Errorf("the store's object %s is not what was written there: %w", name, err)
	}
	return nil
}

// head describes an object: its ETag and length.
func (s *S3) head(ctx context.Context, name string) (etag string, bytes int64, err error) {
	brief, cancel := context.WithTimeout(ctx, s3Patience)
	defer cancel()
	info, err := s.core.StatObject(brief, s.o.Bucket, name, minio.StatObjectOptions{})
	if err != nil {
		return "", 0, s.failure(ctx, err)
	}
	return info.ETag, info.Size, nil
}

// remove deletes an object, if it is there.
func (s *S3) remove(ctx context.Context, name string) error {
	brief, cancel := context.WithTimeout(ctx, s3Patience)
	defer cancel()
	err := s.failure(ctx, s.core.RemoveObject(brief, s.o.Bucket, name, minio.RemoveObjectOptions{}))
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}
