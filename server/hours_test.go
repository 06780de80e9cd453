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

// F5, F12 and F13 by the clock. What is asserted of time here is asserted of
// fake time: it is exact, or it is wrong.

// after checks that so much time has passed since a moment, to the millisecond.
func (b *bubble) after(since time.Time, want time.Duration) {
	b.Helper()
	if got := time.Since(since).Round(time.Millisecond); got != want {
		b.Fatalf("it came after %v, want %v", got, want)
	}
}

// beats heartbeats twice a lease, for so long.
func (r *run) beats(d time.Duration) {
	r.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(storetest.TTL / 2) {
		r.say(r.progress("running"))
		hear[agentproto.ProgressOK](r.mac)
	}
}

func (m *mac) state() string {
	m.Helper()
	synctest.Wait()
	return into[api.Device](m.get("/v1/devices/"+m.id, m.admin).is(200)).State
}

func (b *bubble) job(id string) api.Job {
	b.Helper()
	synctest.Wait()
	return into[api.Job](b.get("/v1/jobs/"+id, b.admin).is(200))
}

func TestF13_ASilentMacsJobGoesElsewhereAtTheInstant(t *testing.T) {
	inBubble(t, func(b *bubble) {
		r := b.mustMac(1).mustRun()
		r.plug.Store(true) // its plug is pulled
		leased := time.Now()
		other := b.mustMac(1)
		if again := other.mustOffer(); again.JobID != r.JobID || again.offer.AttemptNumber != 2 {
			b.Fatalf("offer %+v", again.offer)
		}
		b.after(leased, storetest.TTL)
		j := b.job(r.JobID)
		if first := j.Attempts[0]; first.Status != "lost" || *first.FailureCode != fence.LeaseExpired || first.EndedAt.Sub(first.LeasedAt) != storetest.TTL {
			b.Fatalf("first attempt %+v", first)
		}
	})
}

func TestF5_HeartbeatsKeepALeaseForTenHours(t *testing.T) {
	inBubble(t, func(b *bubble) {
		r := b.mustMac(1).mustRun()
		r.beats(10 * time.Hour)
		r.stands(fence.JobActive, fence.AttemptRunning)
		last := b.wall.Now().Add(-storetest.TTL / 2)
		time.Sleep(storetest.TTL)
		if a := b.job(r.JobID).Attempts[0]; a.Status != "lost" || !a.EndedAt.Equal(last.Add(storetest.TTL)) {
			b.Fatalf("attempt %s at %v, last renewed at %v", a.Status, a.EndedAt, last)
		}
	}, func(o *Options) { o.Heartbeat = 5 * time.Minute })
}

func TestF12_TheMacThatFailedWaitsLongerEachTime(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.mustJob(func(r *api.JobRequest) { r.MaxAttempts = ptr(10) })
		m := b.mustMac(1)
		r := m.mustOffer()
		for _, wait := range []time.Duration{5, 10, 20, 40, 80, 160, 300, 300, 300} {
			r.fail(fence.InternalError)
			failed := time.Now()
			m.say(&agentproto.Ready{SlotsFree: 1})
			r = m.mustOffer()
			b.after(failed, wait*time.Second)
		}
		if got := r.fail(fence.InternalError); got.Requeued {
			b.Fatal("an eleventh attempt")
		}
	})
}

func TestF12_NobodyElseWaits(t *testing.T) {
	inBubble(t, func(b *bubble) {
		a := b.mustMac(1)
		r := a.mustRun()
		other := b.mustMac(1)
		r.fail(fence.UploadFailed)
		failed := time.Now()
		second := other.mustOffer()
		b.after(failed, 0)
		second.fail(fence.UploadFailed) // now both have: the first is free after 5 s, this one after 10
		a.say(&agentproto.Ready{SlotsFree: 1})
		other.say(&agentproto.Ready{SlotsFree: 1})
		third := a.mustOffer()
		b.after(failed, 5*time.Second)
		third.stands(fence.JobActive, fence.AttemptLeased)
	})
}

