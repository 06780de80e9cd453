package server

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/fence"
	"rendermac/store/storetest"
)

func TestDevices_BelowAdminOnlyWhatBuyersNeed(t *testing.T) {
	h := mustServe(t)
	h.mustSubmit(h.submit)
	s := storetest.MustDevice(t, h.db)
	storetest.MustLease(t, h.db, s)
	at := "/v1/devices/" + s.DeviceID
	want := `{"id":"` + s.DeviceID + `","name":"mini","state":"online","slots":null,"busy":1,"services":["ffmpeg.transcode"],"device":null,"tags":null,"last_seen_at":null,"running":null,"succeeded":null,"failed":null}` + "\n"
	if got := string(h.get(at, h.submit).is(200).body); got != want {
		t.Errorf("a buyer sees %s, want %s", got, want)
	}
	d := into[api.Device](h.get(at, h.admin).is(200))
	if *d.Slots != 2 || d.Busy != 1 || *d.Running != 1 || *d.Succeeded != 0 || *d.Failed != 0 || d.LastSeenAt == nil || d.Tags == nil || d.Device.MemoryBytes != 16<<30 {
		t.Errorf("an admin sees %+v", d)
	}
	list := into[api.List[api.Device]](h.get("/v1/devices", h.read).is(200))
	if len(list.Items) != 1 || list.Items[0].Slots != nil || list.NextCursor != nil {
		t.Errorf("the list is %+v", list)
	}
}

func TestDevices_Pages(t *testing.T) {
	h := mustServe(t)
	for range 3 {
		storetest.MustPair(t, h.db, "mini")
	}
	first := into[api.List[api.Device]](h.get("/v1/devices?limit=2", h.admin).is(200))
	if len(first.Items) != 2 || first.NextCursor == nil {
		t.Fatalf("the first page is %+v", first)
	}
	second := into[api.List[api.Device]](h.get("/v1/devices?limit=2&cursor="+*first.NextCursor, h.admin).is(200))
	if len(second.Items) != 1 || second.NextCursor != nil || second.Items[0].ID <= first.Items[1].ID {
		t.Errorf("the second page is %+v", second)
	}
}

func TestF18_RevokeOverHTTP(t *testing.T) {
	h := mustServe(t)
	j := h.mustSubmit(h.submit)
	d := storetest.MustPair(t, h.db, "mini")
	storetest.MustLease(t, h.db, storetest.MustHello(t, h.db, d.DeviceID).Session)
	for range 2 { // repeating it is harmless
		if r := h.do("DELETE", "/v1/devices/"+d.DeviceID, h.admin, nil).is(204); len(r.body) != 0 {
			t.Errorf("204 came with %q", r.body)
		}
	}
	if got := into[api.Device](h.get("/v1/devices/"+d.DeviceID, h.admin).is(200)); got.State != "revoked" {
		t.Errorf("the device is %s", got.State)
	}
	if _, err := h.db.DeviceByToken(context.Background(), d.Token); fence.CodeOf(err) != fence.CodeNotFound {
		t.Errorf("its token still works: %v", err)
	}
	got := into[api.Job](h.get("/v1/jobs/"+j.ID, h.read).is(200))
	if got.Status != "queued" || got.Attempts[0].Status != "lost" || *got.Attempts[0].FailureCode != "provider_offline" {
		t.Errorf("its job is %+v", got)
	}
}

func TestServices_List(t *testing.T) {
	h := mustServe(t)
	storetest.MustDevice(t, h.db)
	list := into[api.List[api.Service]](h.get("/v1/services?limit=500", h.read).is(200))
	if len(list.Items) == 0 || list.NextCursor != nil {
		t.Fatalf("the list is %+v", list)
	}
	at := slices.IndexFunc(list.Items, func(s api.Service) bool { return s.Name == "ffmpeg.transcode" })
	if at < 0 {
		t.Fatalf("the list is %+v", list)
	}
	s := list.Items[at]
	var schema struct {
		Type       string
		Properties map[string]any
	}
	if err := json.Unmarshal(s.Params, &schema); err != nil || schema.Type != "object" || schema.Properties["preset"] == nil {
		t.Errorf("the schema of %s is %s", s.Name, s.Params)
	}
	if s.Title == "" || s.DevicesOnline != 1 || len(s.Presets) == 0 || s.Presets[0].Name != "web-1080p" {
		t.Errorf("the service is %+v", s)
	}
	if after := into[api.List[api.Service]](h.get("/v1/services?cursor="+sealCursor("listServices", s.Name), h.read).is(200)); len(after.Items) != len(list.Items)-1-at {
		t.Errorf("after it there are %d", len(after.Items))
	}
}

