package server

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rendermac/agentproto"
	"rendermac/api"
	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

// F14 and F18 under every order of a few events: each order is a pairing and a
// job of its own, on one server in fake time, through real WebSockets.

// event is one thing that may happen, where it can.
type event struct {
	name string
	can  func(*world) bool
	do   func(*world)
}

func message(name string, say func(*world, int)) []event {
	first := func(w *world) bool { return w.agents[0].open }
	newest := func(w *world) bool { return w.here > 0 }
	return []event{
		{"A." + name, first, func(w *world) { say(w, 0) }},
		{"B." + name, newest, func(w *world) { say(w, w.here) }},
	}
}

func connects(name string, lists func(*world) int, reads bool) event {
	return event{name, func(w *world) bool { return !w.revoked && w.arriving < 0 && lists(w) >= 0 }, func(w *world) {
		w.hello(lists(w))
		if !reads {
			w.drop(len(w.agents) - 1)
			w.land()
		}
	}}
}

// events are all that the orders are made of.
var events = func() map[string]event {
	list := []event{
		connects("hello", func(*world) int { return 0 }, true),
		connects("resume", (*world).knows, true),
		connects("resume unheard", (*world).knows, false), // its answer is lost after the COMMIT
		connects("resume stale", func(w *world) int { return map[bool]int{true: 1, false: -1}[w.knows() > 1] }, true),
		{"land", func(w *world) bool { return w.land != nil }, func(w *world) { w.land() }},
		{"cancel", func(*world) bool { return true }, (*world).cancelJob},
		{"revoke", func(w *world) bool { return !w.revoked }, (*world).revoke},
		{"verdict", func(w *world) bool { return w.job == fence.JobVerifying }, (*world).verdict},
		{"tell", func(w *world) bool { return w.tell != nil }, func(w *world) { w.tell() }},
		{"expire", func(*world) bool { return true }, func(w *world) { time.Sleep(storetest.TTL); w.lose() }},
	}
	for _, both := range [][]event{
		message("progress", (*world).progress), message("commit", (*world).commit), message("fail", (*world).fail),
		message("bye", (*world).bye), message("drop", (*world).drop),
	} {
		list = append(list, both...)
	}
	out := map[string]event{}
	for _, e := range list {
		out[e.name] = e
	}
	return out
}()

// orders plays every order of a family's events, of every length up to its depth;
// each event comes as often as it is named, where it can.
func orders(b *bubble, g *gates, upload string, f family) (n int) {
	var before []string
	if f.prefix != "" {
		before = strings.Split(f.prefix, ", ")
	}
	var walk func(path []string, left []string)
	walk = func(path, left []string) {
		next := b.possible(g, upload, path, left)
		if len(path) < len(before)+f.depth {
			for i, name := range left {
				if i > 0 && left[i-1] == name || !next[name] {
					continue
				}
				rest := append(append([]string(nil), left[:i]...), left[i+1:]...)
				walk(append(append([]string(nil), path...), name), rest)
			}
		}
		n++
	}
	walk(before, strings.Split(f.events, ", "))
	return n
}

// possible plays one order to its end, and says which events could follow it.
func (b *bubble) possible(g *gates, upload string, path, left []string) map[string]bool {
	w := b.newWorld(g, upload)
	for _, name := range path {
		w.trail = append(w.trail, name)
		events[name].do(w)
		w.agrees()
	}
	can := map[string]bool{}
	for _, name := range left {
		can[name] = events[name].can(w)
	}
	w.finish()
	return can
}

// newWorld is a Mac that has uploaded all but committed nothing.
func (b *bubble) newWorld(g *gates, upload string) *world {
	m := b.mustPair("mini")
	m.connect(2)
	b.post("/v1/jobs", b.submit, api.JobRequest{Service: "ffmpeg.transcode", Params: []byte(clipParams), Inputs: []api.Input{{UploadID: &upload}}}).is(201)
	m.say(&agentproto.Ready{SlotsFree: 1})
	r := m.mustOffer()
	m.say(&agentproto.Ready{SlotsFree: 0})
	r.upload()
	return &world{
		bubble: b, gates: g, upload: upload, run: r, agents: []*speaker{{mac: m, knows: 1, open: true}}, job: fence.JobActive, attempt: fence.AttemptUploading,
		secrets: []string{r.token}, newest: 0, here: 0, arriving: -1, counts: 0,
	}
}

// finish lets everything land, counts the slots, and leaves nothing behind.
func (w *world) finish() {
	w.trail = append(w.trail, "the end")
	if w.land != nil {
		w.land()
	}
	if w.tell != nil {
		w.tell()
	}
	w.agrees()
	for _, done := range w.calls {
		<-done
	}
	w.slots()
	ctx := context.Background()
	page, err := w.db.Jobs(ctx, store.JobFilter{Statuses: []string{"queued", "active", "verifying"}, Limit: 10})
	if err != nil {
		w.Fatal(err)
	}
	for _, j := range page.Jobs {
		if _, err := w.db.Cancel(ctx, j.ID); err != nil {
			w.Fatal(err)
		}
		if j.ID == w.run.JobID {
			w.job = fence.JobCancelling
		}
	}
	if ended, err := w.db.Revoke(ctx, w.run.id); err != nil {
		w.Fatal(err)
	} else {
		w.srv.revoked(w.run.id, ended)
		w.lose()
	}
	for w.srv.verifier.next(ctx) {
	}
	for _, a := range w.agents {
		a.conn.CloseNow()
	}
	synctest.Wait()
	w.discarded(ctx)
}

