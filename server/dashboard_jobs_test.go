package server

import (
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

var (
	rowID    = regexp.MustCompile(`<tr [^>]*data-id="([^"]+)"`)
	nextPage = regexp.MustCompile(`rel="next" href="([^"]+)"`)
)

// listed are the ids of the rows, and the address that the page goes on at.
func listed(page reply) (ids []string, next string) {
	for _, row := range rowID.FindAllSubmatch(page.body, -1) {
		ids = append(ids, string(row[1]))
	}
	if at := nextPage.FindSubmatch(page.body); at != nil {
		next = html.UnescapeString(string(at[1]))
	}
	return ids, next
}

// submitMany makes n jobs of an account at once, the last one of them labelled.
func (h *httpServer) submitMany(n int, label string) []string {
	h.Helper()
	job := storetest.Job(h.account, storetest.MustUpload(h, h.db, h.account))
	many := slices.Repeat([]store.NewJob{job}, n)
	many[n-1].Labels = map[string]string{"client": label}
	made, err := h.db.SubmitOnce(h.Context(), store.Once{}, many...)
	if err != nil {
		h.Fatal(err)
	}
	return made.IDs
}

// What the API lists for a filter, the page shows.
func TestDashboard_JobsByEveryFilter(t *testing.T) {
	h := mustServe(t)
	acme := func(r *api.JobRequest) { r.Labels = map[string]string{"client": "acme"} }
	h.mustSubmit(h.submit, acme)
	mac := storetest.MustDevice(t, h.db)
	storetest.MustLease(t, h.db, mac)
	failed := h.mustSubmit(h.submit)
	if _, err := h.db.Fail(t.Context(), storetest.Claim(mac, storetest.MustLease(t, h.db, mac)), fence.InputFailed, "the file ends early"); err != nil {
		t.Fatal(err)
	}
	h.clock.Advance(2 * time.Hour)
	h.mustSubmit(h.submit, func(r *api.JobRequest) { r.OutputName = ptr("Über.mp4") })
	h.mustSubmit(h.otherAccountSubmit, acme)
	for _, query := range []string{
		"", "status=active", "status=queued,failed", "service=ffmpeg.transcode", "service=gone.by", "device=" + mac.DeviceID, "device=dev_none",
		"label=client:acme", "label=client:acme&status=queued", "q=%C3%9Cber", "q=" + failed.ID, "q=none", "account=" + h.otherAccount, "account=acc_none",
		"since=" + url.QueryEscape(h.clock.Now().Add(-time.Hour).Format(time.RFC3339)), "until=" + url.QueryEscape(h.clock.Now().Add(-time.Hour).Format(time.RFC3339)),
	} {
		page := h.get("/jobs?"+query, h.admin).is(200)
		if got, _ := listed(page); !slices.Equal(got, h.jobs(query)) {
			t.Errorf("%q shows %q, and the API %q", query, got, h.jobs(query))
		}
	}
	if got, _ := listed(h.get("/jobs?age=1h", h.admin).is(200)); len(got) != 2 {
		t.Errorf("of the last hour are %q", got)
	}
	if got, _ := listed(h.get("/jobs?label=client=acme", h.admin).is(200)); !slices.Equal(got, h.jobs("label=client:acme")) {
		t.Errorf("of a label as it is written elsewhere are %q", got)
	}
	for query, text := range map[string]string{
		"status=failed&status=cancelled": "The file ends early.", "q=none": "No job matches this filter.", "q=none&status=failed": `href="/jobs?q=none"`,
		"device=" + mac.DeviceID: `<option value="` + mac.DeviceID + `" selected>mini</option>`, "account=acc_none": `<option value="acc_none" selected>acc_none</option>`,
		"service=gone.by": "<option selected>gone.by</option>",
	} {
		if page := h.get("/jobs?"+query, h.admin).is(200); !strings.Contains(string(page.body), text) {
			t.Errorf("%q does not show %s: %s", query, text, page.body)
		}
	}
}

// Whoever goes on at "Older" sees each job once, whatever is added meanwhile, and
// with the filter still set.
func TestDashboard_JobsPagesMissNothing(t *testing.T) {
	h := mustServe(t)
	want := h.submitMany(2*jobsOnPage+7, "acme")
	slices.Reverse(want)
	var got []string
	pages := 0
	for at := "/jobs?status=queued&q=job_"; at != ""; pages++ {
		if !strings.Contains(at, "status=queued") || !strings.Contains(at, "q=job_") {
			t.Errorf("the filter is lost at %s", at)
		}
		ids, next := listed(h.get(at, h.read).is(200))
		got, at = append(got, ids...), next
		h.mustSubmit(h.submit)
	}
	if !slices.Equal(got, want) || pages != 3 {
		t.Errorf("%d pages show %d jobs, want the %d that were there", pages, len(got), len(want))
	}
}

// A job that is alone among thousands is found without turning pages.
func TestDashboard_JobsAreLookedForFarBack(t *testing.T) {
	h := mustServe(t)
	rare := h.submitMany(1, "acme")
	h.submitMany(3000, "other")
	if got, next := listed(h.get("/jobs?label=client:acme", h.read).is(200)); !slices.Equal(got, rare) || next != "" {
		t.Errorf("the page shows %q and goes on at %q", got, next)
	}
}

// A key sees its own account's jobs, and is offered what its scope allows.
func TestDashboard_JobsOfAKey(t *testing.T) {
	h := mustServe(t)
	mine, theirs := h.mustSubmit(h.submit), h.mustSubmit(h.otherAccountSubmit)
	for key, want := range map[string][]string{h.read: {mine.ID}, h.submit: {mine.ID}, h.otherRead: {theirs.ID}, h.admin: {theirs.ID, mine.ID}} {
		page := h.get("/jobs", key).is(200)
		if got, _ := listed(page); !slices.Equal(got, want) {
			t.Errorf("a key is shown %q, want %q", got, want)
		}
		acts := key == h.submit || key == h.admin
		for _, act := range []string{`type="checkbox"`, "data-several", "<dialog id=\"cancel-several\""} {
			if strings.Contains(string(page.body), act) != acts {
				t.Errorf("may act: %v, and the page has %s", acts, act)
			}
		}
		if strings.Contains(string(page.body), `name="account"`) != (key == h.admin) {
			t.Error("accounts are an admin's to choose from")
		}
	}
	page := h.get("/jobs?account="+h.otherAccount, h.read).is(200)
	if got, _ := listed(page); len(got) != 0 || strings.Contains(string(page.body), theirs.ID) || strings.Contains(string(page.body), ">other<") {
		t.Errorf("another account's filter shows %s", page.body)
	}
}

func TestDashboard_JobsByAFilterThatCannotBeMeant(t *testing.T) {
	h := mustServe(t)
	h.mustSubmit(h.submit)
	for query, want := range map[string]string{
		"status=failed,lost": "A state cannot be “lost”", "age=1w": "The age cannot be “1w”", "since=yesterday": "Created since cannot be “yesterday”",
		"label=acme": "A label cannot be “acme”", "q=" + strings.Repeat("x", 201): "has 201 characters", "cursor=" + sealCursor("listDevices", "x"): "Begin with the newest.",
	} {
		page := h.get("/jobs?"+query, h.read).is(422)
		if text := html.UnescapeString(string(page.body)); !strings.Contains(text, want) || !strings.Contains(text, `href="/jobs"`) || strings.Contains(text, "<tr data-row") {
			t.Errorf("%s is answered with %s", query, text)
		}
	}
}

// BenchmarkJobsPage is the whole page out of 10,000 jobs.
func BenchmarkJobsPage(b *testing.B) {
	h := mustServe(b)
	h.submitMany(1, "acme")
	h.submitMany(9_999, "other")
	for _, query := range []string{"", "status=queued", "status=failed", "q=mov", "q=nothing+like+it", "label=client:acme", "service=ffmpeg.transcode&age=24h"} {
		b.Run(query, func(b *testing.B) {
			shown := 0
			for b.Loop() {
				ids, _ := listed(h.get("/jobs?"+query, h.admin).is(200))
				shown = len(ids)
			}
			b.ReportMetric(float64(shown), "jobs")
		})
	}
}
