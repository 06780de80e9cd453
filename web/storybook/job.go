package main

import (
	"fmt"
	"strings"
	"time"

	"rendermac/web"
)

var job = []story{
	jobStory("queued", queued),
	jobStory("reading", queued, func(j *web.Job) { j.Reading = 2; j.Inputs = []web.File{shared, shared} }),
	jobStory("waiting-on-another", queued, waiting),
	jobStory("running", running),
	jobStory("running-by-a-name-of-the-right", running, rightToLeft),
	jobStory("resumed-twice", running, resumedTwice),
	jobStory("stuck", queued, func(j *web.Job) { j.Next = &web.NextRow{Lacks: []string{"remotion", "studio-b"}} }),
	jobStory("waits-again", failing, func(j *web.Job) {
		j.Status, j.Failure, j.FailureCode, j.Finished, j.Attempts = "queued", "", "", nil, j.Attempts[:1]
	}),
	jobStory("verifying", verifying),
	jobStory("cancelling", running, cancelling),
	jobStory("cancelled", running, cancelling, cancelled),
	jobStory("three-attempts-failed", failing),
	jobStory("failed-for-its-input", failing, damaged),
	jobStory("nobody-took-it", queued, nobody),
	jobStory("video", succeeded),
	jobStory("audio", succeeded, sound),
	jobStory("picture", succeeded, still),
	jobStory("unplayable", succeeded, prores),
	jobStory("video-in-and-out", succeeded, uploaded),
	jobStory("chained", succeeded, chained),
	jobStory("deleted-by-retention", succeeded, deleted),
	jobStory("long-names", succeeded, longNames),
	jobStory("hundreds-of-events", running, hundreds),
	jobStory("told", succeeded, told),
	jobStory("cancel", running, charged),
	jobStory("priority", queued),
	{"job/reader", reader("Job", "/jobs"), jobOf(succeeded, seenByReaders)},
	{"job/reader-running", reader("Job", "/jobs"), jobOf(running, seenByReaders)},
}

func jobStory(name string, changes ...func(*web.Job)) story {
	return story{"job/" + name, admin("Job", "/jobs"), jobOf(changes...)}
}

func jobOf(changes ...func(*web.Job)) web.Job {
	j := web.Job{
		ID: "job_01kbd3m8q5w9x2c7e4r6t8film", Name: "interview-with-the-director-web.mp4", Status: "queued", Service: "ffmpeg.transcode", Preset: "web-1080p",
		Account: &web.Choice{Value: "acc_01kbd3m8q5w9x2c7e4r6t8y0a1", Name: "studio"}, MaxAttempts: 3, Created: ago(10 * time.Minute), Now: now,
		Params: []web.Fact{{Name: "audio_bitrate", Value: "192000"}, {Name: "preset", Value: "web-1080p"}}, Inputs: []web.File{camera},
		Labels: []web.Label{{Key: "client", Value: "acme"}, {Key: "season", Value: "2"}}, Requires: []web.Fact{{Name: "Tags", Value: "studio-b"}, {Name: "Memory", Value: "at least 16 GB"}},
	}
	for _, change := range changes {
		change(&j)
	}
	return j
}

func ago(d time.Duration) time.Time { return now.Add(-d) }

const digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

var (
	camera = web.File{Name: "interview-with-the-director-long-version-2.mov", Number: 1, ContentType: "video/quicktime", Source: "/v1/jobs/job_01kbd3m8q5w9x2c7e4r6t8film/inputs/1", Bytes: 4_812_400_000, SHA256: digest, Media: &web.Media{Container: "mov", Seconds: 252.4, Tracks: []web.Track{
		{Kind: "video", Codec: "prores", Tag: "apch", Profile: "422 HQ", Width: 3840, Height: 2160, BitDepth: 10, Chroma: "4:2:2", FPS: 25, Primaries: "bt709", Transfer: "bt709", Matrix: "bt709"},
		{Kind: "audio", Codec: "pcm", BitDepth: 24, SampleRate: 48000, Channels: 2},
		{Kind: "timecode"},
	}}}
	film = web.File{Name: "interview-with-the-director-web.mp4", Bytes: 132_700_000, SHA256: strings.Repeat("1d", 32), ContentType: "video/mp4", Media: &web.Media{Container: "mp4", Seconds: 252.4, Tracks: []web.Track{
		{Kind: "video", Codec: "h264", Profile: "High", Width: 1920, Height: 1080, BitDepth: 8, Chroma: "4:2:0", FPS: 25, Primaries: "bt709", Transfer: "bt709", Matrix: "bt709"},
		{Kind: "audio", Codec: "aac", SampleRate: 48000, Channels: 2},
	}}}
	shared = web.File{Number: 3, Name: "A001_C003.mov", Path: "rushes/day-1/A001_C003.mov"}
)

// attemptFrom is a run that has begun that long ago: stays are how long it was in
// which phase, in order.
func attemptFrom(number int, device string, begun time.Duration, stays ...web.Phase) web.Attempt {
	a := web.Attempt{ID: fmt.Sprintf("att_%d", number), Number: number, DeviceID: "dev_01kbd3m8q5w9x2c7e4r6t8y0a1", Device: device, Leased: ago(begun), Phases: stays}
	a.Marks = []web.Mark{{Kind: "leased", At: a.Leased}}
	at := a.Leased
	for i := range a.Phases {
		took := a.Phases[i].To.Sub(a.Phases[i].From)
		a.Phases[i].From, a.Phases[i].To = at, at.Add(took)
		at = at.Add(took)
	}
	a.Ended = &at
	return a
}

func stay(phase string, took time.Duration) web.Phase {
	return web.Phase{Name: phase, From: now, To: now.Add(took)}
}

func event(id int64, at time.Time, kind, device string, facts ...web.Fact) web.Event {
	return web.Event{ID: id, At: at, Type: kind, Device: device, Facts: facts}
}
