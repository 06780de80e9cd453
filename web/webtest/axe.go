package webtest

import (
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// axe is axe-core, which scripts/axe.sh fetches into a cache folder.
var axe = sync.OnceValues(func() (string, error) {
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(home, ".cache")
	}
	text, err := os.ReadFile(filepath.Join(cache, "rendermac-test", "axe-core-4.11.4.js"))
	return string(text), err
})

const judge = `axe.run(document, {
	runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"], resultTypes: ["violations"],
}).then(result => result.violations.flatMap(v => v.nodes.map(n =>
	v.id + " at " + n.target.join(" ") + ": " + v.help + ". " + n.failureSummary + " (" + v.helpUrl + ")\n\t" + n.html.slice(0, 300))))`

// Axe fails for what axe-core finds against WCAG 2.1 A and AA and its own best
// practice. It judges from a JavaScript world of its own: the page's scripts
// see nothing of it, and the page's CSP does not hold it.
func (p *Page) Axe() {
	p.t.Helper()
	text, err := axe()
	if err != nil {
		p.t.Fatalf("axe-core is not there (make deps fetches it): %v", err)
	}
	frames := call(p, "find the frame", page.GetFrameTree, struct{}{})
	world := call(p, "make a world for axe", page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{
		FrameID: frames.FrameTree.Frame.ID, WorldName: "axe",
	})
	within := func(e *runtime.EvaluateParams) { e.ContextID = world.ExecutionContextID }
	p.run("load axe", chromedp.Evaluate[chromedp.Void](text, within))
	found, err := chromedp.Run(p.ctx, chromedp.Evaluate[[]string](judge, within, chromedp.EvalAwaitPromise))
	p.do("run axe", err)
	if len(found) > 0 {
		p.t.Errorf("%s (%s, %d px): %s", p.URL(), p.look.scheme, p.look.width, strings.Join(found, "\n"))
	}
}
