package artifacttest

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7/pkg/signer"
)

// StartCareless starts an S3 server that checks neither signatures nor
// checksums, and lists none: it does what it is asked to through the real one.
func StartCareless(tb testing.TB, s *S3Server) (endpoint string) {
	tb.Helper()
	target, err := url.Parse(s.Endpoint)
	if err != nil {
		tb.Fatal(err)
	}
	server := httptest.NewServer(&httputil.ReverseProxy{Transport: carelessly{}, Rewrite: func(r *httputil.ProxyRequest) {
		q := r.In.URL.Query()
		for name := range q {
			if strings.HasPrefix(strings.ToLower(name), "x-amz-") {
				q.Del(name)
			}
		}
		for name := range r.Out.Header {
			if strings.HasPrefix(name, "X-Amz-") || name == "Authorization" {
				r.Out.Header.Del(name)
			}
		}
		r.SetURL(target)
		r.Out.URL.RawQuery = q.Encode()
	}})
	tb.Cleanup(server.Close)
	return server.URL
}

// carelessly signs whatever comes.
type carelessly struct{}

func (carelessly) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
	return http.DefaultTransport.RoundTrip(signer.SignV4(*r, S3AccessKey, S3SecretKey, "", "us-east-1"))
}
