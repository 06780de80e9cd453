package webtest

import (
	"fmt"
	"net/http"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

type settings struct {
	width, height int64
	scheme, zone  string
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

// Zone is the viewer's time zone; UTC unless it is given.
func Zone(name string) Option { return func(s *settings) { s.zone = name } }

// Cookies are those that the profile has from the beginning.
func Cookies(list ...*http.Cookie) Option { return func(s *settings) { s.cookies = list } }

// At is the time at which the page is opened, whatever the machine's clock
// says. It goes on from there.
func At(now time.Time) Option { return func(s *settings) { s.now = now } }

// furnish makes the window, and the world around it, what was asked for.
func (p *Page) furnish(address string) {
	p.t.Helper()
	p.Resize(p.look.width, p.look.height)
	p.Colours(p.look.scheme)
	call(p, "set the time zone", emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: p.look.zone})
	for _, c := range p.look.cookies {
		call(p, "set a cookie", network.SetCookie, network.SetCookieParams{
			Name: c.Name, Value: c.Value, URL: address, HTTPOnly: &c.HttpOnly, SameSite: network.CookieSameSiteStrict,
		})
	}
	p.setClock()
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
	call(p, "choose colours", emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme},
			{Name: "prefers-reduced-motion", Value: "no-preference"}, // whatever the machine's owner has set
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

// Slow lets the page send no more than so many bytes a second; 0 lifts that.
func (p *Page) Slow(upload float64) {
	p.t.Helper()
	if upload == 0 {
		upload = -1
	}
	call(p, "slow down", network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{DownloadThroughput: -1, UploadThroughput: upload}},
	})
}
