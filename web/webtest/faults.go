package webtest

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// faults is what a page complained of: each is a line, and fails the test
// unless a pattern announces it.
type faults struct {
	mu       sync.Mutex
	own      string
	requests map[network.RequestID]string
	lines    []string
	expected []*regexp.Regexp
}

func newFaults(host string) *faults {
	return &faults{own: host, requests: map[network.RequestID]string{}}
}

// Expect announces complaints that match pattern, whether they come or not:
// console lines, exceptions, breaches of the CSP, answers from 400 on, requests
// that fail or go to another host, and dialogs.
func (p *Page) Expect(pattern string) {
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	p.faults.expected = append(p.faults.expected, regexp.MustCompile(pattern))
}

func (f *faults) add(format string, args ...any) {
	f.lines = append(f.lines, fmt.Sprintf(format, args...))
}

func (f *faults) unexpected() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.lines), func(line string) bool {
		return slices.ContainsFunc(f.expected, func(r *regexp.Regexp) bool { return r.MatchString(line) })
	})
}

// report fails the test for what the page complained of. The browser sends
// what happened in order: once it has answered, all of it is here.
func (p *Page) report() {
	ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
	defer cancel()
	chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void]("0"))
	for _, line := range p.faults.unexpected() {
		p.t.Errorf("the page complained: %s", line)
	}
}

// hear runs where the tab's events are read: it must not ask the tab anything.
func (f *faults) hear(event any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		switch e.Type {
		case "error", "warning", "assert":
			f.add("console.%s: %s", e.Type, words(e.Args))
		}
	case *runtime.EventExceptionThrown:
		f.add("exception: %s", thrown(e.ExceptionDetails))
	case *log.EventEntryAdded:
		// What the network did is heard below, with the method.
		if e.Entry.Source != "network" && e.Entry.Source != "security" && (e.Entry.Level == "error" || e.Entry.Level == "warning") {
			f.add("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *audits.EventIssueAdded:
		if csp := e.Issue.Details.ContentSecurityPolicyIssueDetails; csp != nil {
			f.add("CSP: %s against %s %s", csp.ContentSecurityPolicyViolationType, csp.ViolatedDirective, csp.BlockedURL)
		}
	case *page.EventJavascriptDialogOpening:
		f.add("dialog %s: %s", e.Type, e.Message)
	default:
		f.network(event)
	}
}

func (f *faults) network(event any) {
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		f.requests[e.RequestID] = e.Request.Method + " " + e.Request.URL
		to, err := url.Parse(e.Request.URL)
		if err != nil || strings.HasPrefix(to.Scheme, "http") && to.Host != f.own {
			f.add("another host: %s", f.requests[e.RequestID])
		}
	case *network.EventResponseReceived:
		if e.Response.Status >= 400 {
			f.add("%s answered %d", f.requests[e.RequestID], e.Response.Status)
		}
	case *network.EventLoadingFailed:
		// Whoever leaves a page, or a film, ends what it still loads.
		if !e.Canceled && e.ErrorText != "net::ERR_ABORTED" {
			f.add("%s failed: %s %s", f.requests[e.RequestID], e.ErrorText, e.BlockedReason)
		}
	}
}

func words(args []*runtime.RemoteObject) string {
	var said []string
	for _, arg := range args {
		if arg.Description != "" {
			said = append(said, arg.Description)
		} else {
			said = append(said, strings.Trim(string(arg.Value), `"`))
		}
	}
	return strings.Join(said, " ")
}

func thrown(d *runtime.ExceptionDetails) string {
	text := d.Text
	if d.Exception != nil {
		text += " " + words([]*runtime.RemoteObject{d.Exception})
	}
	return fmt.Sprintf("%s (%s:%d)", text, d.URL, d.LineNumber+1)
}

// answerDialogs says yes to alert, confirm and "leave this page?", each of
// which holds the page until it is answered.
func (p *Page) answerDialogs() {
	dialogs := chromedp.Events(p.ctx, page.JavascriptDialogOpening)
	go func() {
		for _, err := range dialogs {
			if err != nil {
				return
			}
			chromedp.Call(p.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}
	}()
}
