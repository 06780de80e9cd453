package webtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"rendermac/api"
)

// A job is watched from the queue to its end, on one page that nobody reloads, and
// what it has made is played there.
func TestJob_IsWatchedToItsEndAndPlayed(t *testing.T) {
	s := mustStudio(t)
	job := s.submit(s.film("interview.mov", 8, "640x360"), "web-480p", func(r *api.JobRequest) {
		r.OutputName = new("interview-web.mp4")
		r.Labels = map[string]string{"client": "acme"}
	})
	p := s.open("/jobs/" + job.ID)
	p.WaitText("It waits for a Mac that takes jobs.")
	p.WaitText("640 × 360")
	p.Until(`document.querySelector("#player-in-1 video").readyState >= HTMLMediaElement.HAVE_METADATA`)
	p.Axe()
	s.agent("mini")
	p.WaitFor(`#job[data-status=active]`)
	p.WaitFor(`#job[data-status=succeeded]`)
	p.WaitText("Succeeded after")
	p.WaitFor("tr.differs")

	p.Until(`document.querySelector("#player-out video").readyState >= HTMLMediaElement.HAVE_METADATA`)
	p.Click("#player-out video")
	p.Until(`(v => Math.round(v.duration) === 8 && v.currentTime > 0.2)(document.querySelector("#player-out video"))`)
	p.Axe()

	kept := p.Download("Download")
	info, err := os.Stat(kept)
	must(t, err)
	done, err := s.client.Job(t.Context(), job.ID)
	must(t, err)
	if !strings.HasSuffix(kept, "/interview-web.mp4") || info.Size() != done.Artifact.Bytes {
		t.Errorf("kept is %s of %d bytes, for %d", kept, info.Size(), done.Artifact.Bytes)
	}
	if kept := p.Download("Download interview.mov"); !strings.HasSuffix(kept, "/interview.mov") {
		t.Errorf("the input is kept as %s", kept)
	}
	p.Click("Events")
	p.WaitText("Taken · mini")
	p.Expect("favicon.ico answered 404") // the browser asks for one beside what is no page
	p.Click("Raw JSON")
	p.WaitText(`"id":"` + job.ID + `"`)
}

// What ffmpeg complains of is read while it still works. The job has failed in the
// end, is tried again, and that is cancelled, all from the page.
func TestJob_ItsLogGrowsAndItIsRetriedAndCancelled(t *testing.T) {
	s := mustStudio(t, "pricing: {ffmpeg.transcode: 20}")
	s.agent("mini")
	job := s.submit(damaged(t, s.film("interview.mov", 20, "640x360")), "web-480p", func(r *api.JobRequest) { r.MaxAttempts = new(1) })
	p := s.open("/jobs/" + job.ID)
	p.WaitFor("#job[data-status=active] #log-text")
	const shown = `document.getElementById("log-text").textContent`
	var first int
	p.Until(shown + ".length > 0")
	p.Eval(shown+".length", &first)
	p.Until(fmt.Sprintf("%s.length > %d", shown, first))
	p.WaitFor("#job[data-status=failed]")
	p.WaitText("upload it again, or submit with damaged_input=accept")
	p.WaitText("A retry would fail the same way")
	p.WaitText("Given back: the job has not succeeded")
	log, err := s.client.Log(t.Context(), job.ID, 1)
	must(t, err)
	p.Until(fmt.Sprintf("%s === %s", shown, js(string(log))))
	p.Click("#log-copy")
	if copied := p.Clipboard(); copied != string(log) {
		t.Errorf("copied are %d characters of %d", len(copied), len(log))
	}
	p.Axe()

	p.Click("Retry")
	p.WaitText("Another try of")
	p.Until(`document.readyState === "complete"`)
	p.WaitFor("#job[data-status=active]")
	p.Click("Cancel…")
	p.WaitText("mini is told to stop.")
	p.WaitText("The 20 credits that it holds are given back.")
	p.Axe()
	p.Click("Cancel the job")
	p.WaitFor("#job[data-status=cancelled]")
	p.WaitText("Cancelled after")
	p.WaitGone("Cancel…")
}

// damaged spoils a film here and there, so that all of it can be read but not all of
// it can be understood.
func damaged(t *testing.T, film string) string {
	t.Helper()
	text, err := os.ReadFile(film)
	must(t, err)
	for at := len(text) / 20; at < len(text)*9/10; at += 8 << 10 {
		copy(text[at:], "spoiled")
	}
	must(t, os.WriteFile(film, text, 0o600))
	return film
}

func TestJob_ReadersSeeItAndCannotChangeIt(t *testing.T) {
	s := mustStudio(t)
	job := s.submit(s.film("interview.mov", 0.2, "64x64"), "web-480p", func(r *api.JobRequest) { r.WebhookURL = new("https://example.test/hook") })
	key, err := s.client.CreateKey(t.Context(), api.KeyRequest{Name: "wall screen", AccountID: s.account(), Scope: "read"})
	must(t, err)
	p := s.openAs(key.Plaintext, "/jobs/"+job.ID)
	p.WaitText("https://example.test/hook")
	if n := p.Count("[data-act], [data-redeliver], main dialog"); n > 0 {
		t.Errorf("a reader is offered %d things that it may not do", n)
	}
	_, err = s.client.Prioritize(t.Context(), job.ID, 7)
	must(t, err)
	p.WaitText("Priority 7")
	own := s.open("/jobs/" + job.ID)
	own.Click("Priority…")
	if now := own.Text("#priority-value"); now != "7" {
		t.Errorf("the sheet begins with the priority %q", now)
	}
	own.Type("#priority-value", "101")
	own.Expect("PATCH .* answered 422")
	own.Click("Set")
	own.WaitFor("#priority-value[aria-invalid]")
	own.Type("#priority-value", "-5")
	own.Click("Set")
	own.WaitText("Priority -5")
	p.WaitText("Priority -5")
}

func TestJob_ItsWebhookIsSentAgain(t *testing.T) {
	s := mustStudio(t, "webhooks: {allow_private: true}")
	var takes atomic.Bool
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !takes.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(receiver.Close)
	job := s.submit(s.film("interview.mov", 0.2, "64x64"), "web-480p", func(r *api.JobRequest) { r.WebhookURL = &receiver.URL })
	p := s.open("/jobs/" + job.ID)
	p.Click("Cancel…")
	p.WaitText("No Mac works on it: it ends at once.")
	p.Click("Cancel the job")
	p.WaitText("The receiver answered 503: it must answer 2xx. 1 of 10 tries")
	p.Axe()
	takes.Store(true)
	p.Click("Send job.cancelled again")
	p.WaitText("The receiver answered 200.")
	p.WaitFor("#webhooks .s-succeeded")
}
