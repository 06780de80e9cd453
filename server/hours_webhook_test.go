package server

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"rendermac/api"
	"rendermac/store"
)

// The deliverer by the clock: ten tries within a day, and nobody waits for
// anybody else.

// quiet waits until everybody waits.
func (b *bubble) quiet() { b.Helper(); synctest.Wait() }

func TestWebhook_TenTriesWithinADay(t *testing.T) {
	inBubbleOf(t, func(*store.Options) {}, func(b *bubble) {
		r := b.receives("dead.test", nil)
		j := b.mustTell(r.url)
		secrets := b.secrets()
		r.answer = func(w http.ResponseWriter, _ *http.Request) {
			all := r.hooks()
			b.verified(all[len(all)-1], secrets...)
			w.WriteHeader(500)
		}
		b.mustStart()
		time.Sleep(3 * 24 * time.Hour)
		b.quiet()
		hooks := r.hooks()
		if len(hooks) != 10 {
			b.Fatalf("%d tries, want 10", len(hooks))
		}
		waits := []time.Duration{5 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 90 * time.Minute, 2 * time.Hour, 4 * time.Hour, 6 * time.Hour, 10 * time.Hour}
		odd := map[float64]bool{}
		for i, want := range waits {
			share := float64(hooks[i+1].at.Sub(hooks[i].at)) / float64(want)
			odd[share] = true
			if share < 0.899 || share > 1.101 {
				b.Errorf("try %d came %.3f of %v after the one before", i+2, share, want)
			}
		}
		if len(odd) != len(waits) {
			b.Errorf("the waits are not drawn: %v", odd)
		}
		if d := b.delivery(j.ID); d.State != "failed" || d.Tries != 10 || d.NextTryAt != nil || d.DeliveredAt != nil || *d.LastStatus != 500 {
			b.Errorf("in the end: %+v", d)
		}
	}, private)
}

func TestWebhook_AGoneReceiverIsLeftAlone(t *testing.T) {
	inBubble(t, func(b *bubble) {
		r := b.receives("gone.test", answers(410))
		b.mustTell(r.url)
		time.Sleep(3 * 24 * time.Hour)
		b.quiet()
		r.hears(1)
	}, private)
}

// Fifteen seconds for the whole exchange, wherever it hangs.
func TestWebhook_AHangingReceiver(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"before the answer": hang,
		"amid the answer": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(200)
			w.(http.Flusher).Flush()
			hang(w, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				r := b.receives("slow.test", answer)
				j := b.mustTell(r.url)
				time.Sleep(tryTime - time.Millisecond)
				b.quiet()
				if d := b.delivery(j.ID); d.State != "pending" || d.Tries != 0 {
					b.Errorf("a millisecond early: %+v", d)
				}
				time.Sleep(2 * time.Millisecond)
				b.quiet()
				if d := b.delivery(j.ID); d.Tries != 1 || *d.LastError != "no whole answer came within 15s" {
					b.Errorf("afterwards: %+v", d)
				}
			}, private)
		})
	}
}

// However many receivers of an account hang, or however much one is owed: who
// answers is told at once.
func TestWebhook_NobodyWaitsForAHangingReceiver(t *testing.T) {
	inBubble(t, func(b *bubble) {
		slow := b.receives("slow.test", hang)
		for range 20 {
			b.mustTell(slow.url)
		}
		b.quiet()
		slow.hears(triesAtOnceLane)
		good := b.receives("good.test", nil)
		begun := time.Now()
		for range 20 {
			b.mustTell(good.url)
		}
		b.quiet()
		good.hears(20)
		b.after(begun, 0)
		for i := range triesAtOnceAccount { // more than an account may
			hanging := b.receives(fmt.Sprintf("slow-%d.test", i), hang)
			b.mustTell(hanging.url)
		}
		b.mustTell(good.url)
		b.quiet()
		good.hears(20) // the account's own places are taken
		u := b.mustUpload(b.otherAccountSubmit, "clip.mov", []byte("clip"))
		other := b.receives("other.test", nil)
		j := into[api.Job](b.post("/v1/jobs", b.otherAccountSubmit, api.JobRequest{Service: "ffmpeg.transcode", Inputs: []api.Input{{UploadID: &u.ID}}, WebhookURL: &other.url}).is(201))
		b.post("/v1/jobs/"+j.ID+"/cancel", b.otherAccountSubmit, nil).is(202)
		b.quiet()
		other.hears(1)
		b.after(begun, 0)
		time.Sleep(tryTime + time.Second)
		b.quiet()
		good.hears(21)
	}, private)
}

