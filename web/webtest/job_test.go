package webtest

import (
	"os"
	"strings"
	"testing"

	"rendermac/api"
)

// A job is watched from the queue to its end, on one page that nobody reloads, and
// what it has made is played there.
func TestJob_IsWatchedToItsEndAndPlayed(t *testing.T) {
	s := mustStudio(t)
	job := s.submit(s.film("interview.mov", 20, "640x360"), "web-480p", func(r *api.JobRequest) {
		r.OutputName = new("interview-web.mp4")
		r.Labels = map[string]string{"client": "acme"}
	})
	p := s.open("/jobs/" + job.ID)
	p.WaitText("Waiting for a Mac with a free slot.")
	p.WaitText("640 × 360")
	p.Axe()
	s.agent("mini")
	p.WaitFor(`#job[data-status=active]`)
	p.WaitFor(`.lane svg .p-running`)
	p.WaitFor(`#job[data-status=succeeded]`)
	p.WaitText("Succeeded after")
	p.WaitFor("tr.differs")

	p.Until(`document.querySelector("#player-out video").readyState >= HTMLMediaElement.HAVE_METADATA`)
	p.Click("#player-out video")
	p.Until(`(v => Math.round(v.duration) === 20 && v.currentTime > 0.2)(document.querySelector("#player-out video"))`)
	p.Axe()

	kept := p.Download("Download")
	info, err := os.Stat(kept)
	must(t, err)
	done, err := s.client.Job(t.Context(), job.ID)
	must(t, err)
	if !strings.HasSuffix(kept, "/interview-web.mp4") || info.Size() != done.Artifact.Bytes {
		t.Errorf("kept is %s of %d bytes, for %d", kept, info.Size(), done.Artifact.Bytes)
	}
	p.Click("Events")
	p.WaitText("Taken · mini")
	var h string
	p.Eval(`document.getElementById("log").outerHTML`, &h)
	t.Log(h)
	l, _ := s.client.Log(t.Context(), job.ID, 1)
	t.Logf("%q", l)
	p.Click("Raw JSON")
	p.WaitText(`"id":"` + job.ID + `"`)
}
