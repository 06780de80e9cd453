package webtest

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/chromedp"
)

//go:embed find.js
var finding string

// await asks look, a JavaScript expression for {found} or {why}, until it has
// found something. It asks inside the page, for a second at a time, and goes
// on in the next page if this one is left meanwhile.
func (p *Page) await(what, look string, out any) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	question := fmt.Sprintf("(() => {%s\nreturn until(() => (%s), 1000)})()", finding, look)
	why := "the page did not answer"
	for {
		answer, err := chromedp.Run(ctx, chromedp.Evaluate[struct {
			Found json.RawMessage
			Why   string
		}](question, chromedp.EvalAwaitPromise))
		switch {
		case err == nil && answer.Found != nil:
			if out != nil {
				p.do(what, json.Unmarshal(answer.Found, out))
			}
			return
		case ctx.Err() != nil:
			p.fail("%s: after %s, %s", what, Patience, why)
		case err == nil:
			why = answer.Why
		case !left(err):
			p.fail("%s: %v", what, err)
		}
	}
}

// left tells a page that was left while it was asked from a mistake.
func left(err error) bool {
	var e *cdproto.Error
	if !errors.As(err, &e) {
		return false
	}
	for _, sign := range []string{"navigated or closed", "context was destroyed", "Cannot find", "Promise was collected"} {
		if strings.Contains(e.Message, sign) {
			return true
		}
	}
	return false
}

// js is v as JavaScript says it.
func js(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// WaitFor waits until something that css selects can be seen.
func (p *Page) WaitFor(css string) {
	p.t.Helper()
	p.await("wait for "+css, fmt.Sprintf(
		`[...document.querySelectorAll(%s)].some(visible) ? {found: true} : {why: "nothing of it is visible"}`, js(css)), nil)
}

// WaitText waits until text can be read on the page; it may be part of a line.
func (p *Page) WaitText(text string) {
	p.t.Helper()
	p.await("wait for the text "+js(text), fmt.Sprintf(
		`words(document.body.innerText).includes(words(%s)) ? {found: true} : {why: "it is not there"}`, js(text)), nil)
}

// WaitGone waits until nothing that css selects, and nothing called so, can
// be seen.
func (p *Page) WaitGone(wanted string) {
	p.t.Helper()
	p.await("wait until it is gone: "+wanted, fmt.Sprintf(
		`(e => e ? {why: "there is still " + e.outerHTML.slice(0, 200)} : {found: true})(find(%s).find(visible))`, js(wanted)), nil)
}

// WaitPath waits until the page at path (with its query, if it has one) is
// there and loaded.
func (p *Page) WaitPath(path string) {
	p.t.Helper()
	p.await("wait for "+path, fmt.Sprintf(
		`location.pathname + location.search === %s && document.readyState === "complete" ? {found: true} : {why: "the page is " + location.pathname + location.search}`,
		js(path)), nil)
}

// Until waits until a JavaScript expression is true.
func (p *Page) Until(condition string) {
	p.t.Helper()
	p.await("wait until "+condition, fmt.Sprintf(`(%s) ? {found: true} : {why: "it is not so"}`, condition), nil)
}

// Text waits for the first element that css selects and gives its text.
func (p *Page) Text(css string) (text string) {
	p.t.Helper()
	p.await("read "+css, fmt.Sprintf(
		`(e => e ? {found: (e.value ?? e.innerText ?? e.textContent).trim()} : {why: "there is none"})(document.querySelector(%s))`, js(css)), &text)
	return text
}

// Count is how many elements css selects now.
func (p *Page) Count(css string) (n int) {
	p.t.Helper()
	p.Eval(fmt.Sprintf("document.querySelectorAll(%s).length", js(css)), &n)
	return n
}