func TestF13_EachAdmissionDeadlineAtItsInstant(t *testing.T) {
	inBubble(t, func(b *bubble) {
		start := b.wall.Now().Truncate(time.Millisecond)
		due := map[string]time.Time{}
		for _, minutes := range []time.Duration{180, 2, 60, 1} { // the next known deadline changes
			deadline := start.Add(minutes * time.Minute)
			due[b.mustJob(func(r *api.JobRequest) { r.AdmissionDeadline = &deadline }).ID] = deadline
		}
		time.Sleep(4 * time.Hour)
		for id, deadline := range due {
			if j := b.job(id); j.Status != api.JobFailed || *j.FailureCode != fence.NoCapacity || !j.FinishedAt.Equal(deadline) {
				b.Errorf("job %s at %v, want failed at %v", j.Status, j.FinishedAt, deadline)
			}
		}
	})
}

func TestF13_ADeviceUnheardGoesOfflineAndItsJobElsewhere(t *testing.T) {
	inBubble(t, func(b *bubble) {
		a := b.mustMac(1)
		r := a.mustRun()
		other := b.mustMac(0) // capable and online, and takes nothing
		unheard := time.Now()
		other.plug.Store(true)
		r.fail(fence.UploadFailed)
		a.say(&agentproto.Ready{SlotsFree: 1})
		time.Sleep(90*time.Second - time.Millisecond)
		if got := other.state(); got != "online" {
			b.Fatalf("a millisecond early: %s", got)
		}
		again := a.mustOffer() // it was skipped until now, though its backoff is long over
		b.after(unheard, 90*time.Second)
		if got := other.state(); got != "offline" || again.JobID != r.JobID {
			b.Fatalf("%s, offered %s", got, again.JobID)
		}
	})
}

// The others that go offline: whoever was skipped for them is asked again.
func TestF3_AMacThatLeavesIsSkippedForNoLonger(t *testing.T) {
	for name, leave := range map[string]func(*mac){
		"bye":    func(m *mac) { m.say(&agentproto.Bye{Reason: "lunch"}) },
		"revoke": func(m *mac) { m.do("DELETE", "/v1/devices/"+m.id, m.admin, nil).is(204) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				a := b.mustMac(1)
				r := a.mustRun()
				other := b.mustMac(0)
				r.fail(fence.UploadFailed)
				a.say(&agentproto.Ready{SlotsFree: 1})
				time.Sleep(time.Minute)
				left := time.Now()
				leave(other)
				a.mustOffer()
				b.after(left, 0)
			})
		})
	}
}

func TestGateway_PingsEndADeadSocket(t *testing.T) {
	inBubble(t, func(b *bubble) {
		m := b.mustMac(1)
		time.Sleep(time.Hour)
		if b.srv.hub.of(m.id) == nil {
			b.Fatal("an idle session did not last an hour")
		}
		m.plug.Store(true)
		time.Sleep(15*time.Second*12/10 + pongTimeout)
		synctest.Wait()
		if b.srv.hub.of(m.id) != nil {
			b.Fatal("a session whose socket leads nowhere lives on")
		}
	})
}

func TestF5_AnAgentThatIgnoresTheCancelKeepsNothingAlive(t *testing.T) {
	inBubble(t, func(b *bubble) {
		r := b.mustMac(1).mustRun()
		r.beats(time.Hour)
		last := b.wall.Now().Add(-storetest.TTL / 2)
		r.cancel()
		hear[agentproto.Cancel](r.mac)
		for range 20 { // a minute of heartbeats
			r.say(r.progress("running"))
			time.Sleep(3 * time.Second)
		}
		j := r.stands(fence.JobCancelled, fence.AttemptCancelled)
		if after := j.FinishedAt.Sub(last).Round(time.Second); after != storetest.TTL {
			b.Fatalf("cancelled %v after the last renewal", after)
		}
	})
}
