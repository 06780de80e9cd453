package webtest

import (
	"os"
	"strings"
	"testing"
)

// A person's day, from the link that signs in to the film that plays, with the
// server lost on the way and a second tab that keeps up.
func TestWalk_FromTheLinkToTheFilmThatPlays(t *testing.T) {
	s := mustStudio(t)
	p := Open(t, strings.TrimSpace(s.mustRun(s.home, "dashboard")))
	p.WaitPath("/")
	p.WaitText("No Macs yet")

	p.Press("g", "d")
	p.WaitPath("/devices")
	p.Click("Pair a Mac")
	p.Type("#pair-name", "Schnittplatz 1")
	p.Click("Make a code")
	p.WaitText("Waiting for the Mac…")
	command := strings.Fields(p.Text("#pair-command"))
	s.mustRun(s.data("mac"), command[1:]...)
	s.run(s.data("mac"), "agent").await("msg=connected")
	p.WaitText("Schnittplatz 1 is online")
	p.Click("Done")

	wall := p.Tab("/") // the one on the wall
	wall.WaitText("live")

	p.Press("n")
	p.WaitPath("/new")
	p.Drop("h1", s.film("long.mov", 600, "1280x720"), s.film("מונטאז׳ סופי.mov", 2, "320x240"))
	p.Click(`[value="web-480p"]`)
	p.Click("Make 2 jobs")
	p.WaitText("2 jobs are made.")
	wall.WaitText("long.mp4")
	wall.WaitFor(`#now .bar[data-attempt]`)

	p.Click("long.mp4")
	p.WaitFor(`#job[data-status=active]`)
	p.WaitText("live")
	p.Expect("ERR_")
	wall.Expect("ERR_")
	s.kill()
	p.WaitText("stale for")
	wall.WaitText("stale for")
	s.start()
	p.Until(`document.getElementById("link").dataset.state === "live"`)
	wall.Until(`document.getElementById("link").dataset.state === "live"`)
	p.WaitFor(`#job[data-status=active]`)
	p.Click("Cancel…")
	p.Click("Cancel the job")
	p.WaitFor(`#job[data-status=cancelled]`)
	wall.WaitFor(`#lately .s-cancelled`)

	p.Press("g", "j")
	p.WaitPath("/jobs")
	p.Click("מונטאז׳ סופי.mp4")
	p.WaitFor(`#job[data-status=succeeded]`)
	wall.WaitFor(`#lately .s-succeeded`)
	p.Until(`document.querySelector("#player-out video").readyState >= HTMLMediaElement.HAVE_METADATA`)
	p.Click("#player-out video")
	p.Until(`document.querySelector("#player-out video").ended`)
	if kept, err := os.ReadFile(p.Download("Download")); err != nil || !strings.Contains(string(kept[:12]), "ftyp") {
		t.Errorf("downloaded was %q, %v", kept[:min(len(kept), 12)], err)
	}

	p.Click("summary")
	p.Click("Sign out")
	p.WaitPath("/sign-in")
	wall.WaitPath("/sign-in?next=%2F")
}
