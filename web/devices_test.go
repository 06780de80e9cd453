package web

import (
	"fmt"
	"testing"
)

func TestMac_SaysWhatItOffers(t *testing.T) {
	m := Mac{Services: []string{"ffmpeg.transcode", "remotion.render", "solo", "ffmpeg.concat"}}
	if m.Offers() != "transcode, render, solo" || m.Rest() != 1 {
		t.Errorf("it offers %s and %d more", m.Offers(), m.Rest())
	}
}

// Slots that were taken away while they were busy are still drawn.
func TestMac_DrawsItsSlots(t *testing.T) {
	for want, m := range map[string]Mac{
		"[true false]": {Busy: 1, Own: &MacDetails{Slots: 2}},
		"[true true]":  {Busy: 2, Own: &MacDetails{Slots: 1}},
		"[]":           {Busy: 2, Own: &MacDetails{Slots: 17}},
	} {
		if got := fmt.Sprint(m.Squares()); got != want {
			t.Errorf("%d busy of %d: %s, want %s", m.Busy, m.Own.Slots, got, want)
		}
	}
	if got := (Mac{Busy: 1}).Squares(); got != nil {
		t.Errorf("to a reader: %v", got)
	}
}

func TestMac_SaysItsMemoryAsItIsSold(t *testing.T) {
	for want, d := range map[string]MacDetails{
		"Mac16,10 (Apple M4) · 16 GB": {Model: "Mac16,10 (Apple M4)", MemoryBytes: 16 << 30},
		"16 GB":                       {MemoryBytes: 16_700_000_000}, // what Linux leaves of it
		"Mac":                         {Model: "Mac"},
	} {
		if got := d.Kind(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestDay_SaysHowLongItWorked(t *testing.T) {
	for want, d := range map[string]Day{
		"Did not work in the last 24 hours":          {{From: -20, To: -10}},
		"Worked for 1 min of the last 24 hours":      {{From: 700, To: 700.3}, {From: 1440, To: 1440}},
		"Worked for 1 h 30 min of the last 24 hours": {{From: -20, To: 60}, {From: 100, To: 120}, {From: 110, To: 130}},
		"Worked for 1 d of the last 24 hours":        {{From: -20, To: 1500}},
	} {
		if got := d.Summary(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Little work is not none.
func TestMac_SaysHowBusyItWas(t *testing.T) {
	for want, share := range map[string]float64{"0 %": 0, "under 1 %": 8. / 1440, "1 %": 0.01, "63 %": 0.638, "100 %": 1} {
		if got := percent(share); got != want {
			t.Errorf("%v: %q, want %q", share, got, want)
		}
	}
}

func TestDevices_AreCounted(t *testing.T) {
	macs := []Mac{{State: "online", Busy: 2}, {State: "draining", Busy: 1}, {State: "offline"}}
	if got := (Devices{Macs: macs}).Summary(); got != "3 Macs, 2 online, 3 slots busy" {
		t.Errorf("to a reader: %s", got)
	}
	for i := range macs {
		macs[i].Own = &MacDetails{Slots: 4}
	}
	if got := (Devices{Macs: macs}).Summary(); got != "3 Macs, 2 online, 3 of 8 slots busy" {
		t.Errorf("to an admin: %s", got)
	}
	if got := (Devices{Macs: macs, Part: true}).Summary(); got != "3 Macs on this page, 2 online, 3 of 8 slots busy" {
		t.Errorf("of a page: %s", got)
	}
}