func TestWebhook_ARestartTakesUpWhatIsPending(t *testing.T) {
	inBubbleOf(t, func(*store.Options) {}, func(b *bubble) {
		r := b.receives("hook.test", nil)
		for range 5 {
			b.mustTell(r.url)
		}
		b.quiet()
		r.hears(0) // nothing runs yet
		b.mustStart()
		b.quiet()
		r.hears(5)
	}, private)
}

// What the server's own end cuts off was no try.
func TestWebhook_AStopCutsOffATryThatHangs(t *testing.T) {
	inBubbleOf(t, func(*store.Options) {}, func(b *bubble) {
		r := b.receives("slow.test", hang)
		j := b.mustTell(r.url)
		if err := b.srv.Start(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.quiet()
		r.hears(1)
		begun := time.Now()
		b.srv.Stop()
		b.after(begun, 0)
		if d := b.delivery(j.ID); d.State != "pending" || d.Tries != 0 {
			b.Errorf("stopped: %+v", d)
		}
	}, private)
}

func TestWebhook_RetryAfterWithinBounds(t *testing.T) {
	for header, want := range map[string]time.Duration{"120": 2 * time.Minute, "999999": time.Hour, "date": 3 * time.Minute, "1": 0, "-5": 0, "soon": 0} {
		t.Run(header, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				said := header
				if header == "date" {
					said = time.Now().Add(want).UTC().Format(http.TimeFormat)
				}
				r := b.receives("busy.test", func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Retry-After", said)
					w.WriteHeader(503)
				})
				b.mustTell(r.url)
				time.Sleep(want + 6*time.Second)
				b.quiet()
				hooks := r.hooks()
				if len(hooks) != 2 {
					b.Fatalf("%d tries", len(hooks))
				}
				if wait := hooks[1].at.Sub(hooks[0].at).Round(10 * time.Millisecond); wait < want || want > 0 && wait > want || wait > want+6*time.Second {
					b.Errorf("the second came after %v, want %v", wait, want)
				}
			}, private)
		})
	}
}

// F15: a wait is a wait, whatever becomes of the clock.
func TestF15_AClockThatIsSetMovesNoWebhook(t *testing.T) {
	for name, by := range map[string]time.Duration{"forward": 9 * time.Hour, "back": -9 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				r := b.receives("dead.test", answers(500))
				b.mustTell(r.url)
				time.Sleep(10 * time.Minute)
				b.quiet()
				r.hears(4) // at 0, 5 s, 1 min, 6 min; the next after half an hour
				b.wall.set(by)
				time.Sleep(15 * time.Minute)
				b.quiet()
				r.hears(4)
				time.Sleep(20 * time.Minute)
				b.quiet()
				r.hears(5)
			}, private)
		})
	}
}

// For a day after a rotation both secrets sign, then the new one alone.
func TestWebhook_BothSecretsSignForADay(t *testing.T) {
	inBubbleOf(t, func(*store.Options) {}, func(b *bubble) {
		r := b.receives("hook.test", nil)
		b.mustTell(r.url)
		before := b.secrets()[0]
		now := into[api.AccountSecret](b.post("/v1/accounts/"+b.account+"/webhook-secret", b.admin, nil).is(201)).WebhookSecret
		b.mustStart()
		b.quiet()
		b.verified(r.hears(1), now, before) // queued before, sent after
		time.Sleep(24*time.Hour - time.Minute)
		b.mustTell(r.url)
		b.quiet()
		b.verified(r.hears(2), now, before)
		time.Sleep(time.Minute)
		b.mustTell(r.url)
		b.quiet()
		last := r.hears(3)
		b.verified(last, now)
		if got := last.header.Get("webhook-signature"); len(got) != len("v1,")+44 {
			b.Errorf("a day later it is signed %q", got)
		}
	}, private)
}
