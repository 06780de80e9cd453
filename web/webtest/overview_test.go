package webtest

import (
	"fmt"
	"testing"
)

// A job that somebody else submits goes through the page by itself.
func TestOverview_FollowsAJobWithoutAReload(t *testing.T) {
	s := mustStudio(t)
	p := s.open("/")
	p.WaitText("No Macs yet. Pair the first one.")
	p.WaitText("live")
	p.Eval("loadedOnce = true", nil)

	job := s.submit(s.film("interview.mov", 20, "640x360"), "web-1080p")
	row := fmt.Sprintf(`[data-row]:has(a[href="/jobs/%s"])`, job.ID)
	p.WaitFor("#next " + row)
	p.WaitText("waits for a Mac that takes jobs")
	s.agent("mini")
	p.WaitFor("#now " + row)
	p.WaitText("1 Mac working, nothing queued")
	p.WaitFor("#now [data-says=speed]:not(:empty)")
	width := fmt.Sprintf("Number(document.querySelector(%s)?.getAttribute('width'))", js("#now "+row+" .done"))
	var before int
	p.Eval(width, &before)
	p.Until(fmt.Sprintf("%s > %d", width, before))
	p.WaitFor("#lately " + row + " .s-succeeded")
	p.WaitText("1 Mac ready, nothing queued")
	p.WaitText("Nothing runs.")
	if n := p.Count("#now, #next"); n > 0 {
		t.Errorf("the job still stands in %d other lists", n)
	}
	p.Until("loadedOnce")
	p.Axe()
}

// Two tabs say together that the server is away, are right by themselves when it
// is there again, and end together.
func TestOverview_TabsGoAndComeBackWithTheServer(t *testing.T) {
	s := mustStudio(t)
	s.agent("mini")
	page := s.open("/")
	tabs := []*Page{page, page.Tab("/")}
	for _, p := range tabs {
		p.Expect("ERR_")
		p.WaitText("live")
		p.WaitText("1 Mac ready")
		p.Eval(`said = [], new MutationObserver(() => said.push(link.textContent)).observe(link, {childList: true}), 0`, nil)
	}
	s.kill()
	for _, p := range tabs {
		p.Until(`said[0] === "reconnecting…" && said.at(-1).startsWith("stale for")`)
	}
	s.start()
	job := s.submit(s.film("b-roll.mov", 0.2, "64x64"), "web-1080p")
	for _, p := range tabs {
		p.Until(`said.at(-1) === "live"`)
		p.WaitFor(`#lately a[href="/jobs/` + job.ID + `"]`)
		p.WaitText("1 Mac ready")
		p.Expect("answered 401") // of what is under way as the session ends
	}
	tabs[0].Click(".account summary")
	tabs[0].Click("Sign out")
	tabs[0].WaitPath("/sign-in")
	tabs[1].WaitPath("/sign-in?next=%2F")
	tabs[1].WaitFor("#key")
}
