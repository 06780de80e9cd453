package webtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// run takes one step, which may take as long as Patience.
func (p *Page) run(what string, step chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	p.do(what, chromedp.Do(ctx, step))
}

func (p *Page) do(what string, err error) {
	p.t.Helper()
	if err != nil {
		p.fail("%s: %v", what, err)
	}
}

// call sends one command of the browser's protocol.
func call[P, R any](p *Page, what string, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	result, err := chromedp.Call(ctx, command, params)
	p.do(what, err)
	return result
}

// Eval runs a JavaScript expression in the page, waits for it if it is a
// promise, and decodes what it gives into out, unless that is nil.
func (p *Page) Eval(js string, out any) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	raw, err := chromedp.Run(ctx, chromedp.Evaluate[[]byte](js, chromedp.EvalAwaitPromise, chromedp.EvalAsValue))
	if err == nil && out != nil {
		err = json.Unmarshal(raw, out)
	}
	p.do("evaluate "+js, err)
}

// fail ends the test, and says what was on the page.
func (p *Page) fail(format string, args ...any) {
	p.t.Helper()
	p.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), p.shown())
}

// shown is what there is to see, for a page that may have stopped to answer.
// `go test -artifacts` keeps a picture of it.
func (p *Page) shown() string {
	ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + (document.body?.innerText ?? "")`))
	if err != nil {
		return "The page does not say what is on it: " + err.Error()
	}
	if picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot()); err == nil {
		os.WriteFile(filepath.Join(p.t.ArtifactDir(), "failed.png"), picture, 0o644)
	}
	if len(text) > 4000 {
		text = text[:4000] + "…"
	}
	said := p.faults.unexpected()
	if len(said) > 0 {
		text += "\nIt complained:\n" + strings.Join(said, "\n")
	}
	return "On the page " + text
}
