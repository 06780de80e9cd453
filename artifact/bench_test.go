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

	"rendermac/artifact/artifacttest"
)

const (
	benchPart  = 64 << 20
	benchParts = 4
)

// BenchmarkTransfer holds PUT of parts and GET of the object against the barest
// server that does as much: a loop that copies and hashes, and one fsync a PUT.
// put/bare and get/bare are throughputs in one run; 1 is as fast as the loop.
func BenchmarkTransfer(b *testing.B) {
	part := artifacttest.Bytes(1, benchPart)
	folder := b.TempDir()
	bare := httptest.NewServer(bareLoop{folder})
	defer bare.Close()
	f := serve(b, b.TempDir())
	var put, get, barePut, bareGet time.Duration
	for b.Loop() {
		if err := f.Store.Begin(b.Context(), artifacttest.Key, benchParts*benchPart, benchPart); err != nil {
			b.Fatal(err)
		}
		for n := 1; n <= benchParts; n++ { // in turn, so that both meet the same disk
			barePut += timed(b, http.MethodPut, fmt.Sprintf("%s/%d", bare.URL, n), part)
			put += timed(b, http.MethodPut, unbound(b, f, n, benchPart), part)
		}
		if _, err := f.Store.Complete(b.Context(), artifacttest.Key); err != nil {
			b.Fatal(err)
		}
		u, err := f.Store.SignGet(b.Context(), artifacttest.Key, "", time.Now().Add(time.Hour))
		if err != nil {
			b.Fatal(err)
		}
		for n := 1; n <= benchParts; n++ {
			bareGet += timed(b, http.MethodGet, fmt.Sprintf("%s/%d", bare.URL, n), nil)
			if err := os.Remove(fmt.Sprintf("%s/%d", folder, n)); err != nil { // new files each time, as the store's are
				b.Fatal(err)
			}
		}
		get += timed(b, http.MethodGet, f.Base+u.URL, nil)
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
func timed(b *testing.B, method, url string, body []byte) time.Duration {
	b.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, url, bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
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
