package qualify

import (
	"fmt"
	"strings"

	"rendermac/artifact/artifacttest"
)

// onS3 keeps the films in a bucket of a real S3 server. The server reaches it on
// one cable, clients and agents on another.
func (h *haul) onS3() string {
	h.Helper()
	h.s3 = artifacttest.StartS3(h)
	o := h.s3.Options(h)
	h.bucket = o.Bucket
	to := strings.TrimPrefix(o.Endpoint, "http://")
	h.inner, h.files = newCable(h, h.meter, to), newCable(h, h.meter, to)
	h.outer = append(h.outer, h.files)
	return fmt.Sprintf(`store:
  kind: s3
  part_bytes: %d
  s3: {endpoint: %q, public_endpoint: %q, bucket: %s, access_key: %s, secret_key: %s, prefix: %s, path_style: true}
`, h.part, h.inner.url, h.files.url, o.Bucket, o.AccessKey, o.SecretKey, o.Prefix)
}
