package webtest

import "testing"

func TestFrame_IsLeftByKeysAndLeadsEverywhere(t *testing.T) {
	s := mustStudio(t)
	page := s.open("/")
	page.WaitText("live")
	for _, to := range []struct{ key, path string }{{"j", "/jobs"}, {"d", "/devices"}, {"s", "/settings"}, {"o", "/"}} {
		page.Press("g", to.key)
		page.WaitPath(to.path)
		page.WaitFor(`.rail a[aria-current]`)
		page.WaitText("live")
	}
	page.Press("n")
	page.WaitPath("/new")
	page.WaitText("live")
	page.Press("?")
	page.WaitFor("dialog#keys[open]")
	page.Press("Escape")
	page.Press("/")
	page.Until(`document.activeElement.id === "search"`)
}

func TestFrame_SaysThatItIsStaleAndComesBackByItself(t *testing.T) {
	s := mustStudio(t)
	page := s.open("/")
	page.WaitText("live")
	page.Expect("ERR_")
	s.kill()
	page.WaitText("reconnecting…")
	page.WaitText("stale for")
	s.start()
	page.Until(`document.getElementById("link").dataset.state === "live"`)
}

// A page is not asked for for ever: where its answer never comes, it is asked for anew.
func TestFrame_WaitsForNoAnswerThatNeverComes(t *testing.T) {
	s := mustStudio(t)
	page := s.open("/devices")
	page.WaitText("live")
	page.Eval(`real = fetch, asked = 0, AbortSignal.timeout = () => asked > 0 ? null : AbortSignal.abort(new DOMException("", "TimeoutError")),
		fetch = (at, init) => at === location.href && asked++ === 0 ? Promise.reject(init.signal.reason) : real(at, init), 0`, nil)
	s.pair("mini")
	page.WaitText("mini")
	page.Until("asked > 1")
}
