package artifact_test

import (
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"rendermac/artifact"
	"rendermac/artifact/artifacttest"
)

// No test is about how long the client waits before it asks again.
func init() { minio.DefaultRetryUnit = time.Millisecond }

func TestS3(t *testing.T) {
	server := artifacttest.StartS3(t)
	artifacttest.Run(t, func(t *testing.T) artifacttest.Fixture {
		f := bucket(t, server.Options(t))
		f.Away = func(t *testing.T) func() {
			server.Kill()
			return func() { server.Start(t) }
		}
		return f
	})
}

func mustOpenS3(t testing.TB, o artifact.S3Options) *artifact.S3 {
	t.Helper()
	s, err := artifact.OpenS3(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bucket opens a bucket as a new process would: whatever another S3 on it has in
// memory is not known to it.
func bucket(t testing.TB, o artifact.S3Options) artifacttest.Fixture {
	t.Helper()
	return artifacttest.Fixture{
		Store: mustOpenS3(t, o), PartBytes: artifact.MinS3Part,
		Restart: func() artifacttest.Fixture { return bucket(t, o) },
	}
}
