package main

import (
	"time"

	"rendermac/web"
)

func queued(j *web.Job) {
	j.Created = ago(40 * time.Second)
	j.Deadline = new(now.Add(2 * time.Hour))
	j.Events = []web.Event{event(1, j.Created, "job.queued", "")}
}

func waiting(j *web.Job) {
	j.WaitingOn = &web.JobLink{ID: "job_01kbd3m8q5w9x2c7e4r6t8y0za", Name: "interview-joined.mov"}
	j.Inputs = []web.File{{Name: "interview-joined.mov", JobID: j.WaitingOn.ID}}
}

func running(j *web.Job) {
	j.Status, j.Started = "active", before(4*time.Minute)
	a := attemptFrom(1, "studio-1", 4*time.Minute, stay("leased", time.Second), stay("downloading", 40*time.Second), stay("running", 199*time.Second))
	a.Ended, a.Status = nil, "running"
	a.Progress = &web.Progress{AttemptID: a.ID, Phase: "running", Fraction: 0.42, FPS: 187, LeftS: 252}
	j.Attempts = []web.Attempt{a}
	j.Events = []web.Event{
		event(1, j.Created, "job.queued", ""), event(2, a.Leased, "attempt.leased", a.Device, web.Fact{Name: "attempt_number", Value: "1"}),
		event(3, a.Phases[1].From, "attempt.downloading", a.Device), event(4, a.Phases[2].From, "attempt.running", a.Device),
	}
}

func resumedTwice(j *web.Job) {
	j.Attempts[0].Marks = append(j.Attempts[0].Marks,
		web.Mark{Kind: "resumed", At: ago(150 * time.Second), Epoch: 2}, web.Mark{Kind: "resumed", At: ago(60 * time.Second), Epoch: 3})
}

func verifying(j *web.Job) {
	j.Status, j.Started = "verifying", before(4*time.Minute)
	a := attemptFrom(1, "studio-1", 4*time.Minute, stay("leased", time.Second), stay("downloading", 40*time.Second), stay("running", 150*time.Second), stay("uploading", 40*time.Second), stay("verifying", 9*time.Second))
	a.Marks = append(a.Marks, web.Mark{Kind: "committed", At: a.Phases[4].From})
	a.Ended, a.Status, a.Progress = nil, "verifying", &web.Progress{AttemptID: a.ID, Phase: "verifying", Unknown: true}
	j.Attempts = []web.Attempt{a}
}

func cancelling(j *web.Job) {
	j.Status = "cancelling"
	j.Attempts[0].Marks = append(j.Attempts[0].Marks, web.Mark{Kind: "cancelled", At: ago(4 * time.Second)})
}

func cancelled(j *web.Job) {
	j.Status, j.Failure, j.FailureCode, j.Finished = "cancelled", "the job was cancelled", "buyer_cancelled", &now
	a := &j.Attempts[0]
	a.Status, a.Ended, a.Progress, a.Failure = "cancelled", &now, nil, "the job was cancelled"
}

func failing(j *web.Job) {
	j.Created, j.Started, j.Finished = ago(3*time.Hour), before(2*time.Hour), before(80*time.Minute)
	j.Status, j.Failure, j.FailureCode = "failed", "ffmpeg ended with exit status 187: Conversion failed", "runner_failed"
	first := attemptFrom(1, "studio-1", 2*time.Hour, stay("leased", time.Second), stay("downloading", 70*time.Second), stay("running", 14*time.Minute))
	first.Status, first.Failure = "lost", "the Mac was not heard of for a whole lease"
	second := attemptFrom(2, "laptop of the editor", 100*time.Minute, stay("leased", time.Second), stay("downloading", 5*time.Second))
	second.Status, second.Failure = "failed", "the download broke off: connection reset by peer"
	third := attemptFrom(3, "studio-2", 98*time.Minute, stay("leased", time.Second), stay("downloading", 60*time.Second), stay("running", 17*time.Minute))
	third.Status, third.Failure = "failed", j.Failure
	j.Attempts = []web.Attempt{first, second, third}
	j.Events = []web.Event{
		event(1, j.Created, "job.queued", ""), event(2, first.Leased, "attempt.leased", first.Device),
		event(3, *first.Ended, "job.requeued", first.Device, web.Fact{Name: "failure_code", Value: "lease_expired"}, web.Fact{Name: "failure_message", Value: first.Failure}),
		event(4, *third.Ended, "job.failed", third.Device, web.Fact{Name: "failure_code", Value: "runner_failed"}, web.Fact{Name: "failure_message", Value: third.Failure}),
	}
}

func damaged(j *web.Job) {
	j.Attempts = j.Attempts[1:2]
	j.Attempts[0].Number = 1
	j.Failure, j.FailureCode = "the input is damaged: 4:12 of 8:00 could be read; upload it again, or submit with damaged_input=accept to keep what can be read", "input_failed"
	j.Attempts[0].Failure, j.Finished = j.Failure, j.Attempts[0].Ended
	j.Inputs[0].Media = &web.Media{ByAgent: true, Container: "mxf", Seconds: 480, Oddity: "The file ends before its index does.", Tracks: camera.Media.Tracks[:1]}
}

func nobody(j *web.Job) {
	j.Status, j.Failure, j.FailureCode = "failed", "no Mac took the job before its admission deadline", "no_capacity"
	j.Created, j.Deadline, j.Finished = ago(26*time.Hour), before(24*time.Hour), before(24*time.Hour)
}

func succeeded(j *web.Job) {
	verifying(j)
	a := &j.Attempts[0]
	a.Status, a.Ended, a.Progress = "succeeded", &now, nil
	j.Status, j.Finished = "succeeded", &now
	j.Output = made(j, film)
}

// made is a file as this job's output.
func made(j *web.Job, f web.File) *web.File {
	f.Source = "/v1/jobs/" + j.ID + "/output"
	return &f
}
