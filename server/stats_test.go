package server

import (
	"strings"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/fence"
	"rendermac/store/storetest"
)

func (h *httpServer) stats(key string) api.Stats {
	h.Helper()
	return into[api.Stats](h.get("/v1/stats", key).is(200))
}

func TestStats_OfNothingAreNull(t *testing.T) {
	h := mustServe(t)
	r := h.get("/v1/stats", h.read).is(200)
	for _, want := range []string{
		`"queue":{"queued":0,"active":0,"verifying":0,"cancelling":0,"services":[]}`,
		`"wait":{"jobs":0,"p50_s":null,"p90_s":null,"p99_s":null}`, `"devices":[]`,
	} {
		if !strings.Contains(string(r.body), want) {
			t.Errorf("%s lacks %s", r.body, want)
		}
	}
	if s := into[api.Stats](r); len(s.Hours) != 24 || !s.Hours[23].From.Equal(h.clock.Now().Truncate(time.Hour)) {
		t.Errorf("the hours are %v", s.Hours)
	}
	h.get("/v1/stats", "").refuses(401, "unauthenticated")
}

func TestStats_OfARealDay(t *testing.T) {
	h := mustDay(t)
	s := h.stats(h.admin)
	if q := s.Queue; q.Queued != 1 || q.Active != 1 || q.Verifying+q.Cancelling != 0 || len(q.Services) != 1 || q.Services[0].Depth != q.Depth || q.Services[0].Service != "ffmpeg.transcode" {
		t.Errorf("the queue is %+v", q)
	}
	if w := s.Wait; w.Jobs != 2 || *w.P50 != 0 || *w.P90 != 3 || *w.P99 != 3 {
		t.Errorf("waits are %+v", w)
	}
	if r, v := s.Run, s.Verify; r.Jobs != 1 || *r.P50 != 20 || *r.P99 != 20 || v.Jobs != 1 || *v.P50 != 0 {
		t.Errorf("runs are %+v, verifications %+v", r, v)
	}
	if d := s.Devices[0]; d.Name != "mini" || *d.Slots != 1 || d.Busy != 1 || *d.BusyShare != 27./86400 {
		t.Errorf("the device is %+v", d)
	}
	if n := s.Hours[23]; n.Submitted != 4 || n.Succeeded != 1 || n.Failed != 1 || n.Cancelled != 0 {
		t.Errorf("this hour is %+v", n)
	}
}

// A buyer's numbers are of the account's own jobs, and of devices what the list
// of devices shows.
func TestStats_OfAnAccountAreItsOwn(t *testing.T) {
	h := mustDay(t)
	s := h.stats(h.otherAccountSubmit)
	if s.Queue.Depth != (api.Depth{}) || s.Wait.Jobs+s.Run.Jobs+s.Verify.Jobs != 0 {
		t.Errorf("another account sees %+v", s)
	}
	for _, hour := range s.Hours {
		if hour.Submitted+hour.Succeeded+hour.Failed+hour.Cancelled != 0 {
			t.Errorf("another account sees %+v", hour)
		}
	}
	if d := s.Devices[0]; d.Slots != nil || d.BusyShare != nil || d.Busy != 1 || d.Name != "mini" {
		t.Errorf("a buyer sees the device as %+v", d)
	}
	own, all := h.stats(h.read), h.stats(h.otherAdmin)
	if own.Queue.Queued != 1 || own.Wait.Jobs != 2 || own.Devices[0].Slots != nil {
		t.Errorf("its own account sees %+v", own)
	}
	if all.Queue.Queued != 1 || all.Wait.Jobs != 2 || all.Devices[0].Slots == nil {
		t.Errorf("an admin of another account sees %+v", all)
	}
}

func TestStats_OneLookServesFiveSeconds(t *testing.T) {
	h := mustServe(t)
	before := h.stats(h.read)
	h.mustSubmit(h.submit)
	h.clock.Advance(statsAge - time.Nanosecond)
	if s := h.stats(h.submit); s.Queue.Queued != 0 || !s.At.Equal(before.At) {
		t.Errorf("a moment before: %+v", s.Queue)
	}
	h.clock.Advance(time.Nanosecond)
	if s := h.stats(h.read); s.Queue.Queued != 1 || s.At.Sub(before.At) != statsAge {
		t.Errorf("at its end: %+v, of %s", s.Queue, s.At)
	}
}

// Hours are UTC's own: what comes a moment before the full hour is of the one
// before, and after 24 of them it is gone.
func TestStats_HoursPass(t *testing.T) {
	inBubble(t, func(b *bubble) {
		time.Sleep(time.Until(time.Now().Truncate(time.Hour).Add(2*time.Hour - time.Second)))
		b.mustSubmit(b.submit)
		cancelled := b.mustSubmit(b.submit)
		time.Sleep(time.Second)
		b.post("/v1/jobs/"+cancelled.ID+"/cancel", b.submit, nil).is(202)
		for hours := range 26 {
			s := b.stats(b.read)
			for i, h := range s.Hours {
				want := api.Hour{From: time.Now().UTC().Truncate(time.Hour).Add(time.Duration(i-23) * time.Hour)}
				if i == 22-hours {
					want.Submitted = 2
				}
				if i == 23-hours {
					want.Cancelled = 1
				}
				if h != want {
					b.Fatalf("after %d hours: %+v, want %+v", hours, h, want)
				}
			}
			if want := (api.Depth{Queued: 1}); s.Queue.Depth != want {
				b.Fatalf("after %d hours the queue is %+v", hours, s.Queue)
			}
			time.Sleep(time.Hour)
		}
	})
}

// What was looked at in vain is not looked at by each in turn.
func TestStats_WithoutTheDatabase(t *testing.T) {
	h := mustServe(t)
	device := storetest.MustDevice(t, h.db)
	if s := h.stats(h.admin); len(s.Devices) != 1 || s.Devices[0].ID != device.DeviceID {
		t.Fatalf("%+v", s.Devices)
	}
	if err := h.db.Close(); err != nil {
		t.Fatal(err)
	}
	looks := 0
	var k glance[int]
	for range 3 {
		if _, err := k.get(h.clock.Mono, statsAge, func() (int, error) { looks++; _, err := h.db.Stats(t.Context(), ""); return 0, err }); fence.CodeOf(err) != "store_unavailable" {
			t.Errorf("got %v", err)
		}
	}
	if looks != 1 {
		t.Errorf("%d looks", looks)
	}
}