// discarded looks that an attempt that did not succeed has left no bytes (F16).
func (w *world) discarded(ctx context.Context) {
	keys, err := w.files.Pending(ctx)
	if err != nil || len(keys) > 0 {
		w.Fatalf("%s: writes are still open: %v, %v", strings.Join(w.trail, ", "), keys, err)
	}
	object, _, err := w.files.Open(ctx, w.run.offer.Output.Key)
	if err == nil {
		object.Close()
	}
	if (err == nil) != (w.attempt == fence.AttemptSucceeded) {
		w.Fatalf("%s: the attempt is %s, and its output: %v", strings.Join(w.trail, ", "), w.attempt, err)
	}
}

// slots looks how many offers the Mac gets beside what it runs, and that it gets
// as many as it has slots once that has ended (F11).
func (w *world) slots() {
	if w.revoked {
		return
	}
	if w.here < 0 {
		w.hello(0)
		w.land()
		w.agrees()
	}
	if w.job == fence.JobQueued { // it would be one of the offers
		w.cancelJob()
	}
	w.agrees()
	var jobs []store.NewJob
	for range 3 {
		jobs = append(jobs, storetest.Job(w.account, w.upload))
	}
	if _, err := w.db.SubmitOnce(context.Background(), store.Once{}, jobs...); err != nil {
		w.Fatal(err)
	}
	w.agents[w.here].say(&agentproto.Ready{SlotsFree: 2})
	offers := 2
	if w.counts == w.here && w.attempt.Live() {
		offers = 1
	}
	w.expectOffers(offers)
	w.agrees()
	if offers == 2 {
		return
	}
	w.trail = append(w.trail, "its run ends")
	switch {
	case w.attempt == fence.AttemptCommitting:
		w.verdict()
		w.tell()
	case w.agents[w.here].knows == w.epoch():
		w.fail(w.here)
	default:
		return
	}
	w.expectOffers(1)
	w.agrees()
}

func (w *world) expectOffers(n int) {
	for range n {
		w.agents[w.here].want = append(w.agents[w.here].want, "lease_offer")
	}
}

// family is a few events that are played in every order, after a prefix.
type family struct {
	prefix string
	depth  int
	events string
}

var families = map[string]family{
	"two agents on one pairing": {"", 3, "A.progress, A.commit, A.fail, A.bye, A.drop, hello, land, B.progress, B.bye, revoke"},
	"a verdict":                 {"A.commit", 4, "verdict, tell, cancel, hello, resume, land, revoke"},
	"a verdict for another":     {"A.commit, resume", 3, "A.commit, A.bye, A.drop, land, B.commit, verdict, tell, cancel"},
	"secrets":                   {"", 4, "resume, resume, resume stale, resume unheard, land, B.progress, B.commit"},
	"answers that are lost":     {"resume unheard", 3, "resume, resume unheard, resume stale, land, B.progress, B.commit, cancel, expire, revoke"},
	"a run that is taken over":  {"resume, land", 2, "B.progress, B.commit, B.fail, B.bye, B.drop, resume stale, hello, land, cancel, revoke, expire"},
	"a cancel":                  {"cancel", 2, "A.progress, A.commit, A.fail, A.bye, A.drop, resume, land, B.commit, expire, revoke, cancel"},
}

func TestF14_F18_EveryOrder(t *testing.T) {
	for name, f := range families {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f.play(t, true)
		})
	}
}

// Without resume a returning agent begins anew, as ADR 0002 has it, and all the
// rest is as it was.
func TestF14_EveryOrderWithoutResume(t *testing.T) {
	f := family{"", 3, "A.progress, A.commit, A.bye, A.drop, resume, resume unheard, land, B.commit, verdict, revoke"}
	f.play(t, false)
}

func (f family) play(t *testing.T, resume bool) {
	if os.Getenv("RENDERMAC_SOAK") != "" {
		f.depth++
	}
	g := newGates()
	inBubbleOf(t, func(o *store.Options) { o.Resume = resume }, func(b *bubble) {
		b.begin()
		start := time.Now()
		n := orders(b, g, b.mustUpload(b.submit, "clip.mov", clip(b).input).ID, f)
		b.Logf("%d orders; %v of fake time", n, time.Since(start))
	}, func(o *Options) { o.Resume, o.Log = resume, slog.New(g) })
}

func TestF14_HellosOfOneDeviceFollowOneAnother(t *testing.T) {
	g := newGates()
	inBubbleOf(t, func(*store.Options) {}, func(b *bubble) {
		b.begin()
		first := b.mustPair("mini")
		second := &mac{httpServer: b.httpServer, id: first.id, token: first.token}
		open := g.close("connected", first.id)
		for _, m := range []*mac{first, second} {
			m.dial()
			m.say(&agentproto.Hello{Protocol: 1, Slots: 1})
			synctest.Wait()
		}
		open()
		first.closed(agentproto.CloseReplaced)
		hear[agentproto.HelloOK](second)
		if ses := b.srv.hub.of(first.id); ses == nil || ses.ctx.Err() != nil {
			b.Fatal("the newest session is not the one that stays")
		}
	}, func(o *Options) { o.Log = slog.New(g) })
}

// begin starts matcher and sweeper; verdicts come when the test says so.
func (b *bubble) begin() {
	ctx, cancel := context.WithCancel(context.Background())
	b.srv.loops.Go(func() { b.srv.matcher.loop(ctx) })
	b.srv.loops.Go(func() { b.srv.sweeper.loop(ctx) })
	b.Cleanup(func() { b.srv.hub.closeAll(); cancel(); b.srv.loops.Wait() })
}
