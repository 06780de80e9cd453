package webtest

import (
	"fmt"
	"strings"
	"testing"

	"rendermac/api"
)

// clips makes n queued jobs of one film: clip-01.mp4 and so on, each with a reel of 4.
func (s *studio) clips(n int) (ids []string) {
	s.Helper()
	upload, err := s.client.Upload(s.Context(), s.film("clip.mov", 0.2, "64x64"), func(int64) {})
	must(s, err)
	var batch []api.JobRequest
	for i := range n {
		batch = append(batch, api.JobRequest{
			Service: "ffmpeg.transcode", Params: []byte(`{"preset":"web-1080p"}`), Inputs: []api.Input{{UploadID: &upload.ID}},
			OutputName: new(fmt.Sprintf("clip-%02d.mp4", i+1)), Labels: map[string]string{"reel": fmt.Sprint(i/4 + 1)},
		})
		if len(batch) == 500 || i == n-1 {
			made, err := s.client.SubmitBatch(s.Context(), batch)
			must(s, err)
			for _, j := range made.Items {
				ids = append(ids, j.ID)
			}
			batch = nil
		}
	}
	return ids
}

// rows waits until the list has so many.
func (p *Page) rows(n int) {
	p.t.Helper()
	p.Until(fmt.Sprintf(`document.querySelectorAll("#jobs [data-row]").length === %d`, n))
}

// The filter is the address, and what it narrows is changed in place: nothing is
// loaded again, and the focus stays.
func TestJobs_AreNarrowedInPlace(t *testing.T) {
	s := mustStudio(t)
	p := s.open("/jobs")
	p.WaitText("No jobs yet.")
	p.Eval("window.same = true", nil)
	ids := s.clips(12)
	p.rows(12)
	p.Axe()

	p.Type("#by-label", "reel=2")
	p.Press("Enter")
	p.WaitPath("/jobs?label=reel%3D2")
	p.WaitFor(`.chip[href="/jobs"]`)
	p.rows(4)
	p.Until(`document.activeElement.id === "by-label" && document.activeElement.value === ""`)
	p.Press("/")
	p.Type("#search", "CLIP-07")
	p.Press("Enter")
	p.WaitPath("/jobs?label=reel%3D2&q=CLIP-07")
	p.rows(1)
	p.Axe()
	p.Click(".pill[data-status=queued]")
	p.rows(1)
	p.Click(".pill[data-status=failed]")
	p.Click(".pill[data-status=queued]")
	p.WaitText("No job matches this filter.")
	p.Click("Search all jobs for the text")
	p.WaitPath("/jobs?q=CLIP-07")
	p.rows(1)
	p.Click("Clear the filter")
	p.WaitPath("/jobs")
	p.rows(12)
	p.Until(`document.getElementById("search").value === ""`)

	p.Choose("#by-age", "Created in the last hour")
	p.WaitPath("/jobs?age=1h")
	p.Choose("#by-service", "ffmpeg.concat")
	p.WaitText("No job matches this filter.")
	p.Eval("history.back()", nil)
	p.rows(12)
	p.Until(`document.getElementById("by-service").value === "" && document.getElementById("by-age").value === "1h"`)
	p.Until("window.same")
	p.Click(`tr[data-id="` + ids[11] + `"] .tag`)
	p.WaitPath("/jobs?age=1h&label=reel%3A3")
	p.Reload()
	p.rows(4)

	p.Expect("GET .*/jobs.status=lost.* answered 422")
	p.Go("/jobs?status=lost&status=queued&label=reel:1")
	p.WaitText("A state cannot be “lost”")
	p.Axe()
	p.Click(`.chip[href="/jobs?label=reel%3A1&status=queued"]`)
	p.rows(4)
}

// Several jobs are selected and acted on by keyboard alone, and another tab sees it.
func TestJobs_SeveralAtOnce(t *testing.T) {
	s := mustStudio(t)
	ids := s.clips(12)
	p := s.open("/jobs")
	other := p.Tab("/jobs?status=cancelled")
	other.WaitText("No job matches this filter.")
	other.Eval("window.same = true", nil)
	p.rows(12)
	p.Press("j", "x", "j", "x", "j", "x")
	p.WaitText("3 selected")
	s.clips(1)
	p.rows(13) // and the selection has stayed
	p.WaitText("3 selected")
	p.Until(`document.querySelectorAll("#jobs .picked :checked").length === 3`)
	p.Press("c")
	p.WaitText("Cancel 3 jobs?")
	p.WaitText("will not start")
	p.Axe()
	p.Press("Tab", "Enter")
	p.WaitText("3 jobs cancelled.")
	p.WaitGone("#several")
	p.Axe()
	other.rows(3)
	other.Until("window.same")

	other.Press("j", "x", "j", "x", "r")
	other.WaitText("Retry 2 jobs?")
	other.WaitText("will run again, as a new job")
	other.Click("Retry 2 jobs")
	other.WaitText("2 jobs retried.")
	p.rows(15)
	for _, id := range ids[10:] {
		if again := s.retriesOf(id); again != 1 {
			t.Errorf("%s was retried %d times", id, again)
		}
	}

	p.Click("#pick-all")
	p.WaitText("15 selected")
	p.Press("p")
	p.WaitText("left alone: not queued")
	p.Press("1", "0", "1") // in place of the 0 that stands there
	p.Until(`document.querySelector("#priority-several-value").value === "101"`)
	p.Click("Set for 12 jobs")
	p.WaitText("Must be a whole number from −100 to 100.")
	p.Axe()
	p.Type("#priority-several-value", "7")
	p.Click("Set for 12 jobs")
	p.WaitText("12 jobs set to priority 7.")
	p.WaitText("3 selected") // those that nothing was done with
	p.WaitText("priority +7")
	j, err := s.client.Job(t.Context(), ids[0])
	must(t, err)
	if j.Priority != 7 {
		t.Errorf("the priority is %d", j.Priority)
	}
	p.Press("Escape")
	p.WaitGone("#several")
}

