package agent

import (
	"context"
	"errors"
	"testing"
	"time"

	"rendermac/agentproto"
)

func testLease(now *time.Duration) *lease {
	l := &lease{now: func() time.Duration { return *now }, changed: make(chan struct{}), ttl: minute}
	l.ids = agentproto.IDs{JobID: "job_1", AttemptID: "att_1", LeaseEpoch: 1}
	l.ends = *now + l.ttl
	return l
}

func TestF17_LeaseIsCountedFromWhenTheRenewingMessageWasSent(t *testing.T) {
	now := time.Duration(1)
	l := testLease(&now)
	l.beats = []beat{{sent: now}}
	now += 50 * time.Second // the answer takes its time
	l.renewed(&agentproto.ProgressOK{IDs: l.ids, LeaseTTL: 60})
	if want := 1 + minute; l.ends != want {
		t.Errorf("the lease ends at %s, want %s", l.ends, want)
	}
}

func TestF17_AnswerBelongsToTheOldestUnansweredMessage(t *testing.T) {
	now := time.Duration(1)
	l := testLease(&now)
	l.beats = []beat{{sent: 10 * time.Second}, {sent: 20 * time.Second}}
	for _, want := range []time.Duration{70 * time.Second, 80 * time.Second, 80 * time.Second} {
		l.renewed(&agentproto.ProgressOK{IDs: l.ids, LeaseTTL: 60})
		if l.ends != want {
			t.Errorf("the lease ends at %s, want %s", l.ends, want)
		}
	}
}

func TestF17_UploadGrantRenewsFromWhenItWasAskedFor(t *testing.T) {
	now := time.Duration(1)
	l := testLease(&now)
	l.asked = 5 * time.Second
	now = 40 * time.Second
	l.answered(&agentproto.UploadGrant{IDs: l.ids})
	if want := 65 * time.Second; l.ends != want {
		t.Errorf("the lease ends at %s, want %s", l.ends, want)
	}
}

func TestF4_AnswerUnderAnotherEpochRenewsNothing(t *testing.T) {
	now := time.Duration(1)
	l := testLease(&now)
	before := l.ends
	l.beats = []beat{{sent: 10 * time.Second}}
	stale := l.ids
	stale.LeaseEpoch = 7
	l.renewed(&agentproto.ProgressOK{IDs: stale, LeaseTTL: 60})
	if l.ends != before || len(l.beats) != 1 {
		t.Errorf("an answer of another epoch moved the lease to %s", l.ends)
	}
}

func TestF17_LeaseEndsByTheClockThatRunsAsleep(t *testing.T) {
	now := time.Duration(1)
	l := testLease(&now)
	ctx, lose := context.WithCancelCause(context.Background())
	l.set(func() { now += minute }) // and no timer has fired meanwhile
	l.watch(ctx, lose)
	if !errors.Is(context.Cause(ctx), errLeaseOver) {
		t.Errorf("the run ended by %v", context.Cause(ctx))
	}
}

func TestF6_NoLeaseClockOnceTheCommitIsSent(t *testing.T) {
	now := time.Duration(1)
	l := testLease(&now)
	l.stopClock()
	l.beats = []beat{{sent: now}}
	l.renewed(&agentproto.ProgressOK{IDs: l.ids, LeaseTTL: 60})
	if l.ends != 0 {
		t.Errorf("a late progress_ok started the lease clock again: %s", l.ends)
	}
}
