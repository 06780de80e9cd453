package webtest

import (
	"context"
	"net/url"
	"testing"

	"github.com/chromedp/cdproto/audits"
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
	look := p.look
	look.cookies = nil // the profile has them, as they are by now
	return open(p.t, p.address(path), look, chromedp.WithExistingBrowserContext(profile))
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
	p.furnish(address)
	p.Go(address)
	return p
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

func (p *Page) address(path string) string {
	to, err := p.base.Parse(path)
	if err != nil {
		p.t.Helper()
		p.t.Fatal(err)
	}
	return to.String()
}
