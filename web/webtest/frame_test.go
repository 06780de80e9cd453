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
