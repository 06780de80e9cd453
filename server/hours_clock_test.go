package server

import (
	"testing"
	"testing/synctest"
	"time"

	"rendermac/agentproto"
	"rendermac/api"
	"rendermac/fence"
	"rendermac/store/storetest"
)

// F13 and F15: idle hours, and clocks that are set.

// during counts the transactions of a while in which nobody does anything.
func (b *bubble) during(d time.Duration) int64 {
	synctest.Wait()
	before := b.batches.Load()
	time.Sleep(d)
	synctest.Wait()
	return b.batches.Load() - before
}

func TestF13_NobodyScansOnAClock(t *testing.T) {
	inBubble(t, func(b *bubble) {
		if n := b.during(22 * time.Hour); n != 0 {
			b.Errorf("%d transactions in 22 idle hours, want none", n)
		}
		if n := b.during(48 * time.Hour); n < 4 || n > 10 { // some of them may share a batch
			b.Errorf("%d transactions in two days, want the daily forgetting of keys, links and sessions, optimize, retention's note of the clock, and nothing else", n)
		}
		deadline := b.wall.Now().Add(30 * time.Minute)
		b.mustJob(func(r *api.JobRequest) { r.AdmissionDeadline = &deadline })
		if n := b.during(time.Hour); n != 1 {
			b.Errorf("%d transactions in an hour with one deadline, want one", n)
		}
		b.mustMac(1)
		pings, sweeps := int64(time.Hour/(12*time.Second)), int64(time.Hour/(72*time.Second))
		if n := b.during(time.Hour); n > pings+sweeps {
			b.Errorf("%d transactions in an hour with an idle Mac, want at most %d pings and %d looks for its silence", n, pings, sweeps)
		}
	})
}

func TestF15_AClockThatIsSetLosesNoLease(t *testing.T) {
	for name, by := range map[string]time.Duration{"forward": time.Hour, "back": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				m := b.mustMac(2)
				busy, silent := m.mustRun(), m.mustRun()
				silence := time.Now()
				busy.beats(storetest.TTL / 2)
				b.wall.set(by)
				busy.say(busy.progress("running"))
				hear[agentproto.ProgressOK](m)
				if got := m.state(); got != "online" {
					b.Fatalf("after the clock was set: %s", got)
				}
				other := b.mustMac(1)
				if again := other.mustOffer(); again.JobID != silent.JobID {
					b.Fatalf("offered %s", again.JobID)
				}
				b.after(silence, storetest.TTL) // as if no clock had been set
				if got := m.state(); got != "online" {
					b.Fatalf("half a minute after the clock was set: %s", got)
				}
				busy.beats(10 * time.Minute)
				if got := m.state(); got != "online" {
					b.Fatalf("ten minutes after the clock was set: %s", got)
				}
				busy.stands(fence.JobActive, fence.AttemptRunning)
				if j := b.job(busy.JobID); len(j.Attempts) != 1 {
					b.Fatalf("attempts %+v", j.Attempts)
				}
			})
		})
	}
}

func TestF15_AMacsBackoffMovesWithTheClock(t *testing.T) {
	for name, by := range map[string]time.Duration{"forward": time.Hour, "back": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				m := b.mustMac(1)
				r := m.mustRun()
				r.fail(fence.UploadFailed)
				failed := time.Now()
				b.wall.set(by)
				m.say(&agentproto.Ready{SlotsFree: 1})
				m.mustOffer()
				b.after(failed, storetest.Backoff)
			})
		})
	}
}

// A Mac is offline 90 seconds after it was last heard of, whatever clock was set
// in between. Pings are too rare here to say that it lives.
func TestF15_SilenceIsMeasuredWithoutTheClock(t *testing.T) {
	for name, by := range map[string]time.Duration{"forward": time.Hour, "back": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				m := b.mustMac(1)
				time.Sleep(10 * time.Second)
				b.wall.set(by)
				time.Sleep(80*time.Second - time.Millisecond)
				if got := m.state(); got != "online" {
					b.Fatalf("a millisecond early: %s", got)
				}
				time.Sleep(time.Millisecond)
				if got := m.state(); got != "offline" {
					b.Fatalf("unheard for 90 s, and %s", got)
				}
			}, func(o *Options) { o.Heartbeat = 10 * time.Minute })
		})
	}
}

// Only fake clocks can be set, but a server that slept for an hour looks the
// same: its timers stood still.
func TestF15_AnAdmissionDeadlineThatASleepHasPassed(t *testing.T) {
	inBubble(t, func(b *bubble) {
		deadline := b.wall.Now().Add(30 * time.Minute)
		j := b.mustJob(func(r *api.JobRequest) { r.AdmissionDeadline = &deadline })
		time.Sleep(time.Minute)
		b.wall.set(time.Hour)
		woke := b.wall.Now()
		time.Sleep(time.Minute)
		got := b.job(j.ID)
		if got.Status != api.JobFailed || *got.FailureCode != fence.NoCapacity || got.FinishedAt.Sub(woke) > maxNap {
			b.Fatalf("a minute after the server woke, the job is %s since %v", got.Status, got.FinishedAt)
		}
	})
}

func TestF13_ADeviceThatComesBackByItselfIsWatchedAgain(t *testing.T) {
	inBubble(t, func(b *bubble) {
		m := b.mustMac(1)
		time.Sleep(7 * time.Minute)
		if got := m.state(); got != "offline" { // pings are rarer here than a device may be silent
			b.Fatal(got)
		}
		time.Sleep(5 * time.Minute) // a ping has come
		m.plug.Store(true)
		time.Sleep(time.Hour)
		if got := m.state(); got != "offline" {
			b.Fatalf("unheard for an hour, and %s", got)
		}
	}, func(o *Options) { o.Heartbeat = 10 * time.Minute })
}
