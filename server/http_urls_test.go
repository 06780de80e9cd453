package server

import (
	"net/http/httptest"
	"strings"
	"testing"

	"rendermac/api"

	"github.com/labstack/echo/v4"
)

func TestURLs_Base(t *testing.T) {
	cases := []struct {
		name, public, peer string
		headers            map[string]string
		want               string
	}{
		{"from the request", "", "198.51.100.7:1", nil, "http://mac.local:7420"},
		{"public_url wins", "https://render.example/media/", "10.0.0.9:1", map[string]string{"X-Forwarded-Host": "x"}, "https://render.example/media"},
		{"a stranger is not believed", "", "198.51.100.7:1", map[string]string{"X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.example"}, "http://mac.local:7420"},
		{"loopback is no proxy by itself", "", "127.0.0.1:1", map[string]string{"X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.example"}, "http://mac.local:7420"},
		{"a trusted proxy is", "", "10.0.0.9:1", map[string]string{"X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.example, render.example"}, "https://render.example"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := &Server{o: Options{PublicURL: c.public}}
			e := echo.New()
			if err := trustProxies(e, []string{"10.0.0.0/8", "2001:db8::/32"}); err != nil {
				t.Fatal(err)
			}
			got := ""
			e.GET("/", func(c echo.Context) error { got = s.base(c); return nil })
			r := httptest.NewRequest("GET", "http://mac.local:7420/", nil)
			r.RemoteAddr = c.peer
			for name, value := range c.headers {
				r.Header.Set(name, value)
			}
			e.ServeHTTP(httptest.NewRecorder(), r)
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestURLs_ProxyThatIsNoNetwork(t *testing.T) {
	err := trustProxies(echo.New(), []string{"home"})
	if err == nil || !strings.Contains(err.Error(), `"home"`) {
		t.Errorf("got %v", err)
	}
}

func TestURLs_PartsHavePublicURL(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.PublicURL = "https://render.example/" })
	u := into[api.UploadCreated](h.post("/v1/uploads", h.submit, `{"name":"a","bytes":1}`).is(201))
	if !strings.HasPrefix(u.Parts[0].URL, "https://render.example/v1/blobs/uploads/"+u.ID) {
		t.Errorf("the part's URL is %s", u.Parts[0].URL)
	}
}
