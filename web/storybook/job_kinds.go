package main

import (
	"fmt"
	"strings"
	"time"

	"rendermac/web"
)

func sound(j *web.Job) {
	j.ID, j.Name, j.Service, j.Preset, j.Params = "job_01kbd3m8q5w9x2c7e4r6t8sound", "interview.m4a", "ffmpeg.audio", "", nil
	j.Output = made(j, web.File{
		Name: j.Name, Bytes: 6_100_000, SHA256: digest, ContentType: "audio/mp4", Warnings: []string{"The loudness is −18.2 LUFS, not the −16 that were asked for: the peaks left no room."},
		Media: &web.Media{Container: "mp4", Seconds: 252.4, Tracks: film.Media.Tracks[1:]},
	})
}

func still(j *web.Job) {
	j.ID, j.Name, j.Service, j.Preset = "job_01kbd3m8q5w9x2c7e4r6t8picture", "interview.jpg", "ffmpeg.thumbnail", ""
	j.Params = []web.Fact{{Name: "at_s", Value: "12.5"}, {Name: "width", Value: "1280"}}
	j.Output = made(j, web.File{Name: j.Name, Bytes: 84_000, SHA256: digest, ContentType: "image/jpeg", Media: &web.Media{Container: "jpeg", Tracks: []web.Track{{Kind: "video", Codec: "mjpeg", Width: 1280, Height: 720}}}})
}

func prores(j *web.Job) {
	j.Name, j.Preset = "interview.mov", "prores-422"
	j.Output = made(j, web.File{Name: j.Name, Bytes: 3_100_000_000, SHA256: digest, ContentType: "video/quicktime", Media: camera.Media})
}

func chained(j *web.Job) {
	j.RetryOf = &web.JobLink{ID: "job_01kbd3m8q5w9x2c7e4r6t8y0zb", Name: j.Name}
	j.Retry = &web.JobLink{ID: "job_01kbd3m8q5w9x2c7e4r6t8y0zd", Name: j.Name}
	in := *made(j, film)
	in.Number, in.Name, in.JobID = 1, "interview-joined.mp4", "job_01kbd3m8q5w9x2c7e4r6t8y0za"
	second := camera
	second.Number = 2
	j.Inputs = []web.File{in, second, shared}
}

// uploaded is a job whose input plays in every browser.
func uploaded(j *web.Job) {
	in := film
	in.Name, in.Number, in.Source, in.SHA256 = "interview-from-the-phone.mp4", 1, camera.Source, digest
	j.Inputs = []web.File{in}
}

// deleted is a job whose output and whose events retention has removed.
func deleted(j *web.Job) {
	j.ID = "job_01kbd3m8q5w9x2c7e4r6t8silent"
	j.Output.Deleted = before(24 * time.Hour)
	j.Inputs[0].Deleted = before(48 * time.Hour)
	j.Attempts[0].Phases = []web.Phase{{Name: "ran", From: j.Attempts[0].Leased, To: now}}
	j.Attempts[0].Marks = nil
}

func rightToLeft(j *web.Job) {
	j.Name, j.Inputs[0].Name, j.Attempts[0].Device = "مقابلة مع المخرج (نهائي).mp4", "مقابلة مع المخرج.mov", "استوديو التحرير ٢"
	j.Labels = []web.Label{{Key: "لغة", Value: "عربي"}}
	j.Account.Name = "شركة"
}

func longNames(j *web.Job) {
	long := strings.Repeat("a-name-without-end-", 13)
	j.Name, j.Output.Name, j.Inputs[0].Name = long+".mp4", long+".mp4", long+".mov"
	j.Account.Name, j.Attempts[0].Device = strings.Repeat("account ", 20), long
	j.Labels = []web.Label{{Key: strings.Repeat("k", 64), Value: strings.Repeat("v", 256)}}
	j.Params = []web.Fact{{Name: "composition", Value: `{"title":"` + strings.Repeat("x", 400) + `"}`}}
	j.Output.Warnings = []string{long}
	j.Events = []web.Event{event(1, j.Created, "job.failed", long, web.Fact{Name: "failure_message", Value: long})}
	j.Webhook = &web.Webhook{URL: "https://example.test/" + long, Events: []string{"job.started", "job.succeeded", "job.failed", "job.cancelled"}}
}

func hundreds(j *web.Job) {
	a := &j.Attempts[0]
	for n := range 240 {
		at := a.Leased.Add(time.Duration(n) * time.Second)
		j.Events = append(j.Events, event(int64(10+n), at, "attempt.resumed", a.Device, web.Fact{Name: "lease_epoch", Value: fmt.Sprint(n + 2)}))
		a.Marks = append(a.Marks, web.Mark{Kind: "resumed", At: at, Epoch: int64(n + 2)})
	}
	j.MoreEvents = true
}

// told is a job that has cost credits, and of whose end a receiver was told.
func told(j *web.Job) {
	j.Hold = &web.Hold{Credits: 1200, State: "captured", Movements: []web.Movement{{ID: 1, At: j.Created, Kind: "hold", Amount: 1200, Held: 1200}, {ID: 2, At: now, Kind: "capture", Amount: 1200, Spent: 1200}}}
	j.Webhook = &web.Webhook{URL: "https://example.test/hook", Events: []string{"job.started", "job.succeeded"}, Deliveries: []web.Delivery{
		{ID: "whd_2", JobID: j.ID, URL: "https://example.test/hook", Event: "job.succeeded", State: "pending", Tries: 3, LastStatus: new(503), LastError: "the receiver answered 503: it must answer 2xx", NextTry: new(now.Add(8 * time.Minute)), CreatedAt: now},
		{ID: "whd_1", JobID: j.ID, URL: "https://example.test/hook", Event: "job.started", State: "delivered", Tries: 1, LastStatus: new(204), CreatedAt: *j.Started},
	}}
}

func charged(j *web.Job) {
	j.Hold, j.Dependents = &web.Hold{Credits: 20, State: "held"}, 3
}

// seenByReaders is what a key below admin sees.
func seenByReaders(j *web.Job) {
	j.Account = nil
	j.Webhook = &web.Webhook{URL: "https://example.test/hook"}
}
