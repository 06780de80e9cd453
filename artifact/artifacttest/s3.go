package artifacttest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"rendermac/artifact"
)

// S3Server is a real S3 server, versitygw, on a folder of the test's own.
type S3Server struct {
	Endpoint string

	program string
	folder  string
	addr    string
	process *exec.Cmd
	exited  chan struct{}
	buckets atomic.Int64
}

// What signs for it.
const (
	S3AccessKey = "testkey"
	S3SecretKey = "testsecret123"
)

// StartS3 starts a server that ends with the test. `make deps` installs it.
func StartS3(tb testing.TB) *S3Server {
	tb.Helper()
	s := &S3Server{program: versitygw(tb), folder: tb.TempDir(), addr: FreeAddress(tb)}
	s.Endpoint = "http://" + s.addr
	tb.Cleanup(s.Kill)
	s.Start(tb)
	return s
}

// versitygw is where scripts/deps.sh puts it.
func versitygw(tb testing.TB) string {
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			tb.Fatal(err)
		}
		cache = filepath.Join(home, ".cache")
	}
	program := filepath.Join(cache, "rendermac-test", "versitygw-v1.8.0")
	if _, err := os.Stat(program); err != nil {
		tb.Fatalf("the S3 server for tests is missing: run make deps (%v)", err)
	}
	return program
}

// Start starts the server, again after a Kill, and waits until it answers.
func (s *S3Server) Start(tb testing.TB) {
	tb.Helper()
	cmd := exec.Command(s.program, "--port", s.addr, "--health", "/health", "--keep-alive", "--quiet", "posix", s.folder)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+S3AccessKey, "ROOT_SECRET_KEY="+S3SecretKey)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait()
	}()
	s.process, s.exited = cmd, exited
	for deadline := time.Now().Add(time.Minute); ; {
		answer, err := http.Get(s.Endpoint + "/health")
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-exited:
			tb.Fatalf("the S3 server ended: %s", said.String())
		case <-time.After(10 * time.Millisecond): // it gives no sign when it is ready
		}
		if time.Now().After(deadline) {
			tb.Fatalf("the S3 server does not answer: %v", err)
		}
	}
}

// Kill ends the server as a power cut would, if it runs.
func (s *S3Server) Kill() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		<-s.exited
		s.process = nil
	}
}

// Client speaks to the server with all rights.
func (s *S3Server) Client(tb testing.TB) *minio.Client {
	tb.Helper()
	client, err := minio.New(s.addr, &minio.Options{
		Creds: credentials.NewStaticV4(S3AccessKey, S3SecretKey, ""), Region: "us-east-1", BucketLookup: minio.BucketLookupPath,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return client
}

// Options are those of a new bucket.
func (s *S3Server) Options(tb testing.TB) artifact.S3Options {
	tb.Helper()
	bucket := fmt.Sprintf("bucket-%d", s.buckets.Add(1))
	if err := s.Client(tb).MakeBucket(context.Background(), bucket, minio.MakeBucketOptions{}); err != nil {
		tb.Fatal(err)
	}
	return artifact.S3Options{
		Endpoint: s.Endpoint, Bucket: bucket, AccessKey: S3AccessKey, SecretKey: S3SecretKey, ID: "the-server-under-test", Prefix: "studio", PathStyle: true, Now: time.Now,
	}
}