func TestPairing_WholeStory(t *testing.T) {
	h := mustServe(t)
	p := into[api.Pairing](h.post("/v1/pairings", h.admin, `{"name":"Studio B"}`).is(201))
	if p.Command != "rendermac pair "+h.url+" "+p.Code || !p.ExpiresAt.Equal(h.clock.Now().Add(10*time.Minute)) || len(p.Code) != 9 {
		t.Errorf("the pairing is %+v", p)
	}
	h.get("/v1/devices/"+p.DeviceID, h.admin).refuses(404, "not_found")
	a := into[api.PairAnswer](h.post("/v1/provider/pair", "", api.PairRequest{Code: p.Code, Name: "mini.local", Device: api.Machine{Platform: "darwin"}}).is(201))
	if id, err := h.db.DeviceByToken(context.Background(), a.DeviceToken); err != nil || id != a.DeviceID {
		t.Errorf("the token is of %q, %v", id, err)
	}
	d := into[api.Device](h.get("/v1/devices/"+a.DeviceID, h.admin).is(200))
	if d.Name != "Studio B" || d.State != "offline" || d.Device.Platform != "darwin" {
		t.Errorf("the device is %+v", d)
	}
	h.post("/v1/provider/pair", "", api.PairRequest{Code: p.Code}).refuses(403, "bad_code") // used
	late := into[api.Pairing](h.post("/v1/pairings", h.admin, nil).is(201))
	h.clock.Advance(10 * time.Minute)
	h.post("/v1/provider/pair", "", api.PairRequest{Code: late.Code}).refuses(403, "bad_code")
}

func TestPairing_FiveBadCodesAMinute(t *testing.T) {
	h := mustServe(t)
	good := into[api.Pairing](h.post("/v1/pairings", h.admin, nil).is(201)).Code
	try := func(code string) reply { return h.post("/v1/provider/pair", "", api.PairRequest{Code: code}) }
	for _, code := range []string{"AAAA-AAAA", "", "malformed and far longer than a code of this server ever is", "2222-2222", "AAAA-AAAA"} {
		try(code).refuses(403, "bad_code")
		h.clock.Advance(time.Second)
	}
	no := try(good)
	no.refuses(429, "too_many_requests")
	if got := no.Header.Get("Retry-After"); got != "55" {
		t.Errorf("Retry-After is %s", got)
	}
	h.clock.Advance(54 * time.Second)
	try(good).refuses(429, "too_many_requests")
	h.clock.Advance(time.Second)
	try(good).is(201)
	try("AAAA-AAAA").refuses(403, "bad_code") // the good one does not count
	try("AAAA-AAAA").refuses(429, "too_many_requests")
}

// A code counts before it has been looked at: guessing many at once gains nothing.
func TestPairing_ManyCodesAtOnce(t *testing.T) {
	h := mustServe(t)
	var bad, late atomic.Int32
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			switch h.post("/v1/provider/pair", "", api.PairRequest{Code: "AAAA-AAAA"}).StatusCode {
			case 403:
				bad.Add(1)
			case 429:
				late.Add(1)
			}
		})
	}
	wait.Wait()
	if bad.Load() != 5 || late.Load() != 15 {
		t.Errorf("%d codes were looked at and %d were not", bad.Load(), late.Load())
	}
}

func TestPairing_AddressesCountApart(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.TrustedProxies = []string{"127.0.0.0/8"} })
	try := func(from string) reply {
		return h.do("POST", "/v1/provider/pair", "", api.PairRequest{Code: "AAAA-AAAA"}, "X-Forwarded-For", from)
	}
	for range 5 {
		try("203.0.113.1").refuses(403, "bad_code")
	}
	try("203.0.113.1").refuses(429, "too_many_requests")
	try("203.0.113.2").refuses(403, "bad_code")
}
