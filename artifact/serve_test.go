package artifact_test

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rendermac/artifact"
	"rendermac/artifact/artifacttest"
)

// publish puts an object under any key, in one part.
func publish(t *testing.T, f artifacttest.Fixture, key string, object []byte) {
	t.Helper()
	if err := f.Store.Begin(t.Context(), key, int64(len(object)), partBytes); err != nil {
		t.Fatal(err)
	}
	u, err := f.Store.SignPart(t.Context(), key, artifact.Part{Number: 1, Bytes: int64(len(object))}, "upl_1", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if status := f.Put(t, u, object); status != http.StatusOK {
		t.Fatalf("PUT: status %d", status)
	}
	if _, err := f.Store.Complete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, f artifacttest.Fixture, method, key, name string, header http.Header) (*http.Response, []byte) {
	t.Helper()
	u, err := f.Store.SignGet(t.Context(), key, name, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, f.Base+u.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		r.Header[name] = values
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, text
}

func TestGet_Headers(t *testing.T) {
	f := serve(t, t.TempDir())
	object := artifacttest.Bytes(1, 1000)
	publish(t, f, artifacttest.Key, object)
	tag := `"` + artifacttest.Sum(object) + `"`
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		answer, text := get(t, f, method, artifacttest.Key, "clip.mp4", nil)
		if answer.StatusCode != http.StatusOK || method == http.MethodGet && !bytes.Equal(text, object) {
			t.Errorf("%s: status %d and %d bytes", method, answer.StatusCode, len(text))
		}
		for name, want := range map[string]string{
			"ETag": tag, "Content-Type": "video/mp4", "Content-Length": "1000", "Accept-Ranges": "bytes",
			"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'",
			"Content-Disposition": `inline; filename="clip.mp4"; filename*=UTF-8''clip.mp4`,
		} {
			if got := answer.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", method, name, got, want)
			}
		}
	}
	for _, test := range []struct {
		name, value string
		status      int
		body        []byte
	}{
		{"Range", "bytes=0-0", http.StatusPartialContent, object[:1]},
		{"Range", "bytes=-5", http.StatusPartialContent, object[995:]},
		{"Range", "bytes=1000-", http.StatusRequestedRangeNotSatisfiable, nil},
		{"If-None-Match", tag, http.StatusNotModified, nil},
		{"If-None-Match", `"other"`, http.StatusOK, object},
	} {
		answer, text := get(t, f, http.MethodGet, artifacttest.Key, "", http.Header{test.name: {test.value}})
		if answer.StatusCode != test.status || test.body != nil && !bytes.Equal(text, test.body) {
			t.Errorf("%s: %s: status %d and %d bytes, want %d", test.name, test.value, answer.StatusCode, len(text), test.status)
		}
	}
	// A download that goes on with the object of before, not with a new one.
	if answer, _ := get(t, f, http.MethodGet, artifacttest.Key, "", http.Header{"Range": {"bytes=10-"}, "If-Range": {`"other"`}}); answer.StatusCode != http.StatusOK {
		t.Errorf("Range of another ETag: status %d, want 200 with everything", answer.StatusCode)
	}
}

// Names come from buyers: whatever is in them, the header stays one header and
// the name comes out as it went in.
func TestGet_Names(t *testing.T) {
	f := serve(t, t.TempDir())
	publish(t, f, artifacttest.Key, nil)
	for _, name := range []string{
		`say "hi"; filename=evil.exe.mp4`, "Ünïcödé.mp4", "🎬 clip 🎬.mp4", "שלום עולם.mp4", "\u202egnp.exe.mp4",
		"100% it's (really) *new*.mp4", "a;b,c=d.mp4", "tab'and'quote.mp4", strings.Repeat("é", 120) + ".mp4",
	} {
		answer, _ := get(t, f, http.MethodHead, artifacttest.Key, name, nil)
		header := answer.Header.Get("Content-Disposition")
		_, extended, _ := strings.Cut(header, "filename*=")
		_, params, err := mime.ParseMediaType("inline; filename*=" + extended)
		if err != nil || params["filename"] != name {
			t.Errorf("%q comes out as %q of %q (%v)", name, params["filename"], header, err)
		}
		plain := strings.TrimSuffix(strings.TrimPrefix(header, `inline; filename="`), `"; filename*=`+extended)
		if strings.ContainsAny(plain, "\"\\%\r\n") || strings.ContainsFunc(plain, func(r rune) bool { return r > 126 || r < 32 }) {
			t.Errorf("%q: the plain name of %q is not plain", name, header)
		}
	}
	for name, want := range map[string]string{
		"a\r\nSet-Cookie: x=y.mp4": "a__Set-Cookie: x=y.mp4", "../../etc/passwd": ".._.._etc_passwd", `c:\x.mp4`: "c:_x.mp4", "": "att_1.mp4",
	} {
		answer, _ := get(t, f, http.MethodHead, artifacttest.Key, name, nil)
		header := answer.Header.Get("Content-Disposition")
		if answer.Header.Get("Set-Cookie") != "" || !strings.Contains(header, `filename="`+want+`"`) {
			t.Errorf("%q: %q, want the name %q", name, header, want)
		}
	}
}

