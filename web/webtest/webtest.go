// Package webtest drives a real Chromium from tests of the dashboard. A page
// is opened with Open, used as a person would use it, and fails its test for
// whatever it complains of that the test has not announced with Expect:
//
//	func TestMain(m *testing.M) { os.Exit(webtest.Main(m)) }
//
//	page := webtest.Open(t, url+"/sign-in", webtest.Dark)
//	page.Type("#key", key)
//	page.Click("Sign in")
//	page.WaitText("No Macs yet")
//	page.Axe()
package webtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Patience is how long each step may take: much, for a busy machine.
const Patience = 60 * time.Second

var (
	mayStart bool
	closers  []func()
)

// Main runs a package's tests and closes the browser if any of them opened
// it, with its folder. Every package that calls Open calls this in TestMain.
func Main(m *testing.M) int {
	mayStart = true
	code := m.Run()
	for _, closer := range closers {
		closer()
	}
	return code
}

// browser is the one browser of this test process. The folder of its profile
// is made by chromedp under TMPDIR, which removes it too.
var browser = sync.OnceValues(func() (context.Context, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("lang", "en-US"),
		chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("font-render-hinting", "none"),
	)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	closers = append(closers, cancel)
	ctx, _ = chromedp.NewContext(ctx)
	if err := chromedp.Do(ctx); err != nil {
		return nil, err
	}
	closers = append([]func(){func() { closeBrowser(ctx) }}, closers...)
	return ctx, nil
})

func closeBrowser(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	chromedp.Cancel(ctx)
}
