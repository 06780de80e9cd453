package server

import (
	"fmt"
	"math"
	"testing"
	"time"

	"rendermac/fence"

	"github.com/anishathalye/porcupine"
)

// The life of one job as its buyers and agents see it, for Porcupine. What
// happens inside between their calls (a lease that nobody hears of, a lost
// attempt, the verifier's verdict) may happen at any time: the model is
// nondeterministic there, and only there.

// swarmOp is one call or one thing heard. An answer that never came returns at
// the end of time, and may or may not have had its effect.
type swarmOp struct {
	kind      string // submit get cancel commit fail held alive cancelling ended
	n         int    // the attempt's number; for get, how many there are
	answer    string
	call, ret int64
	job       *swarmJob
}

const never = math.MaxInt64

type jobLife struct {
	status fence.JobStatus // empty: not submitted
	n      int             // attempts so far
}

// inside is every state that l can reach by itself.
func (l jobLife) inside(j *swarmJob) []jobLife {
	out := []jobLife{l}
	add := func(status fence.JobStatus, n int) {
		next := jobLife{status, n}
		for _, had := range out {
			if had == next {
				return
			}
		}
		out = append(out, next)
	}
	for i := 0; i < len(out); i++ {
		switch l := out[i]; l.status {
		case fence.JobQueued:
			if l.n < j.maxAttempts {
				add(fence.JobActive, l.n+1)
			}
			if j.mayFail {
				add(fence.JobFailed, l.n)
			}
		case fence.JobActive: // F12: a lost attempt
			if l.n < j.maxAttempts {
				add(fence.JobQueued, l.n)
			}
			if l.n == j.maxAttempts || j.mayFail {
				add(fence.JobFailed, l.n)
			}
		case fence.JobVerifying: // F8
			add(fence.JobSucceeded, l.n)
			add(fence.JobFailed, l.n)
		case fence.JobCancelling:
			add(fence.JobCancelled, l.n)
		}
	}
	return out
}

// after is where an operation takes l; nothing where it cannot have happened.
func (l jobLife) after(op swarmOp) (out []jobLife) {
	same, own := []jobLife{l}, l.n == op.n
	to := func(s fence.JobStatus) []jobLife { return []jobLife{{s, l.n}} }
	is := func(list ...fence.JobStatus) bool {
		for _, s := range list {
			if l.status == s {
				return true
			}
		}
		return false
	}
	switch op.kind + " " + op.answer {
	case "submit ":
		if is("") {
			return to(fence.JobQueued)
		}
	case "cancel 202", "cancel ":
		switch {
		case is(fence.JobQueued):
			out = to(fence.JobCancelled)
		case is(fence.JobActive, fence.JobVerifying, fence.JobCancelling):
			out = to(fence.JobCancelling)
		}
		if op.answer == "" {
			return append(out, l)
		}
		return out
	case "cancel 409":
		if l.status.Terminal() && !is("") {
			return same
		}
	case "held ": // an offer, a grant, a resume: one's own run is the live one
		if own && is(fence.JobActive) {
			return same
		}
	case "alive ": // progress_ok
		if own && is(fence.JobActive, fence.JobVerifying) {
			return same
		}
	case "cancelling ":
		if own && is(fence.JobCancelling) {
			return same
		}
	case "commit accepted":
		if own && is(fence.JobActive, fence.JobVerifying) {
			return to(fence.JobVerifying)
		}
	case "commit ":
		if own && is(fence.JobActive) {
			return append(same, to(fence.JobVerifying)...)
		}
		return same
	case "fail requeued":
		if own && is(fence.JobActive) && l.n < op.job.maxAttempts {
			return to(fence.JobQueued)
		}
	case "fail done":
		switch {
		case own && is(fence.JobActive):
			return to(fence.JobFailed)
		case own && is(fence.JobCancelling):
			return to(fence.JobCancelled)
		}
	case "fail ":
		if own && is(fence.JobActive) {
			return append(same, jobLife{fence.JobFailed, l.n}, jobLife{fence.JobQueued, l.n})
		}
		return same
	case "commit refused", "fail refused":
		return same
	default: // get and ended say where the job stands
		if (op.kind == "get" || op.kind == "ended") && own && l.status == fence.JobStatus(op.answer) {
			return same
		}
	}
	return nil
}

