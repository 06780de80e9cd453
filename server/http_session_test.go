package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/store"
)

// mustLink asks for a sign-in link and gives its token.
func (h *httpServer) mustLink(key string) string {
	h.Helper()
	link := into[api.SignIn](h.post("/v1/sign-ins", key, nil).is(201))
	at, token, found := strings.Cut(link.URL, "#")
	if !found || !strings.HasSuffix(at, "/sign-in") {
		h.Fatalf("the link is %s", link.URL)
	}
	return token
}

// mustSignIn signs in by a key, and gives what the browser sends from then on.
func (h *httpServer) mustSignIn(key string) (cookie string) {
	h.Helper()
	return mustCookie(h.post("/session", "", api.SessionRequest{Key: key}).is(204))
}

func mustCookie(r reply) string {
	r.Helper()
	if len(r.Cookies()) != 1 || r.Cookies()[0].Value == "" {
		r.Fatalf("the answer has the cookies %v", r.Header["Set-Cookie"])
	}
	return r.Cookies()[0].Name + "=" + r.Cookies()[0].Value
}

// with sends a request as the dashboard does.
func (h *httpServer) with(cookie, method, path string, in any) reply {
	h.Helper()
	return h.do(method, path, "", in, "Cookie", cookie, "Origin", h.url)
}

func TestSession_ALinkSignsInAsTheKeyThatAsked(t *testing.T) {
	h := mustServe(t)
	token := h.mustLink(h.submit)
	cookie := mustCookie(h.post("/session", "", api.SessionRequest{Token: token}).is(204))
	job := h.mustSubmit(h.submit)
	h.with(cookie, "GET", "/v1/jobs/"+job.ID, nil).is(200)
	h.with(cookie, "PATCH", "/v1/jobs/"+job.ID, `{"priority":5}`).is(200)
	h.with(cookie, "GET", "/v1/keys", nil).refuses(403, "forbidden")
	p := h.post("/session", "", api.SessionRequest{Token: token}).refuses(403, "bad_sign_in")
	if !strings.Contains(p.Detail, "was used before") || !strings.Contains(p.Detail, "rendermac dashboard") {
		t.Errorf("a used link is refused with %q", p.Detail)
	}
	late := h.mustLink(h.read)
	h.clock.Advance(store.SignInTTL)
	if p := h.post("/session", "", api.SessionRequest{Token: late}).refuses(403, "bad_sign_in"); !strings.Contains(p.Detail, "older than 15 minutes") {
		t.Errorf("a late link is refused with %q", p.Detail)
	}
	if strings.Contains(h.log.String(), token) || strings.Contains(h.log.String(), cookie) {
		t.Error("the log has a secret")
	}
}

func TestSession_TheCookieIsForThisServerAlone(t *testing.T) {
	for name, c := range map[string]struct {
		publicURL string
		headers   []string
		cookie    string
		secure    bool
	}{
		"as it is":                 {"", nil, "", false},
		"an https public URL":      {"https://farm.example", nil, "", true},
		"an http public URL":       {"http://farm.example", nil, "", false},
		"by the public URL":        {"https://farm.example", []string{"Origin", "https://farm.example"}, "", true},
		"beside the public URL":    {"https://farm.example", []string{"Origin", "here"}, "", false},
		"a trusted proxy's scheme": {"", []string{"X-Forwarded-Proto", "https", "X-Forwarded-Host", "farm.example"}, "rendermac_443", true},
		"a trusted proxy's port":   {"", []string{"X-Forwarded-Host", "farm.example:8080"}, "rendermac_8080", false},
		"a host without a port":    {"", []string{"X-Forwarded-Host", "farm.example"}, "rendermac_80", false},
		"a host that is none":      {"", []string{"X-Forwarded-Host", "x:1;Domain=evil"}, "rendermac_80", false},
	} {
		t.Run(name, func(t *testing.T) {
			h := mustServe(t, func(o *Options) { o.PublicURL, o.TrustedProxies = c.publicURL, []string{"127.0.0.0/8"} })
			for i := range c.headers {
				c.headers[i] = strings.Replace(c.headers[i], "here", h.url, 1)
			}
			r := h.do("POST", "/session", "", api.SessionRequest{Key: h.admin}, c.headers...).is(204)
			mustCookie(r)
			got, want := r.Cookies()[0], c.cookie
			if want == "" {
				want = "rendermac_" + h.url[strings.LastIndexByte(h.url, ':')+1:]
			}
			if got.Name != want || !got.HttpOnly || got.SameSite != http.SameSiteStrictMode || got.Path != "/" || got.Domain != "" || got.Secure != c.secure || got.MaxAge != int(store.SessionTTL/time.Second) {
				t.Errorf("the cookie is %s, want %s, secure %v", got.Raw, want, c.secure)
			}
		})
	}
}

