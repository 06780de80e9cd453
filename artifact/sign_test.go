package artifact

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

var (
	testNow    = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	testPart   = Part{Number: 3, Bytes: 1000, SHA256: strings.Repeat("ab", 32)}
	testKey    = "uploads/upl_1/ü ?&#%2F+.mov"
	testSigner = signer{[]byte("0123456789abcdef0123456789abcdef"), func() time.Time { return testNow }}
)

func mustParse(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func signedPut() string {
	return testSigner.sign(http.MethodPut, testKey, partQuery(testPart, "upl_1", "g.0"), testNow.Add(time.Minute)).URL
}

func signedGet() string {
	return testSigner.sign(http.MethodGet, testKey, url.Values{"name": {"a\n\"b\".mov"}}, testNow.Add(time.Minute)).URL
}

func TestSign_RoundTrip(t *testing.T) {
	key, q, err := testSigner.verify(http.MethodPut, mustParse(t, signedPut()))
	if err != nil || key != testKey || q.Get("owner") != "upl_1" {
		t.Fatalf("verify = %q, %v, %v", key, q, err)
	}
	if p, grant, err := signedPart(q); err != nil || p != testPart || grant != "g.0" {
		t.Errorf("signedPart = %+v, %q, %v", p, grant, err)
	}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		if _, q, err := testSigner.verify(method, mustParse(t, signedGet())); err != nil || q.Get("name") != "a\n\"b\".mov" {
			t.Errorf("%s: %v, %v", method, q, err)
		}
	}
}

func TestF16_SignatureBindsEverything(t *testing.T) {
	good := signedPut()
	for what, bad := range map[string]string{
		"key":             strings.Replace(good, "upl_1/", "upl_2/", 1),
		"part":            strings.Replace(good, "part=3", "part=4", 1),
		"length":          strings.Replace(good, "bytes=1000", "bytes=1001", 1),
		"digest":          strings.Replace(good, "sha256=ab", "sha256=ac", 1),
		"no digest":       strings.Replace(good, "sha256="+testPart.SHA256, "sha256=", 1),
		"owner":           strings.Replace(good, "owner=upl_1", "owner=upl_2", 1),
		"grant":           strings.Replace(good, "grant=g.0", "grant=g.1", 1),
		"expiry":          strings.Replace(good, "expires=1", "expires=2", 1),
		"one more":        good + "&part=4",
		"one more before": strings.Replace(good, "?", "?part=4&", 1),
		"no signature":    strings.Split(good, "&sig=")[0],
		"two signatures":  good + "&sig=x",
		"bad query":       good + "&%zz",
		"other prefix":    strings.Replace(good, "/v1/blobs/", "/v1/blob/", 1),
		"garbage":         "/v1/blobs/?sig",
		"dots":            strings.Replace(good, "/v1/blobs/", "/v1/blobs/../", 1),
	} {
		if bad == good {
			t.Fatalf("%s: the test changes nothing", what)
		}
		if _, _, err := testSigner.verify(http.MethodPut, mustParse(t, bad)); err != errSignature {
			t.Errorf("%s: %v, want a bad signature", what, err)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete} {
		if _, _, err := testSigner.verify(method, mustParse(t, good)); err != errSignature {
			t.Errorf("%s with a PUT's URL: %v", method, err)
		}
	}
	if _, _, err := testSigner.verify(http.MethodPut, mustParse(t, signedGet())); err != errSignature {
		t.Errorf("PUT with a GET's URL: %v", err)
	}
	other := signer{[]byte("another secret of thirty-two byt"), testSigner.now}
	if _, _, err := other.verify(http.MethodPut, mustParse(t, good)); err != errSignature {
		t.Errorf("another secret: %v", err)
	}
}

func TestSign_Expires(t *testing.T) {
	at := testNow
	s := signer{testSigner.secret, func() time.Time { return at }}
	u := mustParse(t, signedPut())
	at = testNow.Add(time.Minute - time.Millisecond)
	if _, _, err := s.verify(http.MethodPut, u); err != nil {
		t.Errorf("a millisecond before: %v", err)
	}
	at = testNow.Add(time.Minute)
	if _, _, err := s.verify(http.MethodPut, u); err != errExpired {
		t.Errorf("from its instant on: %v, want expired", err)
	}
}

// No URL passes but those that were signed, whatever way they are written.
func FuzzSignedURL(f *testing.F) {
	f.Add(http.MethodPut, signedPut())
	f.Add(http.MethodGet, signedGet())
	f.Add(http.MethodHead, signedGet())
	f.Add(http.MethodPut, "/v1/blobs/a?expires=9&sig=")
	f.Add(http.MethodGet, "/v1/blobs/%00/../..//a?sig=%zz&sig&&=")
	f.Fuzz(func(t *testing.T, method, raw string) {
		u, err := url.Parse(raw)
		if err != nil {
			return
		}
		key, q, err := testSigner.verify(method, u)
		if err != nil {
			return
		}
		signed := mustParse(t, signedGet())
		if method == http.MethodPut {
			signed = mustParse(t, signedPut())
		} else if method != http.MethodGet && method != http.MethodHead {
			t.Fatalf("%s %q passed", method, raw)
		}
		want := signed.Query()
		want.Del("sig")
		if key != testKey || q.Encode() != want.Encode() {
			t.Fatalf("%s %q passed and was never signed", method, raw)
		}
	})
}

func TestCheckKey(t *testing.T) {
	for _, key := range []string{
		"outputs/job_1/att_1.mp4", "a", "uploads/upl_1/ünï cödé 🎬.mov", "a/..b/c..", strings.Repeat("k", 255),
	} {
		if err := CheckKey(key); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
	for _, key := range []string{
		"", ".", "..", "/", "/etc/passwd", "a/../b", "../a", "a/..", "a//b", "a/", "./a", "a/./b", "a\x00b", "a\nb", "a\\b", "\xff",
		strings.Repeat("k", 256), strings.Repeat("k/", 300) + "k",
	} {
		if CheckKey(key) == nil {
			t.Errorf("%q passed", key)
		}
	}
}

func TestLayout(t *testing.T) {
	for _, test := range []struct {
		l       layout
		lengths []int64
	}{
		{layout{0, 10}, []int64{0}},
		{layout{1, 10}, []int64{1}},
		{layout{10, 10}, []int64{10}},
		{layout{25, 10}, []int64{10, 10, 5}},
	} {
		for n := 0; n <= len(test.lengths)+1; n++ {
			want := int64(-1)
			if n > 0 && n <= len(test.lengths) {
				want = test.lengths[n-1]
			}
			if got := test.l.length(n); got != want {
				t.Errorf("%+v: part %d has %d bytes, want %d", test.l, n, got, want)
			}
		}
	}
	for _, l := range []layout{{-1, 10}, {10, 0}, {10, -1}, {10_001, 1}} {
		if l.check() == nil {
			t.Errorf("%+v passed", l)
		}
	}
}

func TestPartBytes(t *testing.T) {
	const mib = 1 << 20
	for _, test := range []struct{ bytes, want, grown int64 }{
		{0, 64 * mib, 64 * mib},
		{640_000 * mib, 64 * mib, 64 * mib},
		{640_000*mib + 1, 64 * mib, 65 * mib},
		{12 << 30, mib, 2 * mib},
	} {
		got := PartBytes(test.bytes, test.want)
		if got != test.grown || (layout{test.bytes, got}).check() != nil {
			t.Errorf("PartBytes(%d, %d) = %d, want %d", test.bytes, test.want, got, test.grown)
		}
	}
}
