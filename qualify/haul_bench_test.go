package qualify

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"rendermac/artifact/artifacttest"
)

// BenchmarkHaul holds the command line's whole upload, with the server's own
// look at what has come, and its whole download against a bare loop that sends
// or takes as much and hashes it once. up/bare and down/bare are throughputs in
// one run: 1 is as fast as the loop.
func BenchmarkHaul(b *testing.B) {
	const size = 256 * mib
	for _, on := range shelves {
		b.Run(on.name, func(b *testing.B) {
			h := newHaul(b, on, size, 64*mib)
			h.pairMac()
			done := h.run(h.upload())
			address, out := h.bare(), filepath.Join(h.home, "out")
			var up, down, bareUp, bareDown time.Duration
			for b.Loop() {
				bareUp += h.took(func() error { return bareSend(address(http.MethodPut), h.film) })
				up += h.took(func() error { _, err := h.buyer().Upload(b.Context(), h.film, func(int64) {}); return err })
				bareDown += h.took(func() error { return bareTake(address(http.MethodGet), out) })
				down += h.took(func() error { return h.buyer().Download(b.Context(), done, out, true, func(int64) {}) })
			}
			b.ReportMetric(bareUp.Seconds()/up.Seconds(), "up/bare")
			b.ReportMetric(bareDown.Seconds()/down.Seconds(), "down/bare")
			b.ReportMetric(float64(b.N)*mb(size)/up.Seconds(), "up-MB/s")
			b.ReportMetric(float64(b.N)*mb(size)/down.Seconds(), "down-MB/s")
		})
	}
}

func (h *haul) took(do func() error) time.Duration {
	h.Helper()
	began := time.Now()
	if err := do(); err != nil {
		h.Fatal(err)
	}
	return time.Since(began)
}

// bare is the address of one file at the far side to compare with: on S3 the
// same server, else one that only copies and syncs.
func (h *haul) bare() (address func(method string) string) {
	h.Helper()
	if h.s3 == nil {
		file := filepath.Join(h.home, "bare")
		loop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				http.ServeFile(w, r, file)
			} else if err := into(file, r.Body, io.Discard); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		}))
		h.Cleanup(loop.Close)
		return func(string) string { return loop.URL }
	}
	client, err := minio.New(strings.TrimPrefix(h.files.url, "http://"), &minio.Options{
		Creds: credentials.NewStaticV4(artifacttest.S3AccessKey, artifacttest.S3SecretKey, ""), Region: "us-east-1", BucketLookup: minio.BucketLookupPath,
	})
	if err != nil {
		h.Fatal(err)
	}
	return func(method string) string {
		u, err := client.Presign(context.Background(), method, h.bucket, "bare", time.Hour, nil)
		if err != nil {
			h.Fatal(err)
		}
		return u.String()
	}
}

// bareSend sends a file and hashes it meanwhile.
func bareSend(address, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r, err := http.NewRequest(http.MethodPut, address, io.TeeReader(f, sha256.New()))
	if err != nil {
		return err
	}
	r.ContentLength = info.Size()
	return answered(http.DefaultClient.Do(r))(func(io.Reader) error { return nil })
}

// bareTake takes a file and hashes it meanwhile.
func bareTake(address, file string) error {
	return answered(http.Get(address))(func(body io.Reader) error { return into(file, body, sha256.New()) })
}

// answered does something with the body of an answer that is none of a fault.
func answered(answer *http.Response, err error) func(do func(io.Reader) error) error {
	return func(do func(io.Reader) error) error {
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s", answer.Status)
		}
		return do(answer.Body)
	}
}

// into copies to a new file and to another writer, and syncs the file.
func into(file string, from io.Reader, also io.Writer) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.CopyBuffer(io.MultiWriter(f, also), from, make([]byte, 256<<10)); err != nil {
		return err
	}
	return f.Sync()
}