// What another site makes a browser send is refused before anything is done.
func TestSession_CrossSiteRequestsAreRefused(t *testing.T) {
	h := mustServe(t)
	job := h.mustSubmit(h.submit)
	cookie := h.mustSignIn(h.submit)
	for _, origin := range []string{"", "null", "http://evil.example", "https" + strings.TrimPrefix(h.url, "http"), "http://127.0.0.1", h.url + "/", h.url + ".evil.example", "http://localhost" + h.url[strings.LastIndexByte(h.url, ':'):]} {
		for _, c := range []struct{ method, path, body string }{
			{"POST", "/v1/jobs/" + job.ID + "/cancel", ""},
			{"PATCH", "/v1/jobs/" + job.ID, `{"priority":5}`},
			{"DELETE", "/session", ""},
			{"POST", "/session", `{"key":"` + h.read + `"}`},
		} {
			headers := []string{"Cookie", cookie}
			if origin != "" {
				headers = append(headers, "Origin", origin)
			}
			p := h.do(c.method, c.path, "", []byte(c.body), headers...).refuses(403, "forbidden")
			if !strings.Contains(p.Detail, h.url) {
				t.Errorf("%s %s from %q is refused with %q, which does not say what would be right", c.method, c.path, origin, p.Detail)
			}
		}
		if origin != "" { // someone who is not signed in yet is signed in by no other site
			h.do("POST", "/session", "", api.SessionRequest{Key: h.read}, "Origin", origin).refuses(403, "forbidden")
		}
	}
	for _, site := range []string{"cross-site", "same-site", "none"} { // whatever the Host header has made of the Origin
		h.do("POST", "/v1/jobs/"+job.ID+"/cancel", "", nil, "Cookie", cookie, "Origin", h.url, "Sec-Fetch-Site", site).refuses(403, "forbidden")
	}
	h.do("PATCH", "/v1/jobs/"+job.ID, "", `{"priority":0}`, "Cookie", cookie, "Origin", h.url, "Sec-Fetch-Site", "same-origin").is(200)
	if j := into[api.Job](h.get("/v1/jobs/"+job.ID, h.submit).is(200)); j.Status != api.JobQueued || j.Priority != 0 {
		t.Errorf("the job is %s with priority %d", j.Status, j.Priority)
	}
	h.with(cookie, "GET", "/v1/jobs", nil).is(200)
}

// Behind a proxy that rewrites the host, the public URL is the dashboard's origin,
// and so is the address that this machine uses.
func TestSession_OriginsThatAreOurs(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.PublicURL = "https://Farm.example:443/render" })
	cookie := h.mustSignIn(h.admin)
	for origin, status := range map[string]int{"https://farm.example": 201, h.url: 201, "https://farm.example:8443": 403, "http://farm.example": 403} {
		h.do("POST", "/v1/pairings", "", nil, "Cookie", cookie, "Origin", origin).is(status)
	}
}

func TestSession_SignsOut(t *testing.T) {
	h := mustServe(t)
	cookie, other := h.mustSignIn(h.read), h.mustSignIn(h.read)
	for range 2 {
		r := h.with(cookie, "DELETE", "/session", nil).is(204)
		if got := r.Cookies(); len(got) != 1 || got[0].MaxAge >= 0 || got[0].Value != "" || !strings.HasPrefix(cookie, got[0].Name+"=") {
			t.Errorf("the cookie is not taken back: %v", r.Header["Set-Cookie"])
		}
	}
	h.with(cookie, "GET", "/v1/jobs", nil).refuses(401, "unauthenticated")
	h.with(other, "GET", "/v1/jobs", nil).is(200)
	h.do("DELETE", "/session", "", nil).is(204)
}

// What the browser has forgotten works no more for whoever has seen it.
func TestSession_SigningInAnewEndsTheOneBefore(t *testing.T) {
	h := mustServe(t)
	before, other := h.mustSignIn(h.read), h.mustSignIn(h.read)
	h.with(before, "POST", "/session", api.SessionRequest{Key: "rm_wrong"}).is(401)
	h.with(before, "GET", "/v1/jobs", nil).is(200)
	now := mustCookie(h.with(before, "POST", "/session", api.SessionRequest{Token: h.mustLink(h.admin)}).is(204))
	h.with(before, "GET", "/v1/jobs", nil).refuses(401, "unauthenticated")
	h.with(other, "GET", "/v1/jobs", nil).is(200)
	h.with(now, "GET", "/v1/keys", nil).is(200)
}

