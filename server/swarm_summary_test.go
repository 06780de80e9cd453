package server

import (
	"fmt"
	"slices"
	"strings"

	"rendermac/fence"

	"github.com/anishathalye/porcupine"
)

// checkHistories holds each job's life, as it was seen from outside, against
// the model.
func (b *books) checkHistories() {
	for _, c := range b.commits {
		if op := (swarmOp{kind: "commit", n: c.n, answer: c.answer, call: c.call, ret: c.ret}); c.answer != "refused" {
			b.ops[c.job] = append(b.ops[c.job], op)
		}
	}
	for _, said := range b.fails {
		for _, f := range said {
			if !f.refused {
				b.ops[f.job] = append(b.ops[f.job], swarmOp{kind: "fail", n: f.n, call: f.call, ret: never})
			}
		}
	}
	for id, f := range b.finals {
		status := map[string]fence.JobStatus{"": fence.JobSucceeded, fence.BuyerCancelled: fence.JobCancelled, fence.VerificationFailed: fence.JobFailed}[f.code]
		b.ops[f.job] = append(b.ops[f.job], swarmOp{kind: "ended", n: b.attempts[id].n, answer: string(status), ret: f.ret})
	}
	for id, ops := range b.ops {
		if j := b.swarmLedger.jobs[id]; j != nil {
			verdict := linear(j, ops)
			if verdict == porcupine.Ok {
				continue
			}
			slices.SortFunc(ops, func(x, y swarmOp) int { return int(x.call - y.call) })
			b.wrong("%s: no order of what was seen of job %s is a life that a job may have: %+v", verdict, id, ops)
		}
	}
}

// summary prints what has happened, and minds that it was something.
func (b *books) summary() {
	byStatus, byAnswer := map[string]int{}, map[string]int{}
	ops := 0
	for _, j := range b.jobs {
		byStatus[string(j.status)]++
	}
	for _, c := range b.commits {
		byAnswer["commit "+c.answer]++
	}
	for _, list := range b.ops {
		ops += len(list)
	}
	slices.Sort(b.answers)
	b.Logf("swarm, seed %d: %d jobs (%s); %d attempts; %d commits (%s); %d events; %d observations; %s; %d answers, p50 %v p99 %v",
		b.seed, len(b.jobs), tally(byStatus), len(b.attempts), len(b.commits), tally(byAnswer), b.events, ops, tally(b.counts),
		len(b.answers), b.answers[len(b.answers)/2], b.answers[len(b.answers)*99/100])
	b.bounds(byStatus["succeeded"])
	for _, what := range b.missing() {
		b.Errorf("seed %d: it never came to: %s", b.seed, what)
	}
}

// bounds minds that the run has looked at something: what the store was too
// busy to answer proves nothing. Two cores at a load of 17 showed none of it, and
// 62 of 100 jobs succeeded.
func (b *books) bounds(succeeded int) {
	if n := b.counts["503"] + b.counts["1011"]; n > len(b.answers)/20 {
		b.Errorf("seed %d: %d of %d answers were that the store is too busy", b.seed, n, len(b.answers))
	}
	if n := b.counts["submit unanswered"]; n > b.counts["submit"]/20 {
		b.Errorf("seed %d: %d submits were not answered, %d were", b.seed, n, b.counts["submit"])
	}
	if succeeded < len(b.jobs)*3/10 {
		b.Errorf("seed %d: only %d of %d jobs succeeded", b.seed, succeeded, len(b.jobs))
	}
}

// missing lists what must happen at least once, and has not yet.
func (l *swarmLedger) missing() (out []string) {
	must := []string{
		"cancel 202", "cancel 409", "download", "list", "offer", "resume", "resume refused", "device revoked", "cancel ignored", "heard drain", "heard resume_work",
		"commit of a cancelled job", "commit after the expiry", "commit after a freeze", "message under the old epoch",
		"wrong digest", "wrong length", "truncated media", "swapped part",
	}
	for name := range swarmFaults {
		must = append(must, name)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(must, func(what string) bool { return l.counts[what] > 0 })
}

func tally(counts map[string]int) string {
	var out []string
	for what, n := range counts {
		out = append(out, fmt.Sprintf("%s %d", what, n))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
