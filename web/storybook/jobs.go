package main

import (
	"fmt"
	"strings"
	"time"

	"rendermac/web"
)

// Those from jobs/selected on are brought there by canned/jobs-*.js.
var jobs = []story{
	{"jobs/empty", admin("Jobs", "/jobs"), web.Jobs{Newest: true, Choices: choices}},
	{"jobs/empty-reader", reader("Jobs", "/jobs"), web.Jobs{Newest: true, Choices: choices}},
	{"jobs/every-state", admin("Jobs", "/jobs"), listed(everyState)},
	{"jobs/reader", reader("Jobs", "/jobs"), listed(everyState)},
	{"jobs/thousands", admin("Jobs", "/jobs"), web.Jobs{Choices: choices, Rows: manyJobs(50), Older: "b2xkZXI"}},
	{"jobs/accounts", admin("Jobs", "/jobs"), web.Jobs{Newest: true, Choices: ofAccounts, Rows: owned(manyJobs(22))}},
	{"jobs/filtered", searching("interview"), web.Jobs{Newest: true, Choices: choices, Filter: filter, Rows: manyJobs(7), Older: "b2xkZXI"}},
	{"jobs/names", admin("Jobs", "/jobs"), listed(oddNames)},
	{"jobs/nothing-matches", searching("intreview"), web.Jobs{Newest: true, Choices: choices, Filter: web.JobFilter{Query: "intreview", Statuses: []string{"failed"}}}},
	{"jobs/nothing-failed", admin("Jobs", "/jobs"), web.Jobs{Newest: true, Choices: choices, Filter: web.JobFilter{Statuses: []string{"failed"}}}},
	{"jobs/nothing-yet", admin("Jobs", "/jobs"), web.Jobs{Newest: true, Choices: choices, Filter: web.JobFilter{Labels: []string{"client:acme"}}, Older: "b2xkZXI", Looked: true}},
	{"jobs/nothing-older", admin("Jobs", "/jobs"), web.Jobs{Choices: choices}},
	{"jobs/fault", admin("Jobs", "/jobs"), web.Jobs{Choices: choices, Filter: wrong, LostPlace: true}},
	{"jobs/selected", admin("Jobs", "/jobs"), listed(everyState)},
	{"jobs/cancel", admin("Jobs", "/jobs"), listed(everyState)},
	{"jobs/retry", admin("Jobs", "/jobs"), listed(everyState)},
	{"jobs/priority", admin("Jobs", "/jobs"), listed(everyState)},
	{"jobs/outcome", admin("Jobs", "/jobs"), listed(everyState)},
}

func listed(rows []web.JobRow) web.Jobs { return web.Jobs{Newest: true, Choices: choices, Rows: rows} }

func searching(text string) web.Frame {
	f := admin("Jobs", "/jobs")
	f.Query = text
	return f
}

var choices = web.JobChoices{
	Services: []string{"ffmpeg.concat", "ffmpeg.sheet", "ffmpeg.thumbnail", "ffmpeg.transcode", "remotion.render"},
	Devices:  []web.Choice{{Value: "dev_01kbd3m8q5w9x2c7e4r6t8y0za", Name: "Studio A"}, {Value: "dev_01kbd3m8q5w9x2c7e4r6t8y0zb", Name: "Studio B"}},
}

var filter = web.JobFilter{
	Statuses: []string{"failed", "cancelled"}, Service: "ffmpeg.transcode", Device: choices.Devices[0], Labels: []string{"client:acme", "season:2"},
	Query: "interview", Age: "7d", Since: "2026-11-28T00:00:00Z",
}

var wrong = web.JobFilter{Statuses: []string{"failed", "lost"}, Age: "1w", Labels: []string{"acme"}, Since: "yesterday"}

var ofAccounts = web.JobChoices{
	Services: choices.Services, Devices: choices.Devices,
	Accounts: []web.Choice{{Value: "acc_a", Name: "studio"}, {Value: "acc_b", Name: "Acme Film and Television"}, {Value: "acc_c", Name: "استوديو التحرير"}},
}

func owned(rows []web.JobRow) []web.JobRow {
	for i := range rows {
		rows[i].Account = ofAccounts.Accounts[i%3].Name
	}
	return rows
}

func jobID(n int) string { return fmt.Sprintf("job_01kbd3m8q5w9x2c7e4r6t8%04d", n) }

func ran(phase string, fraction float64) *web.Progress {
	return &web.Progress{AttemptID: "att_01kbd3m8q5w9x2c7e4r6t8y0" + phase[:2], Phase: phase, Fraction: fraction, FPS: 142, LeftS: 200}
}

