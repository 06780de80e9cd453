package webtest

import (
	"context"
	"path/filepath"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

// Download clicks what is called wanted, and gives the path of the file that
// the browser keeps for it, under the name that the server gave it.
func (p *Page) Download(wanted string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	tab, folder := chromedp.FromContext(p.ctx), p.t.TempDir()
	_, err := chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder, EventsEnabled: new(true),
		BrowserContextID: tab.BrowserContextID,
	})
	p.do("allow downloads", err)
	begun, progress := chromedp.BrowserEvents(ctx, browser.DownloadWillBegin), chromedp.BrowserEvents(ctx, browser.DownloadProgress)
	p.Click(wanted)
	var id, name string
	for e, err := range begun {
		p.do("wait for the download of "+wanted, err)
		if string(e.FrameID) == string(tab.Target.TargetID) { // the browser tells of every tab's
			id, name = e.GUID, e.SuggestedFilename
			break
		}
	}
	for e, err := range progress {
		p.do("wait for the end of the download of "+wanted, err)
		if e.GUID == id && e.State == browser.DownloadProgressStateCanceled {
			p.fail("the download of %s was broken off", wanted)
		}
		if e.GUID == id && e.State == browser.DownloadProgressStateCompleted {
			break
		}
	}
	return filepath.Join(folder, name)
}

// Clipboard is the text that was copied last.
func (p *Page) Clipboard() (text string) {
	p.t.Helper()
	_, err := chromedp.CallBrowser(p.ctx, browser.SetPermission, browser.SetPermissionParams{
		Permission: &browser.PermissionDescriptor{Name: "clipboard-read"}, Setting: browser.PermissionSettingGranted,
		BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID,
	})
	p.do("allow the clipboard", err)
	p.Eval("navigator.clipboard.readText()", &text)
	return text
}
