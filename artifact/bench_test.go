package artifact_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"rendermac/artifact"
	"rendermac/artifact/artifacttest"
)

const (
	benchPart  = 64 << 20
	benchParts = 4
)

// BenchmarkTransfer holds PUT of parts and GET of the object against the barest
// way to do as much: for the directory a server that is a loop which copies and
// hashes, with one fsync a PUT; for S3 the same S3 server, without multipart, and
// a client that hashes as it sends. put/bare and get/bare are throughputs in one
// run; 1 is as fast as the bare way.
func BenchmarkTransfer(b *testing.B) {
	b.Run("dir", func(b *testing.B) {
		folder := b.TempDir()
		loop := httptest.NewServer(bareLoop{folder})
		defer loop.Close()
		at := func(n int) string { return fmt.Sprintf("%s/%d", loop.URL, n) }
		f := serve(b, b.TempDir())
		benchTransfer(b, f, func(n int, _ []byte) artifact.URL { return artifact.URL{URL: unbound(b, f, n, benchPart)} }, bareWay{
			put: func(n int, part []byte) time.Duration {
				return timed(b, http.MethodPut, artifact.URL{URL: at(n)}, bytes.NewReader(part))
			},
			get:    func(n int) time.Duration { return timed(b, http.MethodGet, artifact.URL{URL: at(n)}, nil) },
			forget: func(n int) error { return os.Remove(fmt.Sprintf("%s/%d", folder, n)) },
		})
	})
	b.Run("s3", func(b *testing.B) {
		server := artifacttest.StartS3(b)
		o := server.Options(b)
		client := server.Client(b)
		signed := func(method string, n int) artifact.URL {
			u, err := client.Presign(b.Context(), method, o.Bucket, fmt.Sprintf("bare/%d", n), time.Hour, nil)
			if err != nil {
				b.Fatal(err)
			}
			return artifact.URL{URL: u.String()}
		}
		f := bucket(b, o)
		benchTransfer(b, f, func(n int, part []byte) artifact.URL { return f.MustSign(b, n, part) }, bareWay{
			put: func(n int, part []byte) time.Duration {
				return timed(b, http.MethodPut, signed(http.MethodPut, n), io.TeeReader(bytes.NewReader(part), sha256.New()))
			},
			get: func(n int) time.Duration { return timed(b, http.MethodGet, signed(http.MethodGet, n), nil) },
			forget: func(n int) error {
				return client.RemoveObject(b.Context(), o.Bucket, fmt.Sprintf("bare/%d", n), minio.RemoveObjectOptions{})
			},
		})
	})
}

// bareWay is what a store is compared with, a file a part.
type bareWay struct {
	put    func(n int, part []byte) time.Duration
	get    func(n int) time.Duration
	forget func(n int) error // new files each time, as the store's are
}

func benchTransfer(b *testing.B, f artifacttest.Fixture, sign func(n int, part []byte) artifact.URL, bare bareWay) {
	part := artifacttest.Bytes(1, benchPart)
	var put, get, barePut, bareGet time.Duration
	for b.Loop() {
		if err := f.Store.Begin(b.Context(), artifacttest.Key, benchParts*benchPart, benchPart); err != nil {
			b.Fatal(err)
		}
		for n := 1; n <= benchParts; n++ { // in turn, so that both meet the same disk
			barePut += bare.put(n, part)
			put += timed(b, http.MethodPut, sign(n, part), bytes.NewReader(part))
		}
		if _, err := f.Store.Complete(b.Context(), artifacttest.Key); err != nil {
			b.Fatal(err)
		}
		u, err := f.Store.SignGet(b.Context(), artifacttest.Key, "", time.Now().Add(time.Hour))
		if err != nil {
			b.Fatal(err)
		}
		for n := 1; n <= benchParts; n++ {
			bareGet += bare.get(n)
			if err := bare.forget(n); err != nil {
				b.Fatal(err)
			}
		}
		u.URL = f.Base + u.URL
		get += timed(b, http.MethodGet, u, nil)
		if err := f.Store.Delete(b.Context(), artifacttest.Key); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(barePut.Seconds()/put.Seconds(), "put/bare")
	b.ReportMetric(bareGet.Seconds()/get.Seconds(), "get/bare")
	b.ReportMetric(float64(b.N)*benchParts*benchPart/1e6/put.Seconds(), "put-MB/s")
	b.ReportMetric(float64(b.N)*benchParts*benchPart/1e6/get.Seconds(), "get-MB/s")
}

// timed does one request; what is downloaded is hashed.
func timed(b *testing.B, method string, to artifact.URL, body io.Reader) time.Duration {
	b.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, to.URL, body)
	if err != nil {
		b.Fatal(err)
	}
	if body != nil {
		r.ContentLength = benchPart
	}
	for name, value := range to.Headers {
		r.Header.Set(name, value)
	}
	began := time.Now()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.CopyBuffer(sha256.New(), answer.Body, make([]byte, 256<<10)); err != nil || answer.StatusCode != http.StatusOK {
		b.Fatalf("status %d, error %v", answer.StatusCode, err)
	}
	return time.Since(began)
}

// bareLoop is the server to compare with: no signature, no journal, no promise.
type bareLoop struct{ folder string }

func (l bareLoop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := filepath.Join(l.folder, r.URL.Path)
	if r.Method == http.MethodGet {
		http.ServeFile(w, r, name)
		return
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, err = io.CopyBuffer(onlyWriter{io.MultiWriter(f, sha256.New())}, onlyReader{r.Body}, make([]byte, 256<<10))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// Both hide what would let io.CopyBuffer do without its buffer.
type (
	onlyWriter struct{ io.Writer }
	onlyReader struct{ io.Reader }
)
