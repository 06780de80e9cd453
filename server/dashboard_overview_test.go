package server

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

// says checks what a page has, and has not.
func (r reply) says(shown, hidden []string) {
	r.Helper()
	page := string(r.is(200).body)
	for _, text := range shown {
		if !strings.Contains(page, text) {
			r.Errorf("the page does not say %q", text)
		}
	}
	for _, text := range hidden {
		if strings.Contains(page, text) {
			r.Errorf("the page says %q", text)
		}
	}
}

// Of the Macs a buyer sees no more than the API tells; of the queue his own jobs,
// and when they start after all that go before.
func TestDashboard_OverviewShowsBuyersTheirOwn(t *testing.T) {
	h := mustServe(t)
	name := func(name string) func(*api.JobRequest) { return func(r *api.JobRequest) { r.OutputName = &name } }
	running := h.mustSubmit(h.submit, name("running.mp4"))
	first := h.mustSubmit(h.submit, name("first.mp4"))
	theirs := h.mustSubmit(h.otherAccountSubmit, name("theirs.mp4"))
	s := storetest.MustDevice(t, h.db)
	c := storetest.Claim(s, storetest.MustLease(t, h.db, s))
	if _, err := h.db.Progress(context.Background(), c, store.Report{Phase: fence.AttemptRunning, ETA: ptr(600.0)}); err != nil {
		t.Fatal(err)
	}
	macs := []string{"% busy in 24 h", "of 2 busy", "next free", "slot free"}
	h.get("/", h.admin).says([]string{"1 Mac working, 2 jobs queued", running.ID, first.ID, theirs.ID, "1 of 2 busy", "% busy in 24 h"}, nil)
	h.get("/", h.read).says([]string{"1 Mac working, 1 job of yours queued", running.ID, first.ID, "1 busy"}, append(macs, theirs.ID))
	h.get("/", h.otherRead).says([]string{"1 Mac working, 1 job of yours queued", theirs.ID, "1 busy", "Nothing runs."}, append(macs, running.ID, first.ID))
}

// What a run has not said is not shown as nothing.
func TestDashboard_OverviewShowsNothingForNull(t *testing.T) {
	h := mustServe(t)
	h.get("/", h.admin).says([]string{"No Macs yet."}, []string{"Macs ready", "0 %"})
	h.mustSubmit(h.submit)
	s := storetest.MustDevice(t, h.db)
	storetest.MustLease(t, h.db, s)
	h.clock.Advance(statsAge)
	h.get("/", h.admin).says([]string{`role="progressbar"`}, []string{"aria-valuenow", "0 fps", "0 s left", "0.0×"})
}

// A Mac of two slots that has run one job for six hours was busy for an eighth of
// the day.
func TestDashboard_OverviewSaysHowBusyMacsWere(t *testing.T) {
	h := mustServe(t)
	h.mustSubmit(h.submit)
	s := storetest.MustDevice(t, h.db)
	storetest.MustLease(t, h.db, s)
	h.clock.Advance(6 * time.Hour)
	page := h.get("/", h.admin)
	page.says([]string{"12 % busy in 24 h", "Worked for 6 h of the last 24 hours"}, nil)
	if path := regexp.MustCompile(`class="worked" d="([^"]*)"`).FindSubmatch(page.body); path == nil || string(path[1]) != "M1080 5h360" {
		t.Errorf("its lane is %q", path)
	}
	h.get("/", h.otherRead).says([]string{"Did not work in the last 24 hours"}, []string{"12 %"})
}

func TestDashboard_OverviewTellsWhyJobsFailed(t *testing.T) {
	h := mustServe(t)
	s := storetest.MustDevice(t, h.db)
	for _, message := range []string{"the file ends early", ""} {
		h.mustSubmit(h.submit)
		if _, err := h.db.Fail(context.Background(), storetest.Claim(s, storetest.MustLease(t, h.db, s)), fence.InputFailed, message); err != nil {
			t.Fatal(err)
		}
	}
	h.get("/", h.read).says([]string{"The file ends early.", "2 failed"}, nil)
	h.get("/", h.otherRead).says([]string{"0 succeeded"}, []string{"The file ends early.", "failed</span>"})
}
