package server

import (
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"

	"rendermac/agentproto"
	"rendermac/api"
)

// In these bubbles the log is the gates': a COMMIT, and what follows it, can be
// held apart.
func inDrains(t *testing.T, test func(*bubble, *gates)) {
	g := newGates()
	inBubble(t, func(b *bubble) { test(b, g) }, func(o *Options) { o.Log = slog.New(g) })
}

// change asks for a change, and does not wait for its answer.
func (b *bubble) change(m *mac, body string) {
	b.Helper()
	go func() { b.do("PATCH", "/v1/devices/"+m.id, b.admin, body).is(200) }()
	synctest.Wait()
}

// heardNow is all that the Mac has heard by now.
func (b *bubble) heardNow(m *mac) string {
	synctest.Wait()
	return fmt.Sprint(m.drain(func(agentproto.Message) {}))
}

func (b *bubble) hears(m *mac, when, want string) {
	b.Helper()
	if got := b.heardNow(m); got != want {
		b.Fatalf("%s the Mac heard %s, want %s", when, got, want)
	}
}

func TestDrain_NoOffersUntilResumed(t *testing.T) {
	inDrains(t, func(b *bubble, _ *gates) {
		m := b.mustMac(2)
		r := m.mustRun()
		b.change(m, `{"draining":true}`)
		b.mustJob()
		b.hears(m, "draining", "[drain]")
		b.change(m, `{"draining":true}`)
		b.hears(m, "drained again", "[]")
		r.say(r.progress("running")) // what runs goes on
		b.hears(m, "running while draining", "[progress_ok]")
		again := b.mustPairOf(m)
		again.connect(2)
		again.say(&agentproto.Ready{SlotsFree: 2})
		b.hears(again, "back while draining", "[drain]")
		b.change(again, `{"draining":false}`)
		b.hears(again, "resumed", "[resume_work lease_offer lease_offer]")
	})
}

// mustPairOf is another agent with the same pairing.
func (b *bubble) mustPairOf(m *mac) *mac {
	return &mac{httpServer: b.httpServer, id: m.id, token: m.token}
}

// A change that commits between a hello's transaction and its session's place in
// the hub reaches that session.
func TestDrain_BetweenAHelloAndItsSession(t *testing.T) {
	for body, want := range map[string]string{`{"draining":true}`: "[drain]", `{"slots":0}`: "[]", `{"slots":1}`: "[lease_offer]"} {
		t.Run(body, func(t *testing.T) {
			inDrains(t, func(b *bubble, g *gates) {
				m := b.mustPair("mini")
				open := g.close("connected", m.id)
				m.dial()
				m.say(&agentproto.Hello{Protocol: 1, Slots: 2, Services: []string{"ffmpeg.transcode"}, Device: machine})
				synctest.Wait()
				b.change(m, body)
				open()
				hear[agentproto.HelloOK](m)
				m.say(&agentproto.Ready{SlotsFree: 2})
				b.mustJob()
				b.mustJob()
				b.hears(m, "arrived", want)
			})
		})
	}
}

// Two changes whose effects overtake each other leave the session as the newer
// COMMIT has it.
func TestDrain_EffectsThatOvertake(t *testing.T) {
	inDrains(t, func(b *bubble, g *gates) {
		m := b.mustMac(1)
		late := g.close("device changed", m.id)
		b.change(m, `{"draining":true,"slots":0}`) // stored, and held before its effect
		g.close("device changed", m.id)()          // those that follow are not held
		b.change(m, `{"draining":false,"slots":null}`)
		late()
		b.mustJob()
		b.hears(m, "resumed before it heard of the drain,", "[lease_offer]")
	})
}

// A hello that was stored before a change, and one after it, both go by the newest.
func TestDrain_AHelloAfterTheChangeKnowsMore(t *testing.T) {
	inDrains(t, func(b *bubble, g *gates) {
		m := b.mustMac(1)
		late := g.close("device changed", m.id)
		b.change(m, `{"draining":true}`)
		g.close("device changed", m.id)()
		b.change(m, `{"draining":false}`)
		again := b.mustPairOf(m)
		again.connect(1)
		late() // the drain reaches a session whose hello came after the resume
		again.say(&agentproto.Ready{SlotsFree: 1})
		b.mustJob()
		b.hears(again, "back", "[lease_offer]")
	})
}

// An offer that was leased before the drain goes out before it, none after.
func TestDrain_NoOfferComesAfterIt(t *testing.T) {
	inDrains(t, func(b *bubble, g *gates) {
		m := b.mustMac(3)
		open := g.close("leased", m.id)
		b.mustJob()
		synctest.Wait() // leased, and not on its way
		b.change(m, `{"draining":true}`)
		b.mustJob()
		open()
		b.hears(m, "drained amid an offer", "[lease_offer drain]")
	})
}

func TestDevices_SlotsRuleAtOnce(t *testing.T) {
	inDrains(t, func(b *bubble, _ *gates) {
		m := b.mustMac(3)
		b.change(m, `{"slots":1}`)
		for range 4 {
			b.mustJob()
		}
		b.hears(m, "with one slot", "[lease_offer]")
		b.change(m, `{"slots":2}`)
		b.hears(m, "with two", "[lease_offer]")
		b.change(m, `{"slots":null}`)
		b.hears(m, "with its own three", "[lease_offer]")
		b.change(m, `{"slots":9}`)
		b.hears(m, "with more than it has free", "[]")
	})
}

func TestDevices_ATagLetsAQueuedJobGo(t *testing.T) {
	inDrains(t, func(b *bubble, _ *gates) {
		m := b.mustMac(1)
		b.mustJob(func(r *api.JobRequest) { r.Requires = &api.Requires{Tags: []string{"studio-b"}} })
		b.hears(m, "without the tag", "[]")
		b.change(m, `{"tags":["studio-b","fast"]}`)
		b.hears(m, "with it", "[lease_offer]")
	})
}

// A job that another Mac had failed waits for that one no longer than it may run (F3).
func TestF3_ADrainedMacIsNotWaitedFor(t *testing.T) {
	for _, body := range []string{`{"draining":true}`, `{"slots":0}`} {
		t.Run(body, func(t *testing.T) { isNotWaitedFor(t, body) })
	}
}

func isNotWaitedFor(t *testing.T, body string) {
	inDrains(t, func(b *bubble, _ *gates) {
		m := b.mustMac(1)
		other := b.mustPair("other")
		other.connect(0) // capable, and never ready
		r := m.mustRun()
		r.fail("download_failed")
		b.hears(m, "another is to try", "[]")
		b.change(other, body)
		m.say(&agentproto.Ready{SlotsFree: 1})
		if got := hear[agentproto.LeaseOffer](m); got.JobID != r.JobID { // once its backoff is over
			t.Fatalf("offered %s", got.JobID)
		}
	})
}
