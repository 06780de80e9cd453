package server

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"rendermac/api"
	"rendermac/store/storetest"
)

func TestDevices_ChangeWhatIsNamed(t *testing.T) {
	h := mustServe(t)
	s := storetest.MustDevice(t, h.db)
	at := "/v1/devices/" + s.DeviceID
	change := func(body string) string {
		t.Helper()
		d := into[api.Device](h.do("PATCH", at, h.admin, body).is(200))
		return fmt.Sprintf("%s %s %d %v", d.Name, d.State, *d.Slots, d.Tags)
	}
	for _, c := range []struct{ body, want string }{
		{`{}`, "mini online 2 []"},
		{`{"name":"Büro 2"}`, "Büro 2 online 2 []"},
		{`{"draining":true}`, "Büro 2 draining 2 []"},
		{`{"slots":7,"tags":["b","a","b"]}`, "Büro 2 draining 7 [a b]"},
		{`{"slots":0}`, "Büro 2 draining 0 [a b]"},
		{`{"slots":null,"draining":false}`, "Büro 2 online 2 [a b]"},
		{`{"tags":[]}`, "Büro 2 online 2 []"},
	} {
		if got := change(c.body); got != c.want {
			t.Errorf("%s: %s, want %s", c.body, got, c.want)
		}
	}
	want := []string{
		`device.updated {"name":"Büro 2"}`, `device.draining {}`, `device.updated {"slots":7,"tags":["a","b"]}`, `device.updated {"slots":0}`,
		`device.updated {"slots":null}`, `device.resumed {}`, `device.updated {"tags":[]}`,
	}
	if got := h.eventsOf(s.DeviceID); strings.Join(got[len(got)-len(want):], "\n") != strings.Join(want, "\n") {
		t.Errorf("the events are %q", got)
	}
}

// eventsOf ends the store, since nobody else may open its file before, and reads
// a device's history.
func (h *httpServer) eventsOf(device string) (all []string) {
	h.Helper()
	if err := h.db.Close(); err != nil {
		h.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(h.dir, "rendermac.db"))
	if err != nil {
		h.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT type || ' ' || data FROM events WHERE device_id = ? AND job_id IS NULL ORDER BY id`, device)
	if err != nil {
		h.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			h.Fatal(err)
		}
		all = append(all, line)
	}
	return all
}

func TestDevices_ChangesThatAreRefused(t *testing.T) {
	h := mustServe(t)
	d := storetest.MustPair(t, h.db, "mini")
	at := "/v1/devices/" + d.DeviceID
	before := h.get(at, h.admin).is(200)
	for body, where := range map[string]string{
		`{"name":""}`:         "name",
		`{"name":"  "}`:       "name",
		`{"name":"a\u0000b"}`: "name",
		`{"name":"` + strings.Repeat("x", 101) + `"}`: "name",
		`{"slots":-1}`:      "slots",
		`{"slots":1001}`:    "slots",
		`{"slots":1.5}`:     "slots",
		`{"tags":["a b"]}`:  "tags[0]",
		`{"tags":["a",""]}`: "tags[1]",
		`{"tags":["` + strings.Repeat("x", 65) + `"]}`:     "tags[0]",
		`{"tags":["a"` + strings.Repeat(`,"b"`, 32) + `]}`: "tags",
		`{"state":"online"}`:                               "state",
	} {
		p := h.do("PATCH", at, h.admin, body).refuses(422, "invalid_request")
		if len(p.Errors) != 1 || p.Errors[0].Location != where {
			t.Errorf("%s: %+v", body, p.Errors)
		}
	}
	if after := h.get(at, h.admin).is(200); string(after.body) != string(before.body) {
		t.Errorf("something was stored: %s", after.body)
	}
	h.do("PATCH", "/v1/devices/dev_0", h.admin, `{}`).refuses(404, "not_found")
	h.do("DELETE", at, h.admin, nil).is(204)
	h.do("PATCH", at, h.admin, `{"name":"x"}`).refuses(409, "device_revoked")
}

func TestDevices_ListsRevokedOnesOnlyWhereAsked(t *testing.T) {
	h := mustServe(t)
	on, off, gone := storetest.MustDevice(t, h.db).DeviceID, storetest.MustPair(t, h.db, "b").DeviceID, storetest.MustPair(t, h.db, "c").DeviceID
	if _, err := h.db.Revoke(context.Background(), gone); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string][]string{
		"": {on, off}, "?state=revoked": {gone}, "?state=online": {on}, "?state=draining": {}, "?state=offline,revoked": {off, gone},
	} {
		var ids []string
		for _, d := range into[api.List[api.Device]](h.get("/v1/devices"+query, h.read).is(200)).Items {
			ids = append(ids, d.ID)
		}
		if fmt.Sprint(ids) != fmt.Sprint(want) {
			t.Errorf("%q lists %v, want %v", query, ids, want)
		}
	}
	h.get("/v1/devices?state=asleep", h.read).refuses(422, "invalid_request")
	if d := into[api.Device](h.get("/v1/devices/"+gone, h.read).is(200)); d.State != "revoked" {
		t.Errorf("by its id it is %s", d.State)
	}
}