func TestGet_OnlyMediaIsShown(t *testing.T) {
	f := serve(t, t.TempDir())
	for _, test := range []struct{ key, name, contentType, disposition string }{
		{"outputs/j/a.mov", "x.html", "video/quicktime", "inline"},
		{"outputs/j/a.m4a", "", "audio/mp4", "inline"},
		{"outputs/j/a.PNG", "", "image/png", "inline"},
		{"uploads/u/file", "Clip.MP4", "video/mp4", "inline"},
		{"uploads/u/page", "page.html", "application/octet-stream", "attachment"},
		{"uploads/u/picture", "picture.svg", "application/octet-stream", "attachment"},
		{"uploads/u/nothing", "", "application/octet-stream", "attachment"},
	} {
		publish(t, f, test.key, []byte("<html><script>alert(1)</script>"))
		answer, _ := get(t, f, http.MethodGet, test.key, test.name, nil)
		disposition, _, _ := strings.Cut(answer.Header.Get("Content-Disposition"), ";")
		if got := answer.Header.Get("Content-Type"); got != test.contentType || disposition != test.disposition {
			t.Errorf("%s as %q: %s %s, want %s %s", test.key, test.name, disposition, got, test.disposition, test.contentType)
		}
	}
}

func TestGet_NotThere(t *testing.T) {
	f := serve(t, t.TempDir())
	publish(t, f, artifacttest.Key, nil)
	for _, key := range []string{"outputs/job_1/att_2.mp4", "outputs/job_1", "outputs", artifacttest.Key + "/x"} {
		if answer, text := get(t, f, http.MethodGet, key, "", nil); answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s: status %d %s, want 404", key, answer.StatusCode, text)
		}
	}
	answer, err := http.Get(f.Base + "/v1/blobs/" + artifacttest.Key)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("without a signature: status %d, want 403", answer.StatusCode)
	}
}

// A link in the store's folder must not lead out of it.
func TestGet_LinkLeadsNowhere(t *testing.T) {
	folder, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret.mp4")
	f := serve(t, folder)
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, folder+"/objects/link.mp4"); err != nil {
		t.Fatal(err)
	}
	if answer, text := get(t, f, http.MethodGet, "link.mp4", "", nil); answer.StatusCode == http.StatusOK || bytes.Contains(text, []byte("secret")) {
		t.Errorf("status %d: %s", answer.StatusCode, text)
	}
}

func TestPut_Curl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	f := serve(t, t.TempDir())
	f.PartBytes = 3 << 20 // large enough for curl to ask with Expect
	object := artifacttest.Bytes(1, 2*f.PartBytes)
	f.MustBegin(t, object)
	for i, extra := range [][]string{{}, {"-H", "Transfer-Encoding: chunked"}} {
		part := object[int64(i)*f.PartBytes:][:f.PartBytes]
		file := filepath.Join(t.TempDir(), "part")
		if err := os.WriteFile(file, part, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"200", "409"} {
			command := append([]string{"-sS", "-o", os.DevNull, "-w", "%{http_code}", "-T", file}, extra...)
			out, err := exec.Command(curl, append(command, f.Base+f.MustSign(t, i+1, part).URL)...).CombinedOutput()
			if err != nil || string(out) != want {
				t.Errorf("curl -T %v: %s (%v), want %s", extra, out, err, want)
			}
		}
	}
	f.MustComplete(t, object)
}
