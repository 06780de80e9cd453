package server

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store/storetest"
)

// Below admin a page shows of devices what the API does, and nothing to act with.
func TestDashboard_DevicesShowBuyersNoMoreThanTheAPI(t *testing.T) {
	h := mustServe(t)
	job := h.mustSubmit(h.submit)
	s := storetest.MustDevice(t, h.db)
	storetest.MustLease(t, h.db, s)
	const facts, run, acts = "16 GB", "/jobs/", "Drain mini"
	page := string(h.get("/devices", h.read).is(200).body)
	for _, hidden := range []string{facts, run + job.ID, acts, "Pair a Mac", "Succeeded", "<dialog id=\"revoke\"", "data-tags"} {
		if strings.Contains(page, hidden) {
			t.Errorf("a reader is shown %q", hidden)
		}
	}
	for _, shown := range []string{">mini<", "online", "1 busy", "transcode"} {
		if !strings.Contains(page, shown) {
			t.Errorf("a reader is not shown %q", shown)
		}
	}
	page = string(h.get("/devices", h.admin).is(200).body)
	for _, shown := range []string{facts, run + job.ID, acts, "Pair a Mac", "1 of 2 busy"} {
		if !strings.Contains(page, shown) {
			t.Errorf("an admin is not shown %q", shown)
		}
	}
}

func TestDashboard_DevicesTellHowLastRunsEnded(t *testing.T) {
	h := mustServe(t)
	s := storetest.MustDevice(t, h.db)
	for range 2 {
		h.mustSubmit(h.submit)
		if _, err := h.db.Fail(context.Background(), storetest.Claim(s, storetest.MustLease(t, h.db, s)), fence.RunnerFailed, ""); err != nil {
			t.Fatal(err)
		}
	}
	if page := string(h.get("/devices", h.admin).is(200).body); !strings.Contains(page, "0 of the last 2") {
		t.Errorf("the page is %s", page)
	}
}

// The shares are a moment old: a Mac that came since has none yet, but slots.
func TestDashboard_DevicesDoNotSayThatAFreshMacHasNoSlots(t *testing.T) {
	h := mustServe(t)
	h.shown("/devices", h.admin)
	storetest.MustDevice(t, h.db)
	page := h.shown("/devices", h.admin)
	if !strings.Contains(page, "not yet known") || strings.Contains(page, "no slots") {
		t.Errorf("the page is %s", page)
	}
}

// What runs now is in the lane as well as what has ended.
func TestDashboard_DevicesShowWhenEachWorked(t *testing.T) {
	h := mustServe(t)
	s := storetest.MustDevice(t, h.db)
	h.mustSubmit(h.submit)
	ended := storetest.Claim(s, storetest.MustLease(t, h.db, s))
	h.clock.Advance(storetest.TTL / 2)
	if _, err := h.db.Fail(context.Background(), ended, fence.InputFailed, ""); err != nil {
		t.Fatal(err)
	}
	h.clock.Advance(time.Hour)
	h.mustSubmit(h.submit)
	storetest.MustLease(t, h.db, s)
	h.clock.Advance(storetest.TTL / 2)
	page := h.shown("/devices", h.admin)
	for _, want := range []string{`d="M1379 5h3M1437 5h3"`, "Worked for 1 min of the last 24 hours"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	if strings.Contains(h.shown("/devices", h.read), "shifts") {
		t.Error("a reader is shown when the Macs worked")
	}
}

func TestDashboard_DevicesTurn(t *testing.T) {
	h := mustServe(t)
	for n := range maxMacs + 1 {
		storetest.MustPair(t, h.db, fmt.Sprint("mac ", n))
	}
	first := h.shown("/devices", h.admin)
	_, next, found := strings.Cut(first, `href="/devices?after=`)
	next, _, _ = strings.Cut(next, `"`)
	if !found || strings.Count(first, "data-row") != maxMacs || !strings.Contains(first, "200 Macs on this page") {
		t.Fatal("the first page does not end with where it goes on")
	}
	if last := h.shown("/devices?after="+next, h.admin); strings.Count(last, "data-row") != 1 || strings.Contains(last, "More Macs") {
		t.Errorf("the last page is %s", last)
	}
}

func TestDashboard_DevicesShowRevokedOnesApart(t *testing.T) {
	h := mustServe(t)
	there, gone := storetest.MustPair(t, h.db, "there").DeviceID, storetest.MustPair(t, h.db, "gone").DeviceID
	if _, err := h.db.Revoke(context.Background(), gone); err != nil {
		t.Fatal(err)
	}
	for path, only := range map[string][2]string{"/devices": {there, gone}, "/devices?revoked=1": {gone, there}} {
		page := string(h.get(path, h.admin).is(200).body)
		if !strings.Contains(page, only[0]) || strings.Contains(page, only[1]) {
			t.Errorf("%s shows %s, or does not show %s", path, only[1], only[0])
		}
	}
}
