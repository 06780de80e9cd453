package webtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"rendermac/api"
)

func TestSignIn_ByALinkThatWorksOnce(t *testing.T) {
	s := mustStudio(t)
	link := strings.TrimSpace(s.mustRun(s.home, "dashboard"))
	page := Open(t, link)
	page.WaitPath("/")
	page.Until(`location.hash === "" && document.cookie === ""`) // no script reads the session
	page.WaitPath("/")

	again := Open(t, link)
	again.Expect("POST .*/session answered 403")
	again.WaitText("This sign-in link was used before, and works once: make another with rendermac dashboard.")
	again.Until(`location.hash === ""`)
	again.WaitGone("Stay signed in")
	again.Axe()
	again.Fits()
	again.Expect("POST .*/session answered 401")
	again.Type("#key", "rm_wrong")
	again.Press("Enter")
	again.WaitText("This API key is unknown or was revoked")
	again.Type("#key", " "+s.key+" ")
	again.Click("Sign in")
	again.WaitPath("/")
}

func TestSignIn_LeadsBackToWhereOneWasGoing(t *testing.T) {
	s := mustStudio(t)
	page := Open(t, s.url+"/jobs?status=failed")
	page.WaitPath("/sign-in?next=%2Fjobs%3Fstatus%3Dfailed")
	page.Type("#key", s.key)
	page.Press("Enter")
	page.WaitPath("/jobs?status=failed")
	page.Go("/sign-in?next=/devices")
	page.WaitPath("/devices")
	page.Go("/sign-in")
	page.WaitPath("/")
}

// Whatever an address asks for, the next page is one of ours.
func TestSignIn_LeadsToNoOtherSite(t *testing.T) {
	s := mustStudio(t)
	page := s.open("/")
	for _, next := range []string{"//evil.example/", `/\evil.example/`, "/\t/evil.example/", "https://evil.example/", "javascript:alert(1)", "/.//evil.example/", "//[", "evil"} {
		page.Go("/sign-in?next=" + url.QueryEscape(next))
		page.WaitPath("/")
	}
}

// Whoever sends a link to somebody who is signed in does not get them to work in the
// sender's account unawares.
func TestSignIn_ALinkAsksWhoeverIsSignedIn(t *testing.T) {
	s := mustStudio(t)
	key, err := s.client.CreateKey(t.Context(), api.KeyRequest{Name: "wall screen", AccountID: s.account(), Scope: "read"})
	must(t, err)
	link := strings.TrimSpace(s.mustRun(s.home, "dashboard"))
	page := s.openAs(key.Plaintext, "/")
	page.Go(link)
	page.WaitText("You are signed in already, with the key wall screen.")
	page.Axe()
	page.Click("Stay signed in")
	page.WaitPath("/")
	page.WaitText("wall screen")
	page.Go(link)
	page.Click("Use the link")
	page.WaitPath("/")
	page.WaitText("first start")
}

// A session that no cookie comes of leads in no circle.
func TestSignIn_SaysThatTheBrowserKeepsNoCookie(t *testing.T) {
	s := mustStudio(t)
	s = s.through(func(r *http.Response) { r.Header.Del("Set-Cookie") })
	page := Open(t, s.url+"/sign-in")
	page.Type("#key", s.key)
	page.Press("Enter")
	page.WaitText("this browser has not kept it")
}

// A link on another site arrives without the cookie, which is SameSite=Strict; no
// one has to sign in again for that.
func TestSignIn_ALinkOnAnotherSiteAsksForNoKey(t *testing.T) {
	s := mustStudio(t)
	page := s.open("/")
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>A wiki</title><link rel="icon" href="data:,"><a href="%s/devices">Our Macs</a>`, s.url)
	}))
	t.Cleanup(other.Close)
	page.Expect("another host")
	page.Go(strings.Replace(other.URL, "127.0.0.1", "localhost", 1)) // another site to a browser; another port is none
	page.Click("Our Macs")
	page.WaitPath("/devices")
	page.WaitGone("#sign-in")
}

func TestSignIn_SignsOutInEveryTab(t *testing.T) {
	s := mustStudio(t)
	page := s.open("/")
	tab := page.Tab("/devices")
	tab.WaitPath("/devices")
	for _, p := range []*Page{page, tab} {
		p.Expect("answered 401") // of what was under way
	}
	page.Click(".account summary")
	page.Click("Sign out")
	page.WaitPath("/sign-in")
	page.WaitFor("#key")
	tab.WaitPath("/sign-in?next=%2Fdevices")
	tab.WaitText("You are signed out here")
	page.Eval("history.back()", nil) // no page of before is kept
	page.WaitPath("/sign-in?next=%2F")
}

func TestSignIn_SaysThatTheServerIsAway(t *testing.T) {
	s := mustStudio(t)
	page := Open(t, s.url+"/sign-in")
	page.WaitFor("#key")
	page.Expect("ERR_")
	page.Offline(true)
	page.Type("#key", s.key)
	page.Press("Enter")
	page.WaitText("The server does not answer.")
	page.Offline(false)
	page.Click("Sign in")
	page.WaitPath("/")
}
