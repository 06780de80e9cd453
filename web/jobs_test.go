package web

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every address that the page offers is the filter but for the one thing that it is
// about, and goes back to the newest.
func TestJobFilter_AddressesChangeOneThing(t *testing.T) {
	f := JobFilter{Statuses: []string{"failed", "lost"}, Service: "ffmpeg.transcode", Labels: []string{"client:acme", "reel:7"}, Query: "50% & more", Age: "7d", Since: "2026-11-24T00:00:00Z"}
	const rest = "q=50%25+%26+more&service=ffmpeg.transcode&since=2026-11-24T00%3A00%3A00Z"
	const both = "&label=client%3Aacme&label=reel%3A7"
	at := func(age, labels, text string) string { return "/jobs?" + age + labels + text }
	if got, want := f.At("c2"), at("age=7d&cursor=c2", both, "&"+rest+"&status=failed&status=lost"); got != want {
		t.Errorf("the page from there on is at %s, want %s", got, want)
	}
	pills := map[string]string{}
	for _, p := range f.Pills() {
		pills[p.Status] = p.At
		if p.On != (p.Status == "failed") {
			t.Errorf("%s is on: %v", p.Status, p.On)
		}
	}
	if got, want := pills["failed"], at("age=7d", both, "&"+rest+"&status=lost"); got != want {
		t.Errorf("without what failed it is at %s, want %s", got, want)
	}
	if got, want := pills["queued"], at("age=7d", both, "&"+rest+"&status=failed&status=lost&status=queued"); got != want {
		t.Errorf("with what is queued it is at %s, want %s", got, want)
	}
	chips := map[string]string{}
	for _, c := range (Jobs{Filter: f}).Chips() {
		chips[c.Kind+" "+c.Text] = c.At
	}
	if got, want := chips["Label client=acme"], at("age=7d", "&label=reel%3A7", "&"+rest+"&status=failed&status=lost"); got != want || len(chips) != 5 {
		t.Errorf("without the label it is at %s, want %s; chips are %v", got, want, chips)
	}
	if again := f.With(Label{"client", "acme"}); again != f.At("") {
		t.Errorf("with a label that it has already it is at %s", again)
	}
	if got, none := f.Elsewhere(), (JobFilter{Query: "x"}).Elsewhere(); got != "/jobs?q=50%25+%26+more" || none != "" {
		t.Errorf("all jobs are searched at %q, and again at %q", got, none)
	}
}

func TestJobFilter_TheLaterOfTwoBeginningsCounts(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		age, since string
		want       time.Time
	}{
		{"", "", time.Time{}},
		{"24h", "", now.Add(-24 * time.Hour)},
		{"24h", "2026-12-01T06:00:00Z", now.Add(-6 * time.Hour)},
		{"1h", "2026-12-01T06:00:00Z", now.Add(-time.Hour)},
		{"1w", "yesterday", time.Time{}},
	} {
		if got, _ := (JobFilter{Age: c.age, Since: c.since}).Times(now); !got.Equal(c.want) {
			t.Errorf("%s and %q begin at %s, want %s", c.age, c.since, got, c.want)
		}
	}
}

// New job and the command line teach key=value, addresses and the API have key:value.
func TestAskedLabels_TakeBothWaysOfWritingOne(t *testing.T) {
	got := AskedLabels([]string{"client=acme", "client:acme", "at=10:30", "sum:1+1=2", "empty=", "=x:y", "acme"})
	want := []string{"client:acme", "client:acme", "at:10:30", "sum:1+1=2", "empty:", "=x:y", "acme"}
	if !slices.Equal(got, want) {
		t.Errorf("they are asked for as %q", got)
	}
	if faults := (Jobs{Filter: JobFilter{Labels: got}}).Faults(); len(faults) != 2 {
		t.Errorf("faults are %q", faults)
	}
}

func TestJobs_SayWhatTheFilterCannotMean(t *testing.T) {
	for want, f := range map[string]JobFilter{
		"A state cannot be “lost”: it is queued, active, verifying, cancelling, succeeded, failed or cancelled.": {Statuses: []string{"failed", "lost"}},
		"The age cannot be “1w”: it is 1h, 24h, 7d or 30d.":                                                      {Age: "1w"},
		"A label cannot be “:x”: it is a key and a value, such as client=acme.":                                  {Labels: []string{"a:", ":x"}},
		"Created before cannot be “1”: it is a time such as 2026-12-01T14:30:00Z.":                               {Until: "1", Since: "2026-12-01T14:30:00+02:00"},
		"The text to search for has 201 characters: at most 200 can be searched for.":                            {Query: strings.Repeat("é", 201)},
		"There are 33 labels: at most 32 can be asked for.":                                                      {Labels: slices.Repeat([]string{"a:b"}, 33)},
	} {
		if got := (Jobs{Filter: f}).Faults(); len(got) != 1 || got[0] != want {
			t.Errorf("%+v is said to be %q, want %q", f, got, want)
		}
	}
	if got := (Jobs{Filter: JobFilter{Statuses: statuses, Age: "7d", Labels: []string{"a:"}, Query: strings.Repeat("é", 200)}}).Faults(); len(got) != 0 {
		t.Errorf("what is right is said to be %q", got)
	}
}

// A row of a live job says what keeps it; one that has ended, only why it failed.
func TestJobRow_NoteSaysWhyItDoesNotRun(t *testing.T) {
	for want, r := range map[string]JobRow{
		"":                                       {Status: "succeeded", Priority: 5, Attempt: 2, Failure: "x"},
		"The disk is full.":                      {Status: "failed", Failure: "the disk is full.", Priority: 5},
		"priority +5":                            {Status: "queued", Priority: 5},
		"priority −5, waits for another job":     {Status: "queued", Priority: -5, WaitingOn: "job_1"},
		"its files are read first":               {Status: "queued", Reading: true},
		"attempt 2 ended: the Mac was not heard": {Status: "queued", Attempt: 2, Failure: "the Mac was not heard."},
	} {
		if got := r.Note(); got != want {
			t.Errorf("%+v says %q, want %q", r, got, want)
		}
	}
}

func TestJobs_NamesAreText(t *testing.T) {
	var page bytes.Buffer
	row := JobRow{ID: "job_1", Name: `"><script>alert(1)</script>`, Status: "queued", Labels: []Label{{"<b>", `" onclick="x`}}}
	if err := Render(&page, Frame{Scope: "admin"}, Jobs{Newest: true, Rows: []JobRow{row}, Filter: JobFilter{Query: "<i>", Labels: []string{`"<u>:`}}}); err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{"<script>alert", "<b>", `" onclick`, "<i>", "<u>"} {
		if strings.Contains(page.String(), raw) {
			t.Errorf("the page holds %s as it was given", raw)
		}
	}
}
