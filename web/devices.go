package web

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Devices is the Macs, and pairing one.
type Devices struct {
	Macs    []Mac
	Revoked bool   // whether the revoked ones are shown, and no others
	Part    bool   // whether there are more than these
	After   string // where the list goes on; empty at its end
}

func (Devices) template() string { return "devices.html" }

// Mac is a row.
type Mac struct {
	ID, Name string
	State    string // online, offline, draining, revoked
	Busy     int
	Services []string
	Own      *MacDetails // an admin's to see
}

// MacDetails is what concerns who runs the Macs.
type MacDetails struct {
	Model, OSVersion      string // empty: not said
	CPUs                  int
	MemoryBytes, FreeDisk int64
	Encoders, Features    []string
	AgentVersion          string
	Tags                  []string
	Draining              bool // also while it is offline
	Slots, AgentSlots     int
	Override              *int // what an admin has set in place of the agent's number
	PairedAt              time.Time
	Since                 *time.Time // of State: connected, last seen, revoked
	BusyShare             *float64   // of its slots' time in the last 24 h
	Worked                Day
	Ended, Succeeded      int // of its last attempts
	Runs                  []MacRun
}

// MacRun is what a Mac does now.
type MacRun struct {
	JobID, Name string
	File        string // the first of its Files; empty where that has no name
	Files       int
	Service     string
	Progress
}

// Origin is its name, and what it is made of.
func (r MacRun) Origin() string { return origin(r.Name, r.File, r.Files) }

// Committed tells whether all is delivered: revoking does not undo that (F6).
func (r MacRun) Committed() bool { return r.Phase == "verifying" }

// Summary counts what is there: "12 Macs, 9 online, 7 of 20 slots busy".
func (d Devices) Summary() string {
	online, busy, slots := 0, 0, 0
	for _, m := range d.Macs {
		busy += m.Busy
		if m.State == "online" || m.State == "draining" {
			online++
			if m.Own != nil {
				slots += m.Own.Slots
			}
		}
	}
	working := plural(busy, "slot", "slots")
	if slots > 0 {
		working = fmt.Sprintf("%d of %s", busy, plural(slots, "slot", "slots"))
	}
	macs := plural(len(d.Macs), "Mac", "Macs")
	if d.Part {
		macs += " on this page"
	}
	return fmt.Sprintf("%s, %d online, %s busy", macs, online, working)
}

// Squares are the slots, each busy or free.
func (m Mac) Squares() []bool {
	if m.Own == nil || m.State == "revoked" {
		return nil
	}
	return squares(m.Busy, m.Own.Slots)
}

// maxServices is how many stand in the row; the rest are in its details.
const maxServices = 3

// Offers are the services by short names: "transcode" for ffmpeg.transcode.
func (m Mac) Offers() string {
	var names []string
	for _, s := range m.Services[:min(len(m.Services), maxServices)] {
		names = append(names, s[strings.LastIndex(s, ".")+1:])
	}
	return strings.Join(names, ", ")
}

// Rest is how many services are not among Offers.
func (m Mac) Rest() int { return max(0, len(m.Services)-maxServices) }

// Kind says what kind of machine it is.
func (d MacDetails) Kind() string {
	if d.MemoryBytes == 0 {
		return d.Model
	}
	return strings.TrimPrefix(d.Model+" · "+memory(d.MemoryBytes), " · ")
}

// memory says it as it is sold: 16 GB are 16 times 2^30 bytes.
func memory(n int64) string { return fmt.Sprintf("%.0f GB", math.Ceil(float64(n)/(1<<30))) }

// SlotsSet is the override as a field holds it.
func (d MacDetails) SlotsSet() string {
	if d.Override == nil {
		return ""
	}
	return fmt.Sprint(*d.Override)
}
