package webtest

import (
	"os"
	"path/filepath"

	"github.com/chromedp/chromedp"
)

// Screenshot writes the whole page as a PNG. The window is made as tall as
// the page for it, so that what sticks to its edge is seen once, at the edge.
func (p *Page) Screenshot(file string) {
	p.t.Helper()
	width, height := p.look.width, p.look.height
	var tall int64
	p.Eval("document.documentElement.scrollHeight", &tall)
	p.run("make the window tall", chromedp.EmulateViewport(width, max(tall, height)))
	defer p.Resize(width, height)
	picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	p.do("take a picture", err)
	p.do("keep the picture", os.MkdirAll(filepath.Dir(file), 0o755))
	p.do("keep the picture", os.WriteFile(file, picture, 0o644))
}

// Fits fails where the page is wider than its window.
func (p *Page) Fits() {
	p.t.Helper()
	var wide []string
	p.Eval(`(() => {
		const width = document.documentElement.clientWidth;
		if (document.documentElement.scrollWidth <= width) return [];
		return [document.documentElement.scrollWidth + " px in a window of " + width,
			...[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > width + 0.5)
				.slice(0, 8).map(e => e.outerHTML.slice(0, 160))];
	})()`, &wide)
	for _, line := range wide {
		p.t.Errorf("%s is wider than the window: %s", p.URL(), line)
	}
}
