package server

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"rendermac/api"
)

// swarmBuyer submits, looks, lists, cancels and downloads.
type swarmBuyer struct {
	*swarm
	rng  *rand.Rand
	jobs []string
	open map[string]bool // jobs not known to have ended
}

const openJobs = 14 // what a buyer keeps going at once

func (b *swarmBuyer) live(ctx context.Context) {
	for ctx.Err() == nil {
		b.act()
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(5+b.rng.IntN(60)) * time.Millisecond):
		}
	}
}

func (b *swarmBuyer) act() {
	switch n := b.rng.IntN(100); {
	case len(b.jobs) == 0, n < 45 && len(b.open) < openJobs:
		b.order(b.anyJob)
	case n < 80:
		b.look(b.pick())
	case n < 87:
		b.cancel(b.pick())
	case n < 95:
		b.download(b.pick())
	default:
		b.list()
	}
}

// pick prefers jobs that are still open.
func (b *swarmBuyer) pick() string {
	if open := b.openOnes(); len(open) > 0 && b.rng.IntN(5) > 0 {
		return open[b.rng.IntN(len(open))]
	}
	return b.jobs[b.rng.IntN(len(b.jobs))]
}

func (b *swarmBuyer) openOnes() (out []string) {
	for _, id := range b.jobs {
		if b.open[id] {
			out = append(out, id)
		}
	}
	return out
}

func plainJob(*api.JobRequest, *swarmJob) {}

// anyJob now and then has a webhook, a deadline, or another job's output as input.
func (b *swarmBuyer) anyJob(r *api.JobRequest, j *swarmJob) {
	j.maxAttempts = 1 + b.rng.IntN(5)
	r.MaxAttempts, r.Priority = &j.maxAttempts, ptr(b.rng.IntN(201)-100)
	if j.webhook = b.rng.IntN(3) == 0; j.webhook {
		r.WebhookURL = ptr("https://buyer.invalid/hook")
	}
	switch b.rng.IntN(12) {
	case 0:
		r.AdmissionDeadline, j.mayFail = ptr(time.Now().Add(time.Duration(1+b.rng.IntN(3000))*time.Millisecond)), true
	case 1:
		if open := b.openOnes(); len(open) > 0 {
			r.Inputs, j.mayFail = []api.Input{{JobID: &open[b.rng.IntN(len(open))]}}, true
		}
	}
}

func (b *swarmBuyer) order(shape func(*api.JobRequest, *swarmJob)) {
	j := &swarmJob{maxAttempts: 3}
	r := api.JobRequest{Service: "ffmpeg.transcode", Params: json.RawMessage(clipParams), Inputs: []api.Input{{UploadID: &b.input}}}
	shape(&r, j)
	call := b.now()
	status, body, _ := b.call("POST", "/v1/jobs", b.submit, r)
	if status == http.StatusUnprocessableEntity && j.mayFail {
		return // the deadline has passed, or the other job has ended, meanwhile
	}
	if status == http.StatusServiceUnavailable {
		b.count("submit unanswered")
		return
	}
	var job api.Job
	if status != http.StatusCreated || json.Unmarshal(body, &job) != nil {
		b.wrong("submit: %d %s", status, body)
		return
	}
	j.id = job.ID
	b.mu.Lock()
	b.swarmLedger.jobs[j.id] = j
	b.mu.Unlock()
	b.saw(j.id, swarmOp{kind: "submit", call: call, ret: b.now()})
	b.jobs, b.open[j.id] = append(b.jobs, j.id), true
	b.count("submit")
}

func (b *swarmBuyer) look(id string) *api.Job {
	var job api.Job
	call := b.now()
	status, body, _ := b.call("GET", "/v1/jobs/"+id, b.read, nil)
	if status == http.StatusServiceUnavailable {
		return nil
	}
	if status != http.StatusOK || json.Unmarshal(body, &job) != nil {
		b.wrong("get: %d %s", status, body)
		return nil
	}
	b.saw(id, swarmOp{kind: "get", n: len(job.Attempts), answer: job.Status, call: call, ret: b.now()})
	if job.Ended() {
		delete(b.open, id)
	}
	return &job
}

func (b *swarmBuyer) cancel(id string) {
	call := b.now()
	status, body, _ := b.call("POST", "/v1/jobs/"+id+"/cancel", b.submit, nil)
	if status == http.StatusServiceUnavailable {
		b.saw(id, swarmOp{kind: "cancel", call: call, ret: never})
		return
	}
	if status != http.StatusAccepted && status != http.StatusConflict {
		b.wrong("cancel: %d %s", status, body)
		return
	}
	b.saw(id, swarmOp{kind: "cancel", answer: fmt.Sprint(status), call: call, ret: b.now()})
	b.count(fmt.Sprintf("cancel %d", status))
	if status == http.StatusAccepted {
		b.mu.Lock()
		b.swarmLedger.jobs[id].cancelled = true
		b.mu.Unlock()
	}
}

// list must show every job that this buyer has, newest first, as far as it goes.
func (b *swarmBuyer) list() {
	var got api.List[api.JobItem]
	before := b.jobs[len(b.jobs)-1]
	status, body, _ := b.call("GET", "/v1/jobs?limit=500", b.read, nil)
	if status == http.StatusServiceUnavailable {
		return
	}
	if status != http.StatusOK || json.Unmarshal(body, &got) != nil {
		b.wrong("list: %d %s", status, body)
		return
	}
	ids := make([]string, len(got.Items))
	for i, j := range got.Items {
		ids[i] = j.ID
	}
	slices.Reverse(ids)
	if !slices.IsSorted(ids) || !slices.Contains(ids, before) && before >= ids[0] {
		b.wrong("the list lacks %s, or is out of order", before)
	}
	b.count("list")
}

// download must give the bytes of the attempt that succeeded, and no others.
func (b *swarmBuyer) download(id string) {
	job := b.look(id)
	if job == nil {
		return
	}
	status, body, header := b.call("GET", "/v1/jobs/"+id+"/output", b.read, nil)
	if status == http.StatusServiceUnavailable {
		return
	}
	if job.Status != api.JobSucceeded {
		if status != http.StatusConflict && status != http.StatusFound { // it may have succeeded meanwhile
			b.wrong("output of a job that was %s: %d %s", job.Status, status, body)
		}
		return
	}
	if status != http.StatusFound {
		b.wrong("output: %d %s", status, body)
		return
	}
	_, body, _ = b.call("GET", header.Get("Location"), "", nil)
	winner := job.Attempts[len(job.Attempts)-1]
	if want := swarmOutput(clip(b).output, winner.ID); winner.Status != api.JobSucceeded || sum(body) != sum(want) || job.Artifact.SHA256 != sum(want) {
		b.wrong("job %s has another's bytes: attempt %+v, artifact %+v", id, winner, job.Artifact)
	}
	b.count("download")
}
