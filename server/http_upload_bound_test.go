package server

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/artifact"
	"rendermac/artifact/artifacttest"
)

// onBothStores runs a test on a directory and on a bucket; parts are 5 MiB long.
func onBothStores(t *testing.T, test func(*testing.T, *httpServer)) {
	parts := func(o *Options) { o.PartBytes = artifact.MinS3Part }
	t.Run("directory", func(t *testing.T) { test(t, mustServe(t, parts)) })
	t.Run("S3", func(t *testing.T) {
		test(t, mustServeBucket(t, artifacttest.StartS3(t).Options(t)))
	})
}

// mustServeBucket serves with its objects in a bucket. URLs are signed by the
// real time, which the S3 server goes by.
func mustServeBucket(t *testing.T, bucket artifact.S3Options) *httpServer {
	t.Helper()
	s3, err := artifact.OpenS3(bucket)
	if err != nil {
		t.Fatal(err)
	}
	return mustServe(t, func(o *Options) { o.Artifacts, o.Blobs, o.PartBytes, o.Now = s3, nil, artifact.MinS3Part, time.Now })
}

// sendPart PUTs to a signed URL on either store.
func (h *httpServer) sendPart(p api.PartURL, body []byte) (status int) {
	h.Helper()
	var headers []string
	for name, value := range p.Headers {
		headers = append(headers, name, value)
	}
	return h.do("PUT", p.URL, "", body, headers...).StatusCode
}

func (h *httpServer) sign(id string, parts ...api.Part) api.UploadPartURLs {
	h.Helper()
	return into[api.UploadPartURLs](h.post("/v1/uploads/"+id+"/parts", h.submit, api.UploadParts{Parts: parts}).is(200))
}

func partOf(content []byte, n int) (api.Part, []byte) {
	at := (n - 1) * artifact.MinS3Part
	bytes := content[at:min(len(content), at+artifact.MinS3Part)]
	return api.Part{Number: n, Bytes: int64(len(bytes)), SHA256: sum(bytes)}, bytes
}

// F16: digests may be told part by part; each URL takes those bytes only.
func TestF16_PartsAreBoundOneByOne(t *testing.T) {
	content := noise(artifact.MinS3Part + 9)
	first, head := partOf(content, 1)
	last, tail := partOf(content, 2)
	onBothStores(t, func(t *testing.T, h *httpServer) {
		u := into[api.UploadCreated](h.post("/v1/uploads", h.submit, api.UploadRequest{Name: "a", Bytes: int64(len(content)), Parts: []api.Part{}}).is(201))
		if len(u.Parts) != 0 || u.NextPart != nil {
			t.Errorf("there are URLs before there are digests: %+v", u)
		}
		signed := h.sign(u.ID, last)
		if len(signed.Parts) != 1 || signed.Parts[0].Number != 2 || len(signed.Held) != 0 || !signed.ExpiresAt.After(h.clock.Now()) {
			t.Fatalf("signed %+v", signed)
		}
		if status := h.sendPart(signed.Parts[0], []byte("123456789")); status != 422 && status != 400 {
			t.Errorf("other bytes of the same length: %d", status)
		}
		if status := h.sendPart(signed.Parts[0], tail); status != 200 {
			t.Errorf("the right bytes: %d", status)
		}
		both := h.sign(u.ID, first, last)
		if !slices.Equal(both.Held, []int{2}) || len(both.Parts) != 1 || h.sendPart(both.Parts[0], head) != 200 {
			t.Errorf("signed %+v", both)
		}
		at := into[api.Upload](h.get("/v1/uploads/"+u.ID+"?from_part=10001", h.submit).is(200))
		if !slices.Equal(at.Held, []int{1, 2}) {
			t.Errorf("held are %v", at.Held)
		}
		done := into[api.UploadDone](h.post("/v1/uploads/"+u.ID+"/complete", h.submit, nil).is(200))
		if done.SHA256 != sum(content) {
			t.Errorf("completed with %s", done.SHA256)
		}
		if after := h.sign(u.ID, first); !slices.Equal(after.Held, []int{1}) || len(after.Parts) != 0 {
			t.Errorf("of a complete upload it signs %+v", after)
		}
	})
}

// What is held with another digest gives way to what is asked for now.
func TestUploads_APartWithAnotherDigestIsDropped(t *testing.T) {
	content := []byte("right")
	onBothStores(t, func(t *testing.T, h *httpServer) {
		u := into[api.UploadCreated](h.post("/v1/uploads", h.submit, `{"name":"a","bytes":5,"parts":[]}`).is(201))
		wrong, bytes := partOf([]byte("wrong"), 1)
		old := h.sign(u.ID, wrong).Parts[0]
		if status := h.sendPart(old, bytes); status != 200 {
			t.Fatal(status)
		}
		right, _ := partOf(content, 1)
		signed := h.sign(u.ID, right)
		if len(signed.Held) != 0 || len(signed.Parts) != 1 {
			t.Fatalf("signed %+v", signed)
		}
		if status := h.sendPart(old, bytes); status != 403 && status != 404 {
			t.Errorf("the URL of what was dropped: %d", status)
		}
		if status := h.sendPart(signed.Parts[0], content); status != 200 {
			t.Error(status)
		}
		if done := into[api.UploadDone](h.post("/v1/uploads/"+u.ID+"/complete", h.submit, nil).is(200)); done.SHA256 != sum(content) {
			t.Errorf("completed with %s", done.SHA256)
		}
	})
}