func TestSession_NothingOfItIsCached(t *testing.T) {
	h := mustServe(t)
	cookie := h.mustSignIn(h.read)
	for _, r := range []reply{
		h.with(cookie, "GET", "/", nil), h.with(cookie, "GET", "/sign-in", nil), h.with(cookie, "GET", "/v1/jobs", nil),
		h.with(cookie, "GET", "/settings/accounts/acc_0", nil), h.with(cookie, "POST", "/session", api.SessionRequest{Key: h.read}), h.with(cookie, "DELETE", "/session", nil),
	} {
		if got := r.Header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s is answered with Cache-Control %q", r.Request.URL.Path, got)
		}
	}
	if got := h.get("/", "").is(303).Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("the way to the sign-in page has Cache-Control %q", got)
	}
}

func TestSession_EndsWithItsKeyAndAfterThirtyDays(t *testing.T) {
	h := mustServe(t)
	k := into[api.KeyCreated](h.post("/v1/keys", h.admin, api.KeyRequest{Name: "x", AccountID: h.account, Scope: "read"}).is(201))
	cookie, stays := h.mustSignIn(k.Plaintext), h.mustSignIn(h.read)
	h.with(cookie, "GET", "/v1/jobs", nil).is(200)
	h.do("DELETE", "/v1/keys/"+k.ID, h.admin, nil).is(204)
	h.with(cookie, "GET", "/v1/jobs", nil).refuses(401, "unauthenticated")
	h.with(stays, "GET", "/v1/jobs", nil).is(200)
	h.clock.Advance(store.SessionTTL)
	if p := h.with(stays, "GET", "/v1/jobs", nil).refuses(401, "unauthenticated"); !strings.Contains(p.Detail, "sign in again") {
		t.Errorf("an expired session is refused with %q", p.Detail)
	}
}

// A tab that was left open goes on asking; that is no guessing.
func TestSession_OneThatHasEndedLocksNobodyOut(t *testing.T) {
	h := mustServe(t)
	for range 2 * maxWrongKeys {
		h.do("GET", "/v1/jobs", "", nil, "Cookie", strings.Replace(h.mustSignIn(h.read), "=rms_", "=rms_x", 1)).refuses(401, "unauthenticated")
	}
	h.get("/v1/jobs", "rm_wrong").refuses(401, "unauthenticated")
}

func TestSession_AKeyInTheHeaderSpeaksForItself(t *testing.T) {
	h := mustServe(t)
	cookie := h.mustSignIn(h.admin)
	h.do("GET", "/v1/keys", h.read, nil, "Cookie", cookie).refuses(403, "forbidden")
	h.do("GET", "/v1/jobs", "rm_wrong", nil, "Cookie", cookie).refuses(401, "unauthenticated")
	job := h.mustSubmit(h.submit)
	h.do("PATCH", "/v1/jobs/"+job.ID, h.submit, `{"priority":5}`, "Cookie", cookie).is(200) // a program needs no Origin
}

// Whoever had got hold of a session could otherwise outlive its end.
func TestSession_MakesNoSignInLinks(t *testing.T) {
	h := mustServe(t)
	h.with(h.mustSignIn(h.admin), "POST", "/v1/sign-ins", nil).refuses(403, "forbidden")
}

func TestSession_WrongSignInsAreSlowedDown(t *testing.T) {
	for name, c := range map[string]struct {
		in     api.SessionRequest
		status int
		code   string
	}{
		"keys":  {api.SessionRequest{Key: "rm_wrong"}, 401, "unauthenticated"},
		"links": {api.SessionRequest{Token: "rml_wrong"}, 403, "bad_sign_in"},
	} {
		t.Run(name, func(t *testing.T) {
			h := mustServe(t)
			for range maxWrongKeys {
				h.post("/session", "", c.in).refuses(c.status, c.code)
			}
			no := h.post("/session", "", c.in)
			no.refuses(429, "too_many_requests")
			if no.Header.Get("Retry-After") == "" {
				t.Error("it is not said how long to wait")
			}
			h.get("/v1/jobs", "rm_wrong").refuses(429, "too_many_requests") // one count for all that is wrong
			h.mustSignIn(h.read)
			h.post("/session", "", api.SessionRequest{Token: h.mustLink(h.read)}).is(204)
		})
	}
}

func TestSession_TakesOneOfTheTwo(t *testing.T) {
	h := mustServe(t)
	for _, in := range []string{`{}`, fmt.Sprintf(`{"key":%q,"token":"x"}`, h.read), `{"key":"","token":""}`} {
		h.post("/session", "", in).refuses(422, "invalid_request")
	}
	h.post("/session", "", api.SessionRequest{Key: h.revoked}).refuses(401, "unauthenticated")
}