var everyState = []web.JobRow{
	{ID: jobID(1), Name: "interview-web.mp4", Status: "queued", Service: "ffmpeg.transcode", Preset: "web-1080p", Created: now.Add(-20 * time.Second), Priority: 5, Labels: []web.Label{{Key: "client", Value: "acme"}}},
	{ID: jobID(2), Name: "sheet.jpg", Status: "queued", Service: "ffmpeg.sheet", Created: now.Add(-40 * time.Second), WaitingOn: jobID(1)},
	{ID: jobID(3), Name: "from-the-share.mov", Status: "queued", Service: "ffmpeg.transcode", Preset: "prores-422", Created: now.Add(-50 * time.Second), Reading: true},
	{ID: jobID(4), Name: "again.mp4", Status: "queued", Service: "ffmpeg.transcode", Preset: "web-720p", Created: now.Add(-9 * time.Minute), Device: "Studio B", Attempt: 2, Failure: "the Mac was not heard of for a whole lease"},
	{ID: jobID(5), Name: "episode-3.mp4", Status: "active", Service: "ffmpeg.transcode", Preset: "hevc-2160p", Created: now.Add(-12 * time.Minute), Device: "Studio A", Attempt: 1, Progress: ran("running", 0.4), Labels: []web.Label{{Key: "client", Value: "acme"}, {Key: "season", Value: "2"}}},
	{ID: jobID(6), Name: "episode-2.mp4", Status: "verifying", Service: "ffmpeg.transcode", Preset: "hevc-2160p", Created: now.Add(-40 * time.Minute), Device: "Studio A", Attempt: 1, Progress: &web.Progress{AttemptID: "att_v", Phase: "verifying", Unknown: true}},
	{ID: jobID(7), Name: "wrong-cut.mp4", Status: "cancelling", Service: "ffmpeg.transcode", Preset: "social-9x16", Created: now.Add(-41 * time.Minute), Device: "Studio B", Attempt: 1, Progress: ran("uploading", 0.9)},
	{ID: jobID(8), Name: "episode-1.mp4", Status: "succeeded", Service: "ffmpeg.transcode", Preset: "hevc-2160p", Created: now.Add(-2 * time.Hour), Device: "Studio A", Attempt: 1, Took: 21*time.Minute + 4*time.Second, Labels: []web.Label{{Key: "client", Value: "acme"}}},
	{ID: jobID(9), Name: "damaged.mp4", Status: "failed", Service: "ffmpeg.transcode", Preset: "web-1080p", Created: now.Add(-3 * time.Hour), Device: "Studio B", Attempt: 1, Took: 4 * time.Second, Failure: "the input is damaged: partial file; upload it again, or submit with damaged_input=accept to keep what can be read"},
	{ID: jobID(10), Name: "too-late.mp4", Status: "failed", Service: "remotion.render", Created: now.Add(-26 * time.Hour), Failure: "no Mac took the job before its admission deadline"},
	{ID: jobID(11), Name: "never-mind.mp4", Status: "cancelled", Service: "ffmpeg.transcode", Preset: "web-480p", Created: now.Add(-49 * time.Hour)},
}

var oddNames = []web.JobRow{
	{ID: jobID(1), Name: strings.Repeat("a-name-without-end-", 13) + ".mp4", Status: "succeeded", Service: "ffmpeg.transcode", Preset: "a-preset-of-our-own-with-a-long-name", Device: strings.Repeat("Mac of the long name ", 4), Created: now, Took: time.Hour, Labels: []web.Label{{Key: "a", Value: strings.Repeat("long", 30)}}},
	{ID: jobID(2), Name: "مقابلة مع المخرج.mp4", Status: "active", Service: "ffmpeg.transcode", Preset: "web-1080p", Device: "استوديو", Created: now, Progress: ran("running", 0.7), Labels: []web.Label{{Key: "لغة", Value: "عربي"}}},
	{ID: jobID(3), Name: "ראיון 12 (final).mov", Status: "failed", Service: "ffmpeg.transcode", Created: now, Failure: strings.Repeat("a reason that goes on and on ", 12)},
	{ID: jobID(4), Name: "<script>alert(1)</script>.mp4", Status: "queued", Service: "ffmpeg.transcode", Created: now},
}

func manyJobs(n int) (rows []web.JobRow) {
	for i := range n {
		row := everyState[i%len(everyState)]
		row.ID, row.Created = jobID(i), row.Created.Add(-time.Duration(i)*time.Hour)
		if row.Progress != nil {
			p := *row.Progress
			p.AttemptID = fmt.Sprintf("att_%d", i)
			row.Progress = &p
		}
		rows = append(rows, row)
	}
	return rows
}