// An upload whose URLs were bound to lengths takes digests from some part on; in
// a bucket it begins anew then, and has no URLs without digests any more.
func TestUploads_FromLengthsToDigests(t *testing.T) {
	content := noise(2*artifact.MinS3Part + 9)
	onBothStores(t, func(t *testing.T, h *httpServer) {
		u := into[api.UploadCreated](h.post("/v1/uploads", h.submit, api.UploadRequest{Name: "a", Bytes: int64(len(content))}).is(201))
		_, bytes := partOf(content, 1)
		if status := h.sendPart(u.Parts[0], bytes); status != 200 {
			t.Fatal(status)
		}
		second, bytes := partOf(content, 2)
		if status := h.sendPart(h.sign(u.ID, second).Parts[0], bytes); status != 200 {
			t.Fatal(status)
		}
		now := into[api.Upload](h.get("/v1/uploads/"+u.ID, h.submit).is(200))
		want := []int{1, 2}
		if h.srv.o.Blobs == nil {
			want = []int{2}
		}
		if !slices.Equal(now.Held, want) || (len(now.Parts) == 0) != (h.srv.o.Blobs == nil) || now.NextPart != nil {
			t.Errorf("held are %v, and URLs %+v", now.Held, now.Parts)
		}
		for n := 1; n <= 3; n++ {
			p, bytes := partOf(content, n)
			for _, to := range h.sign(u.ID, p).Parts {
				if status := h.sendPart(to, bytes); status != 200 {
					t.Error(n, status)
				}
			}
		}
		if done := into[api.UploadDone](h.post("/v1/uploads/"+u.ID+"/complete", h.submit, nil).is(200)); done.SHA256 != sum(content) {
			t.Errorf("completed with %s", done.SHA256)
		}
	})
}

func TestUploads_PartsThatCannotBeSigned(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.PartBytes = 4 })
	content := []byte("abcdef")
	announced := []api.Part{{Number: 1, Bytes: 4, SHA256: sum(content[:4])}, {Number: 2, Bytes: 2, SHA256: sum(content[4:])}}
	u := into[api.UploadCreated](h.post("/v1/uploads", h.submit, api.UploadRequest{Name: "a", Bytes: 6, Parts: announced}).is(201))
	at := "/v1/uploads/" + u.ID + "/parts"
	faults := func(body any) (at []string) {
		for _, f := range h.post("/v1/uploads/"+u.ID+"/parts", h.submit, body).refuses(422, "invalid_request").Errors {
			at = append(at, f.Location)
		}
		return at
	}
	other := sum([]byte("x"))
	got := faults(api.UploadParts{Parts: []api.Part{announced[0], announced[0], {Number: 2, Bytes: 4, SHA256: other}, {Number: 3, Bytes: 4, SHA256: other}}})
	if want := []string{"parts[1].number", "parts[2].bytes", "parts[2].sha256", "parts[3].number"}; !slices.Equal(got, want) {
		t.Errorf("faults at %v, want %v", got, want)
	}
	if got := faults(`{"parts":[{"number":0,"bytes":-1,"sha256":"ABC"}]}`); len(got) != 3 {
		t.Errorf("faults at %v", got)
	}
	faults(`{"parts":[]}`)
	faults(api.UploadParts{Parts: slices.Repeat(announced[:1], 257)})
	h.post("/v1/uploads/upl_0/parts", h.submit, api.UploadParts{Parts: announced}).refuses(404, "not_found")
	h.post(at, h.otherAccountSubmit, api.UploadParts{Parts: announced}).refuses(404, "not_found")
	h.post(at, h.read, api.UploadParts{Parts: announced}).refuses(403, "forbidden")
}

// meddler passes everything on to a server, but for one byte of the first PUT of
// part 2, and counts the bytes of all PUTs.
type meddler struct {
	url string

	mu      sync.Mutex
	spoilt  bool
	sent    int64
	refused int
}

func meddle(t *testing.T, to string) *meddler {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	m := &meddler{}
	pass := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host },
		ModifyResponse: func(r *http.Response) error {
			m.mu.Lock()
			defer m.mu.Unlock()
			if r.Request.Method == http.MethodPut && r.StatusCode >= 400 {
				m.refused++
			}
			return nil
		},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			m.spoil(r, body)
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	m.url = s.URL
	return m
}

func (m *meddler) spoil(r *http.Request, body []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent += int64(len(body))
	if q := r.URL.Query(); !m.spoilt && (q.Get("partNumber") == "2" || q.Get("part") == "2") {
		m.spoilt = true
		body[len(body)/2] ^= 1
	}
}

// A part that is damaged on its way is found at once, and sent again alone.
func TestClient_ADamagedPartAloneIsSentAgain(t *testing.T) {
	content := noise(3*artifact.MinS3Part + 9)
	source := filepath.Join(t.TempDir(), "film.mov")
	if err := os.WriteFile(source, content, 0o600); err != nil {
		t.Fatal(err)
	}
	upload := func(t *testing.T, h *httpServer, url string, m *meddler) {
		done, err := api.NewClient(url, h.submit, "test").Upload(t.Context(), source, func(int64) {})
		if err != nil || done.SHA256 != sum(content) {
			t.Fatalf("%+v, %v", done, err)
		}
		if want := int64(len(content) + artifact.MinS3Part); m.sent != want || m.refused != 1 {
			t.Errorf("%d bytes were sent and %d parts refused; want %d and one", m.sent, m.refused, want)
		}
	}
	t.Run("directory", func(t *testing.T) {
		h := mustServe(t, func(o *Options) { o.PartBytes = artifact.MinS3Part })
		m := meddle(t, h.url)
		upload(t, h, m.url, m)
	})
	t.Run("S3", func(t *testing.T) {
		bucket := artifacttest.StartS3(t).Options(t)
		m := meddle(t, bucket.Endpoint)
		bucket.PublicEndpoint = m.url
		h := mustServeBucket(t, bucket)
		upload(t, h, h.url, m)
	})
}
