package server

import (
	"fmt"
	"slices"
	"strings"

	"rendermac/fence"
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
		if j := b.swarmLedger.jobs[id]; j != nil && !linear(j, ops) {
			slices.SortFunc(ops, func(x, y swarmOp) int { return int(x.call - y.call) })
			b.wrong("no order of what was seen of job %s is a life that a job may have: %+v", id, ops)
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
	if n := byStatus["succeeded"]; n < len(b.jobs)/5 {
		b.Errorf("seed %d: only %d of %d jobs succeeded", b.seed, n, len(b.jobs))
	}
	for _, what := range b.missing() {
		b.Errorf("seed %d: it never came to: %s", b.seed, what)
	}
}

// missing lists what must happen at least once, and has not yet.
func (l *swarmLedger) missing() (out []string) {
	must := []string{
		"cancel 202", "cancel 409", "download", "list", "offer", "resume", "resume refused", "device revoked", "cancel ignored",
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
