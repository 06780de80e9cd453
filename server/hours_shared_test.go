package server

import (
	"os"
	"strings"
	"testing"
	"time"

	"rendermac/agentproto"
	"rendermac/api"
	"rendermac/fence"
	"rendermac/store"
)

// awayInBubble runs test with a job of a volume that went before it was read.
func awayInBubble(t *testing.T, test func(b *bubble, id string, mount func())) {
	t.Helper()
	v := mustVolume(t)
	inBubbleOf(t, func(*store.Options) {}, func(b *bubble) {
		j := b.mustShare("media/day1/clip.mov")
		mount := v.unmount()
		b.mustStart()
		test(b, j.ID, mount)
	}, v.shared)
}

// A volume that is away puts its jobs off, for hours if need be; when it is back
// they go on.
func TestShared_AVolumeThatIsAwayForHours(t *testing.T) {
	awayInBubble(t, func(b *bubble, id string, mount func()) {
		m := b.mounting("root:media")
		time.Sleep(5 * time.Hour)
		if j := b.job(id); j.Status != api.JobQueued || j.Reading != 1 {
			b.Fatalf("job %+v", j)
		}
		b.mustJob()
		if r := m.mustOffer(); r.JobID == id { // others do not wait for it
			b.Fatalf("offered %s", r.JobID)
		} else {
			r.fail(fence.RunnerFailed)
		}
		mount()
		back := time.Now()
		m.say(&agentproto.Ready{SlotsFree: 1})
		if r := m.mustOffer(); r.JobID != id {
			b.Fatalf("offered %s", r.JobID)
		}
		if waited := time.Since(back); waited > maxAway {
			b.Fatalf("read after %v", waited)
		}
	})
}

func TestShared_ACancelEndsTheWaitAtOnce(t *testing.T) {
	awayInBubble(t, func(b *bubble, id string, _ func()) {
		time.Sleep(time.Hour)
		if j := into[api.Job](b.post("/v1/jobs/"+id+"/cancel", b.submit, nil).is(202)); j.Status != api.JobCancelled {
			b.Fatalf("job %+v", j)
		}
		time.Sleep(time.Hour)
		b.quiet()
		b.srv.reader.mu.Lock()
		defer b.srv.reader.mu.Unlock()
		if n := len(b.srv.reader.tries) + len(b.srv.reader.lanes["media"].waiting); n != 0 {
			b.Errorf("%d things of it are kept", n)
		}
	})
}

// A file that is still being written is waited for, and given up in the end.
func TestShared_AFileThatGoesOnChanging(t *testing.T) {
	v := mustVolume(t)
	growing := v.at("day1/clip.mov")
	touched := func(o *Options) {
		v.shared(o)
		now := o.Now
		o.Now = func() time.Time { // asked for between the first look and the reading
			if f, err := os.OpenFile(growing, os.O_APPEND|os.O_WRONLY, 0); err == nil {
				f.WriteString("x")
				f.Close()
			}
			return now()
		}
	}
	inBubble(t, func(b *bubble) {
		j := b.mustShare("media/day1/clip.mov")
		time.Sleep(20 * time.Second)
		b.quiet()
		if now := b.job(j.ID); now.Status != api.JobQueued || now.Reading != 1 {
			b.Fatalf("after 20 s %+v", now)
		}
		time.Sleep(time.Minute)
		b.quiet()
		now := b.job(j.ID)
		if now.Status != api.JobFailed || *now.FailureCode != fence.InputFailed || !strings.Contains(*now.FailureMessage, "changed while it was read, 6 times") {
			b.Fatalf("at last %+v", now)
		}
	}, touched)
}
