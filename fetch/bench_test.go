package fetch

import (
	"context"
	"crypto/sha256"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkTo fetches 1 GiB over loopback beside a bare loop that copies into a
// file and hashes: the ratio is what counts.
func BenchmarkTo(b *testing.B) {
	const n = 1 << 30
	from := filepath.Join(b.TempDir(), "from")
	if err := os.WriteFile(from, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	if err := os.Truncate(from, n); err != nil {
		b.Fatal(err)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(zeros{}, n)); err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, from) }))
	defer server.Close()
	url := func(context.Context) (string, http.Header, error) { return server.URL, nil, nil }

	run := func(name string, fetch func(path string) error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(n)
			for b.Loop() {
				path := filepath.Join(b.TempDir(), "to")
				if err := fetch(path); err != nil {
					b.Fatal(err)
				}
				os.Remove(path)
			}
		})
	}
	run("bare", func(path string) error { return bare(server.URL, path) })
	for _, atOnce := range []int{1, 2, 4} {
		run(string(rune('0'+atOnce))+" at once", func(path string) error {
			return To(context.Background(), Options{
				Path: path, Bytes: n, SHA256: hexOf(sum), AtOnce: atOnce, URL: url, Client: server.Client(),
				Retry: Retry{Backoff: time.Second, Patience: time.Minute, Idle: time.Minute},
			})
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func bare(url, path string) error {
	answer, err := http.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.CopyBuffer(io.MultiWriter(file, sha256.New()), answer.Body, make([]byte, bufferBytes))
	return err
}
