package webtest

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Page is a tab of the browser. Its methods fail the test themselves, with
// what was on the page, and belong to the test's own goroutine.
type Page struct {
	t      testing.TB
	ctx    context.Context
	base   *url.URL
	look   settings
	faults *faults
	weight *weight
}

type settings struct {
	width, height int64
	scheme, zone  string
	still         bool
	cookies       []*http.Cookie
	now           time.Time
}

// Option says in what window a page is opened.
type Option func(*settings)

// Size is the window's, in CSS pixels; 1440×900 unless it is given.
func Size(width, height int64) Option {
	return func(s *settings) { s.width, s.height = width, height }
}

// Dark asks for the dark colours; light ones are the default.
func Dark(s *settings) { s.scheme = "dark" }

// ReducedMotion is what people ask for whom motion makes ill.
func ReducedMotion(s *settings) { s.still = true }

// Zone is the viewer's time zone; UTC unless it is given.
func Zone(name string) Option { return func(s *settings) { s.zone = name } }

// Cookies are those that the profile has from the beginning.
func Cookies(list ...*http.Cookie) Option { return func(s *settings) { s.cookies = list } }

// At is the time at which the page is opened, whatever the machine's clock
// says. It goes on from there.
func At(now time.Time) Option { return func(s *settings) { s.now = now } }

// Open loads address in a browser profile of its own: no cookies, no cache.
func Open(t testing.TB, address string, options ...Option) *Page {
	t.Helper()
	look := settings{width: 1440, height: 900, scheme: "light", zone: "UTC"}
	for _, option := range options {
		option(&look)
	}
	return open(t, address, look, chromedp.WithNewBrowserContext())
}

// Tab opens path in a second tab beside this one, with the same cookies.
func (p *Page) Tab(path string) *Page {
	p.t.Helper()
	profile := chromedp.FromContext(p.ctx).BrowserContextID
	return open(p.t, p.address(path), p.look, chromedp.WithExistingBrowserContext(profile))
}

func open(t testing.TB, address string, look settings, profile chromedp.ContextOption) *Page {
	t.Helper()
	if !mayStart {
		t.Fatal("webtest: TestMain does not call webtest.Main")
	}
	parent, err := chromium()
	if err != nil {
		t.Fatalf("Chromium does not start (make deps installs it): %v", err)
	}
	base, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	p := &Page{t: t, base: base, look: look, faults: newFaults(base.Host), weight: &weight{}}
	ctx, cancel := chromedp.NewContext(parent, profile,
		chromedp.WithListener(p.faults.hear), chromedp.WithListener(p.weight.hear))
	p.ctx = ctx
	t.Cleanup(func() {
		p.report()
		cancel()
	})
	p.do("open a tab", chromedp.Do(ctx))
	call(p, "listen", audits.Enable, struct{}{})
	p.answerDialogs()
	p.Resize(look.width, look.height)
	p.Colours(look.scheme)
	call(p, "set the time zone", emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: look.zone})
	for _, c := range look.cookies {
		call(p, "set a cookie", network.SetCookie, network.SetCookieParams{
			Name: c.Name, Value: c.Value, URL: address, HTTPOnly: &c.HttpOnly, SameSite: network.CookieSameSiteStrict,
		})
	}
	p.setClock()
	p.Go(address)
	return p
}

// Resize makes the window's inside so large.
func (p *Page) Resize(width, height int64) {
	p.t.Helper()
	p.look.width, p.look.height = width, height
	p.run("resize", chromedp.EmulateViewport(width, height))
}

// Colours switches between "light" and "dark".
func (p *Page) Colours(scheme string) {
	p.t.Helper()
	p.look.scheme = scheme
	motion := "no-preference"
	if p.look.still {
		motion = "reduce"
	}
	call(p, "choose colours", emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme},
			{Name: "prefers-reduced-motion", Value: motion},
		},
	})
}

func (p *Page) setClock() {
	p.t.Helper()
	if p.look.now.IsZero() {
		return
	}
	call(p, "set the clock", page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: fmt.Sprintf(`{
			const Real = Date, ahead = %d - Real.now();
			window.Date = class extends Real {
				constructor(...when) { when.length ? super(...when) : super(Real.now() + ahead); }
				static now() { return Real.now() + ahead; }
			};
		}`, p.look.now.UnixMilli()),
	})
}

// Go loads path of the server that Open named, or a whole address.
func (p *Page) Go(path string) {
	p.t.Helper()
	p.weight.reset()
	p.run("load "+path, chromedp.Navigate(p.address(path)))
}

// Reload loads the page again.
func (p *Page) Reload() {
	p.t.Helper()
	p.weight.reset()
	p.run("reload", chromedp.Reload())
}

// URL is the page's own address.
func (p *Page) URL() (url string) {
	p.t.Helper()
	p.Eval("location.href", &url)
	return url
}

// Offline cuts the page off from every server, or lets it back. Requests that
// are open already, such as a stream, go on.
func (p *Page) Offline(off bool) {
	p.t.Helper()
	call(p, "go offline", network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: off, DownloadThroughput: -1, UploadThroughput: -1}},
	})
	call(p, "go offline", network.OverrideNetworkState, network.OverrideNetworkStateParams{
		Offline: off, DownloadThroughput: -1, UploadThroughput: -1,
	})
}

func (p *Page) address(path string) string {
	to, err := p.base.Parse(path)
	if err != nil {
		p.t.Helper()
		p.t.Fatal(err)
	}
	return to.String()
}