var jobModel = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{jobLife{}} },
	Step: func(state, input, _ any) (out []any) {
		op := input.(swarmOp)
		for _, l := range state.(jobLife).inside(op.job) {
			for _, next := range l.after(op) {
				out = append(out, next)
			}
		}
		return out
	},
	Hash: func(state any) uint64 {
		l := state.(jobLife)
		return uint64(l.n)*31 + uint64(len(l.status))*7
	},
	DescribeOperation: func(input, _ any) string {
		op := input.(swarmOp)
		return fmt.Sprintf("%s(%d) %s", op.kind, op.n, op.answer)
	},
}).ToModel()

// linear says whether what was seen of a job can have happened in some order;
// Unknown where that was not found out in a minute, which is no yes.
func linear(j *swarmJob, ops []swarmOp) porcupine.CheckResult {
	history := make([]porcupine.Operation, len(ops))
	for i, op := range ops {
		op.job = j
		history[i] = porcupine.Operation{ClientId: i, Input: op, Call: op.call, Return: op.ret}
	}
	return porcupine.CheckOperationsTimeout(jobModel, history, time.Minute)
}

// one after another, unless a history says otherwise
func inOrder(ops ...swarmOp) []swarmOp {
	for i := range ops {
		if ops[i].ret == 0 {
			ops[i].call, ops[i].ret = int64(10*i), int64(10*i+5)
		}
	}
	return ops
}

func TestSwarmModel_TellsRightFromWrong(t *testing.T) {
	submit := swarmOp{kind: "submit"}
	held := func(n int) swarmOp { return swarmOp{kind: "held", n: n} }
	alive := func(n int) swarmOp { return swarmOp{kind: "alive", n: n} }
	commit := func(n int, answer string) swarmOp { return swarmOp{kind: "commit", n: n, answer: answer} }
	cancel := func(status string) swarmOp { return swarmOp{kind: "cancel", answer: status} }
	ended := func(n int, status string) swarmOp { return swarmOp{kind: "ended", n: n, answer: status} }
	get := func(n int, status string) swarmOp { return swarmOp{kind: "get", n: n, answer: status} }
	fail := func(n int, answer string) swarmOp { return swarmOp{kind: "fail", n: n, answer: answer} }
	lateCancel := swarmOp{kind: "cancel", answer: "202", call: 5, ret: 100}
	lostCommit := swarmOp{kind: "commit", n: 1, call: 15, ret: never}
	for _, c := range []struct {
		what  string
		right bool
		ops   []swarmOp
	}{
		{"a life", true, inOrder(submit, held(1), alive(1), commit(1, "accepted"), ended(1, "succeeded"), get(1, "succeeded"), cancel("409"))},
		{"a retry", true, inOrder(submit, held(1), fail(1, "requeued"), get(1, "queued"), held(2), commit(1, "refused"), commit(2, "accepted"), ended(2, "succeeded"))},
		{"leases that nobody heard of", true, inOrder(submit, get(2, "active"), held(3))},
		{"a cancel that overlaps a commit", true, inOrder(submit, lateCancel, held(1), commit(1, "accepted"), ended(1, "cancelled"))},
		{"a commit whose answer was lost", true, inOrder(submit, lostCommit, held(1), alive(1), ended(1, "succeeded"))},
		{"no attempt left", true, inOrder(submit, held(3), get(3, "failed"))},
		{"succeeded after a cancel was answered", false, inOrder(submit, held(1), cancel("202"), commit(1, "accepted"), ended(1, "succeeded"))},
		{"succeeded after a cancel while verifying", false, inOrder(submit, held(1), commit(1, "accepted"), get(1, "verifying"), cancel("202"), get(1, "succeeded"))},
		{"commits of two attempts accepted", false, inOrder(submit, held(1), commit(1, "accepted"), commit(2, "accepted"))},
		{"succeeded, and then moving", false, inOrder(submit, held(1), commit(1, "accepted"), ended(1, "succeeded"), get(1, "queued"))},
		{"cancelled, and then failed", false, inOrder(submit, cancel("202"), get(0, "cancelled"), get(0, "failed"))},
		{"two runs alive", false, inOrder(submit, held(1), alive(2), alive(1))},
		{"a cancel refused while active", false, inOrder(submit, held(1), cancel("409"), alive(1))},
		{"more attempts than allowed", false, inOrder(submit, held(4))},
		{"succeeded without a commit", false, inOrder(submit, held(1), get(1, "succeeded"))},
		{"accepted after its run was given up", false, inOrder(submit, held(1), fail(1, "done"), commit(1, "accepted"))},
	} {
		want := map[bool]porcupine.CheckResult{true: porcupine.Ok, false: porcupine.Illegal}[c.right]
		if got := linear(&swarmJob{maxAttempts: 3}, c.ops); got != want {
			t.Errorf("%s: the model says %s, want %s", c.what, got, want)
		}
	}
}