// retriesOf is how many jobs there are that repeat another.
func (s *studio) retriesOf(id string) (n int) {
	s.Helper()
	list, err := s.client.Jobs(s.Context(), api.JobQuery{})
	must(s, err)
	for _, j := range list.Items {
		if j.RetryOf != nil && *j.RetryOf == id {
			n++
		}
	}
	return n
}

// Of each job it is said what came of it, and what can be tried again stays selected.
func TestJobs_NothingIsLostWhenSomeOfItFails(t *testing.T) {
	s := mustStudio(t)
	ids := s.clips(3)
	p := s.open("/jobs")
	p.Expect("answered 409|ERR_CONNECTION|ERR_EMPTY|ERR_INCOMPLETE")
	p.rows(3)
	p.Click(`tr[data-id="` + ids[2] + `"] input`)
	p.Eval(`document.querySelector('tr[data-id="`+ids[0]+`"] input').dispatchEvent(new MouseEvent("click", { bubbles: true, shiftKey: true }))`, nil)
	p.WaitText("3 selected")
	p.Click("[data-several=cancel]")
	p.WaitText("Cancel 3 jobs?")
	s.kill()
	p.Click("Cancel 3 jobs")
	p.WaitText("None of the 3 jobs was cancelled. 3 are still selected, to be tried again.")
	p.WaitText("clip-03.mp4, clip-02.mp4, clip-01.mp4: The server does not answer.")
	p.Axe()
	s.start()
	p.Until(`document.getElementById("link").dataset.state === "live"`)

	p.Eval(`real = fetch, fetch = (at, init) => init.method ? real(at, init) : new Promise(() => {}), 0`, nil) // nothing new is seen
	_, err := s.client.Cancel(t.Context(), ids[1])
	must(t, err)
	p.Press("c")
	p.Click("Cancel 3 jobs")
	p.WaitText("2 of 3 jobs cancelled.")
	p.WaitText("clip-02.mp4: The job is already cancelled: there is nothing to cancel.")
	p.WaitGone("#several")
}

// A row goes with its run, and so does a sheet that is open before it.
func TestJobs_ARowIsAsItsRunIs(t *testing.T) {
	s := mustStudio(t)
	s.agent("mini")
	p := s.open("/jobs")
	job := s.submit(s.film("interview.mov", 12, "320x240"), "web-1080p")
	row := `tr[data-id="` + job.ID + `"]`
	p.WaitFor(row + "[data-status=active] .bar[aria-valuenow]")
	p.Click(row + " input")
	p.Press("c")
	p.WaitText("Cancel 1 job?")
	p.WaitFor(row + "[data-status=succeeded]")
	p.WaitText("Nothing is left to do")
	p.WaitText("left alone: ended already")
	p.Click("Keep them")
	p.Until(`document.querySelector("` + strings.ReplaceAll(row, `"`, `'`) + `").innerText.includes("mini") && document.querySelector("td.took").innerText !== ""`)
}

// A key that may only read is offered nothing to do.
func TestJobs_ForAReader(t *testing.T) {
	s := mustStudio(t)
	s.clips(2)
	key, err := s.client.CreateKey(t.Context(), api.KeyRequest{Name: "wall screen", AccountID: s.account(), Scope: "read"})
	must(t, err)
	p := s.openAs(key.Plaintext, "/jobs", Size(390, 844))
	p.rows(2)
	p.Press("j", "x", "c")
	if n := p.Count("input[type=checkbox], main button:not(.filter button), dialog:not(#keys)"); n > 0 {
		t.Errorf("a reader is shown %d things to act with", n)
	}
	p.Axe()
	p.Fits()
	p.Press("Enter")
	p.Until(`location.pathname.startsWith("/jobs/job_")`)
}

// Ten thousand jobs weigh no more than a page of them; what is selected stays so from
// page to page.
func TestJobs_ByTheThousand(t *testing.T) {
	s := mustStudio(t)
	s.clips(10_000)
	p := s.open("/jobs")
	p.rows(50)
	t.Logf("first paint after %s, %d bytes", p.FirstPaint(), p.Weight())
	p.Press("j", "x")
	p.WaitText("1 selected")
	p.Click("Older")
	p.WaitText("1 of them not on this page")
	p.rows(50)
	p.Until(`scrollY === 0 && document.querySelector("[data-row]").dataset.name === "clip-9950.mp4"`)
	p.Click("Newest")
	p.WaitPath("/jobs")
	p.Until(`document.querySelector("[data-row] :checked") !== null`)
	p.Type("#search", "clip-0002.mp4")
	p.Press("Enter")
	p.WaitText("No job matches this filter.")
	p.Type("#search", "clip-02.mp4")
	p.Press("Enter")
	p.rows(1)
	if path := p.URL(); !strings.HasSuffix(path, "/jobs?q=clip-02.mp4") {
		t.Errorf("it was found at %s", path)
	}
}
