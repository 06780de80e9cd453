package webtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/minio/minio-go/v7/pkg/cors"

	"rendermac/artifact"
	"rendermac/artifact/artifacttest"
)

// mustStudioOnS3 is a studio whose store is a bucket.
func mustStudioOnS3(t *testing.T) (s *studio, s3 *artifacttest.S3Server, o artifact.S3Options) {
	t.Helper()
	s3 = artifacttest.StartS3(t)
	o = s3.Options(t)
	return mustStudio(t, fmt.Sprintf("store: {kind: s3, part_bytes: 5MiB, s3: {endpoint: %q, bucket: %s, prefix: %s, path_style: true, access_key: %s, secret_key: %s}}",
		o.Endpoint, o.Bucket, o.Prefix, o.AccessKey, o.SecretKey)), s3, o
}

// With a store on S3 the browser sends the parts there itself, once the bucket lets
// pages of the dashboard do so; until then the page says what is missing.
func TestNew_PartsGoToS3WhichMustLetThePage(t *testing.T) {
	s, s3, o := mustStudioOnS3(t)
	file := filepath.Join(t.TempDir(), "rushes.mov")
	must(t, os.WriteFile(file, noise(artifact.MinS3Part+1000), 0o600))
	p := s.open("/new")
	p.Expect("another host: (PUT|GET|OPTIONS) " + regexp.QuoteMeta(o.Endpoint))
	p.Expect(regexp.QuoteMeta(o.Endpoint) + ".* (failed: net::ERR_FAILED|answered 403|blocked by CORS policy)")
	p.SetFiles("#files", file)
	p.WaitText("The store at " + o.Endpoint + " did not let this page send files: its bucket needs a CORS rule for " + s.url)

	must(t, s3.Client(t).SetBucketCors(t.Context(), o.Bucket, cors.NewConfig([]cors.Rule{{
		AllowedOrigin: []string{s.url}, AllowedMethod: []string{"GET", "HEAD", "PUT"}, AllowedHeader: []string{"*"}, MaxAgeSeconds: 3600,
	}})))
	p.WaitText("The server cannot read this kind of file")
	s.mustHold(p, file)
}
