package artifact_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"rendermac/artifact"
	"rendermac/artifact/artifacttest"
)

// somewhere is a bucket whose server cannot be reached: signing asks nobody.
var somewhere = artifact.S3Options{
	Endpoint: "http://127.0.0.1:1", Bucket: "renders", AccessKey: "AKIA1", SecretKey: "hunter2", Now: time.Now,
}

func signedGet(t *testing.T, o artifact.S3Options, left time.Duration) *url.URL {
	t.Helper()
	u, err := mustOpenS3(t, o).SignGet(t.Context(), artifacttest.Key, "a b.mp4", time.Now().Add(left))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := url.Parse(u.URL)
	if err != nil || strings.Contains(u.URL, o.SecretKey) {
		t.Fatalf("%v: %s", err, u.URL)
	}
	return parsed
}

func TestS3_URLsGoWhereTheySay(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*artifact.S3Options)
		want   string
	}{
		"path style":   {func(o *artifact.S3Options) { o.PathStyle = true }, "http://127.0.0.1:1/renders/objects/" + artifacttest.Key},
		"virtual host": {func(o *artifact.S3Options) { o.Endpoint = "https://s3.example.com" }, "https://renders.s3.example.com/objects/" + artifacttest.Key},
		"AWS": {func(o *artifact.S3Options) {
			o.Endpoint, o.Region = "https://s3.eu-central-1.amazonaws.com", "eu-central-1"
		}, "https://renders.s3.dualstack.eu-central-1.amazonaws.com/objects/" + artifacttest.Key},
		"public endpoint": {func(o *artifact.S3Options) { o.PublicEndpoint, o.PathStyle = "https://files.example.com:8443/", true }, "https://files.example.com:8443/renders/objects/" + artifacttest.Key},
		"prefix":          {func(o *artifact.S3Options) { o.Prefix, o.PathStyle = "studio/renders", true }, "http://127.0.0.1:1/renders/studio/renders/objects/" + artifacttest.Key},
		"prefix and /":    {func(o *artifact.S3Options) { o.Prefix, o.PathStyle = "studio/", true }, "http://127.0.0.1:1/renders/studio/objects/" + artifacttest.Key},
	} {
		o := somewhere
		c.change(&o)
		u := signedGet(t, o, time.Hour)
		scope := "/" + map[bool]string{true: "eu-central-1", false: "us-east-1"}[o.Region != ""] + "/s3/aws4_request"
		if got := u.Scheme + "://" + u.Host + u.Path; got != c.want || !strings.HasSuffix(u.Query().Get("X-Amz-Credential"), scope) {
			t.Errorf("%s: %s (%s), want %s", name, got, u.Query().Get("X-Amz-Credential"), c.want)
		}
	}
}

// S3 signs for at most seven days, and not for the past.
func TestS3_URLsExpire(t *testing.T) {
	for left, want := range map[time.Duration]string{90 * time.Second: "89", 30 * 24 * time.Hour: "604800"} {
		o := somewhere
		now := time.Now().Add(time.Second / 2)
		o.Now = func() time.Time { return now }
		if got := signedGet(t, o, left).Query().Get("X-Amz-Expires"); got != want {
			t.Errorf("%s: X-Amz-Expires=%s, want %s", left, got, want)
		}
	}
	if _, err := mustOpenS3(t, somewhere).SignGet(t.Context(), artifacttest.Key, "", time.Now()); err == nil {
		t.Error("a URL for a time that has passed")
	}
}

// A part's URL is bound to its length and its digest by headers that are signed.
func TestS3_F16_PartURLsBindHeaders(t *testing.T) {
	f := bucket(t, artifacttest.StartS3(t).Options(t))
	f.MustBegin(t, []byte("abc"))
	u := f.MustSign(t, 1, []byte("abc"))
	parsed, err := url.Parse(u.URL)
	if err != nil {
		t.Fatal(err)
	}
	if got := parsed.Query().Get("X-Amz-SignedHeaders"); got != "content-length;host;x-amz-checksum-sha256" {
		t.Errorf("signed headers: %s", got)
	}
	if got := u.Headers["x-amz-checksum-sha256"]; len(u.Headers) != 1 || got != "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=" {
		t.Errorf("headers to send: %v", u.Headers)
	}
	for _, headers := range []map[string]string{{}, {"x-amz-checksum-sha256": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}} {
		if status := f.Put(t, artifact.URL{URL: u.URL, Headers: headers}, []byte("abc")); status != http.StatusForbidden {
			t.Errorf("with headers %v: status %d, want 403", headers, status)
		}
	}
	if _, err := f.Store.SignPart(t.Context(), artifacttest.Key, artifact.Part{Number: 1, Bytes: 3}, artifacttest.Owner, time.Now().Add(time.Hour)); err == nil {
		t.Error("a URL without a digest, in an upload whose parts have theirs")
	}
}

func TestOpenS3_RefusesWhatCannotBe(t *testing.T) {
	for what, change := range map[string]func(*artifact.S3Options){
		"no bucket":  func(o *artifact.S3Options) { o.Bucket = "" },
		"no secret":  func(o *artifact.S3Options) { o.SecretKey = "" },
		"no scheme":  func(o *artifact.S3Options) { o.Endpoint = "s3.example.com" },
		"a path":     func(o *artifact.S3Options) { o.PublicEndpoint = "https://s3.example.com/x" },
		"bad prefix": func(o *artifact.S3Options) { o.Prefix = "a/../b" },
	} {
		o := somewhere
		change(&o)
		if _, err := artifact.OpenS3(o); err == nil {
			t.Errorf("%s passed", what)
		}
	}
}
