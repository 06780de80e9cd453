package webtest

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"rendermac/api"
)

// A Mac is paired with what the page shows and nothing else; another that comes
// meanwhile is not taken for it.
func TestDevices_PairingTurnsIntoTheMacThatUsedTheCode(t *testing.T) {
	s := mustStudio(t)
	p := s.open("/devices")
	p.WaitText("No Macs yet. Pair the first one.")
	p.Click("Pair a Mac")
	p.Type("#pair-name", " ")
	p.Expect("POST .*/v1/pairings answered 422")
	p.Click("Make a code")
	p.WaitText("Must have something to read, and no control characters.")
	p.Type("#pair-name", "Studio B")
	p.Click("Make a code")
	p.WaitText("Waiting for the Mac…")
	p.WaitText("The code works once, for another 9 min")
	p.Axe()
	p.Eval("realNow = Date.now, Date.now = () => realNow() + 600000, 0", nil)
	p.WaitText("This code has expired, and no Mac has used it.")
	p.Eval("Date.now = realNow, 0", nil)
	p.Click("Make another code")
	p.Type("#pair-name", "Studio B")
	p.Click("Make a code")
	p.WaitText("Waiting for the Mac…")

	other, err := s.client.CreatePairing(t.Context(), api.PairingRequest{Name: new("Laptop")})
	must(t, err)
	s.mustRun(s.data("laptop"), "pair", s.url, other.Code)
	p.WaitFor(`[data-name="Laptop"]`)
	p.WaitText("Waiting for the Mac…")

	command := strings.Fields(p.Text("#pair-command"))
	if code := p.Text("#pair-code"); command[0] != "rendermac" || command[len(command)-1] != code {
		t.Fatalf("to run is %q, and the code is %s", command, code)
	}
	p.Click("Copy")
	if copied := p.Clipboard(); copied != strings.Join(command, " ") {
		t.Errorf("copied was %q", copied)
	}
	s.mustRun(s.data("studio-b"), command[1:]...)
	p.WaitText("Studio B is paired")
	p.WaitText("Next: it will show as online when its agent runs.")
	p.Axe()
	s.run(s.data("studio-b"), "agent")
	p.WaitText("Studio B is online")
	p.Click("Done")
	p.WaitFor(`[data-name="Studio B"][data-state=online]`)

	p.Go("/devices#pair") // as empty states elsewhere do
	p.WaitFor("#pair-name")
	p.Press("Escape")
	p.WaitGone("#pair")
}

func TestDevices_DrainChangeRevoke(t *testing.T) {
	s := mustStudio(t)
	s.agent("mini")
	var changes atomic.Int32
	p := s.through(func(r *http.Response) {
		if r.Request.Method == "PATCH" {
			changes.Add(1)
		}
	}).open("/devices")
	p.Click("Drain mini")
	p.WaitFor(`[data-name=mini][data-state=draining]`)
	at := p.reach("click once more", "Resume mini")
	p.run("end a double click on what was there before", chromedp.MouseClickXY(at.X, at.Y, chromedp.ClickCount(2)))
	p.Click("Resume mini")
	p.WaitFor(`[data-name=mini][data-state=online]`)
	if n := changes.Load(); n > 2 {
		t.Errorf("to drain and to resume the page has sent %d changes", n)
	}

	p.Click("Change mini")
	p.Axe()
	p.Type("#change-slots", "1.5")
	p.Expect("PATCH .* answered 422")
	p.Click("Save")
	p.WaitFor("#change-slots[aria-invalid]")
	p.WaitText("Must be a whole number.")
	p.Type("#change-slots", "1001")
	p.Type("#change-name", strings.Repeat("x", 101))
	p.Click("Save")
	p.WaitText("Must be at most 1000.")
	p.WaitText("Must not be longer than 100 characters.")
	p.Type("#change-slots", "3")
	p.Type("#change-name", "Büro 1")
	p.Type("#change-tags", "hdr #b")
	p.Click("Save")
	p.WaitText("Each must be one word of letters, digits, '.', '_' and '-'.")
	p.Type("#change-tags", "hdr, studio-b")
	p.Click("Save")
	p.WaitGone("#change")
	p.WaitFor(`[data-name="Büro 1"][data-slots="3"][data-tags="hdr studio-b"]`)
	p.WaitText("0 of 3 busy (set)")

	s.submit(s.film("interview.mov", 240, "640x360"), "web-1080p")
	p.WaitFor(`.run a[data-ends]`)
	p.WaitFor(`.mac .shifts[aria-label^="Worked for 1 min"]`)
	p.Click("Details of Büro 1")
	p.Click("Revoke Büro 1…")
	p.WaitText("It can never come back with this pairing")
	if got := p.Text("#revoke-jobs"); got != "interview.mp4" {
		t.Errorf("of what it runs the warning names %q", got)
	}
	p.Axe()
	p.Click("Revoke Büro 1")
	p.WaitText("No Macs yet.")
	p.Click("Show revoked")
	p.WaitFor(`[data-name="Büro 1"][data-state=revoked]`)
}
