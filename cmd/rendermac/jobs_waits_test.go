package main

import (
	"encoding/json"
	"testing"

	"rendermac/api"
)

// What a queued job waits for follows from the devices, as far as the key is
// shown them.
func TestWhatAQueuedJobWaitsFor(t *testing.T) {
	mac := func(state string, change ...func(*api.Device)) api.Device {
		d := api.Device{State: state, Services: []string{"ffmpeg.transcode"}, Slots: new(2), Busy: 1, Tags: []string{"hdr"}, Device: &api.Machine{Features: []string{"libx265"}, MemoryBytes: 16 << 30}}
		for _, c := range change {
			c(&d)
		}
		return d
	}
	buyersView := func(d *api.Device) { d.Slots, d.Tags, d.Device = nil, nil, nil }
	busy := func(d *api.Device) { d.Busy = 2 }
	other := func(d *api.Device) { d.Services = []string{"other"} }
	for name, c := range map[string]struct {
		requires *api.Requires
		params   string
		path     *string
		devices  []api.Device
		want     string
	}{
		"no device":                {devices: nil, want: "a Mac that runs ffmpeg.transcode: none is online (rendermac devices)"},
		"none online":              {devices: []api.Device{mac("offline"), mac("online", other)}, want: "a Mac that runs ffmpeg.transcode: none is online (rendermac devices)"},
		"a tag that none has":      {requires: &api.Requires{Tags: []string{"hdr", "b"}}, devices: []api.Device{mac("online"), mac("offline")}, want: "a Mac with the tag hdr, the tag b: none of those online has it"},
		"a tag that is there":      {requires: &api.Requires{Tags: []string{"hdr"}}, devices: []api.Device{mac("online", busy), mac("online")}},
		"more memory":              {requires: &api.Requires{MinMemoryGB: new(32.0)}, devices: []api.Device{mac("online")}, want: "a Mac with 32 GB of memory: none of those online has it"},
		"a feature that none has":  {params: `{"burn_timecode":true}`, devices: []api.Device{mac("online")}, want: "a Mac with drawtext: none of those online has it"},
		"a root that none has":     {path: new("masters/a.mov"), devices: []api.Device{mac("online")}, want: "a Mac with root:masters: none of those online has it"},
		"all drain":                {devices: []api.Device{mac("draining")}, want: "a Mac that takes new work: those that could run it are draining (rendermac devices resume)"},
		"all are busy":             {devices: []api.Device{mac("online", busy), mac("online", other)}, want: "a free slot: the Macs that could run it are busy"},
		"nothing that is known":    {devices: []api.Device{mac("online")}},
		"a buyer sees no tags":     {requires: &api.Requires{Tags: []string{"b"}}, devices: []api.Device{mac("online", buyersView)}},
		"a buyer sees no slots":    {devices: []api.Device{mac("online", busy, buyersView)}},
		"a buyer sees who is away": {devices: []api.Device{mac("draining", buyersView)}, want: "a Mac that takes new work: those that could run it are draining (rendermac devices resume)"},
	} {
		t.Run(name, func(t *testing.T) {
			job := &api.JobItem{Status: api.JobQueued, Service: "ffmpeg.transcode", Params: json.RawMessage(c.params), Requires: c.requires, Inputs: []api.Input{{Path: c.path}}}
			if got := missing(job, c.devices); got != c.want {
				t.Errorf("it waits for %q, want %q", got, c.want)
			}
		})
	}
}
