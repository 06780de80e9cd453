package main

import (
	"fmt"
	"time"

	"rendermac/web"
)

var devices = []story{
	{"devices/empty", admin("Devices", "/devices"), web.Devices{}},
	{"devices/empty-to-readers", reader("Devices", "/devices"), web.Devices{}},
	{"devices/states", admin("Devices", "/devices"), someMacs},
	{"devices/details", admin("Devices", "/devices"), someMacs},
	{"devices/names", admin("Devices", "/devices"), namedMacs},
	{"devices/fifty", admin("Devices", "/devices"), web.Devices{Macs: fifty(), Part: true, After: "dev_50"}},
	{"devices/to-readers", reader("Devices", "/devices"), web.Devices{Macs: []web.Mac{known(working), known(away), known(paired)}}},
	{"devices/revoked", admin("Devices", "/devices"), web.Devices{Revoked: true, Macs: []web.Mac{gone}}},
	{"devices/none-revoked", admin("Devices", "/devices"), web.Devices{Revoked: true}},
	{"devices/pair", admin("Devices", "/devices"), web.Devices{}},
	{"devices/pair-waiting", admin("Devices", "/devices"), someMacs},
	{"devices/pair-on-loopback", admin("Devices", "/devices"), web.Devices{}},
	{"devices/pair-expired", admin("Devices", "/devices"), someMacs},
	{"devices/paired", admin("Devices", "/devices"), someMacs},
	{"devices/paired-online", admin("Devices", "/devices"), someMacs},
	{"devices/change", admin("Devices", "/devices"), someMacs},
	{"devices/revoke-idle", admin("Devices", "/devices"), namedMacs},
	{"devices/revoke-busy", admin("Devices", "/devices"), someMacs},
}

var (
	someMacs  = web.Devices{Macs: []web.Mac{working, paired, drained, away, silent}}
	namedMacs = web.Devices{Macs: []web.Mac{
		named("Mac mini in the machine room behind the second editing suite, the one with the yellow sticker that nobody may switch off over the weekend"),
		named("استوديو التحرير ٢"), named("Xserve" + "-without-a-place-to-break-the-line-for-as-long-as-a-hundred-characters-of-it-go-on-and-on-and"),
		named("<b>\"Büro\"</b> & 編集室"),
	}}
)

var services = []string{"ffmpeg.transcode", "ffmpeg.thumbnail", "ffmpeg.concat", "ffmpeg.frames", "ffmpeg.loudness", "ffmpeg.hls", "remotion.render"}

func mini(id string, change func(*web.Mac)) web.Mac {
	m := web.Mac{ID: "dev_01kbd3m8q5w9x2c7e4r6t8y0" + id, Name: "mini-" + id, State: "online", Services: services, Own: &web.MacDetails{
		Model: "Mac16,10 (Apple M4)", OSVersion: "macOS 26.1", CPUs: 10, MemoryBytes: 16 << 30, FreeDisk: 212_400_000_000,
		Encoders: []string{"h264_videotoolbox", "hevc_videotoolbox", "prores_videotoolbox", "libx264", "libx265"}, Features: []string{"drawtext", "libvmaf", "remotion", "zscale"},
		AgentVersion: "1.0.0", Slots: 2, AgentSlots: 2, PairedAt: now.Add(-40 * 24 * time.Hour), Since: before(3 * time.Hour), BusyShare: new(0.0),
	}}
	if change != nil {
		change(&m)
	}
	return m
}

func before(d time.Duration) *time.Time { return new(now.Add(-d)) }

var (
	working = mini("a1", func(m *web.Mac) {
		m.Name, m.Busy = "studio-1", 2
		m.Own.Model, m.Own.MemoryBytes, m.Own.CPUs = "Mac14,13 (Apple M2 Max)", 64<<30, 12
		m.Own.Slots, m.Own.AgentSlots, m.Own.Override, m.Own.Tags = 4, 2, new(4), []string{"hdr", "studio-b"}
		m.Own.BusyShare, m.Own.Ended, m.Own.Succeeded = new(0.638), 50, 48
		m.Own.Worked = shifts(5)
		m.Own.Runs = []web.MacRun{
			{JobID: "job_01kbd3m8q5w9x2c7e4r6t8y0za", Name: "interview-with-the-director-long-version-2.mp4", File: "interview-with-the-director-long-version-2.mov", Files: 1, Service: "ffmpeg.transcode", Progress: web.Progress{AttemptID: "att_1", Phase: "running", Fraction: 0.42, FPS: 187, LeftS: 252}},
			{JobID: "job_01kbd3m8q5w9x2c7e4r6t8y0zb", Name: "teaser.zip", File: "teaser.mp4", Files: 1, Service: "ffmpeg.hls", Progress: web.Progress{AttemptID: "att_2", Phase: "verifying", Fraction: 0.5}},
		}
	})
	paired = mini("b2", func(m *web.Mac) {
		m.Name, m.State, m.Services = "laptop", "offline", nil
		*m.Own = web.MacDetails{Model: "Mac15,12 (Apple M3)", CPUs: 8, MemoryBytes: 24 << 30, OSVersion: "macOS 26.1", PairedAt: now.Add(-time.Minute)}
	})
	drained = mini("c3", func(m *web.Mac) {
		m.Name, m.State, m.Busy = "studio-2", "draining", 1
		m.Own.Draining, m.Own.Ended, m.Own.Succeeded, m.Own.BusyShare = true, 12, 12, new(0.214)
		m.Own.Worked = web.Day{{From: 1020, To: 1100}, {From: 1130, To: 1440}}
		m.Own.Runs = []web.MacRun{{JobID: "job_01kbd3m8q5w9x2c7e4r6t8y0zc", Name: "مقابلة مع المخرج.mp4", File: "مقابلة مع المخرج.mov", Files: 1, Service: "ffmpeg.transcode", Progress: web.Progress{AttemptID: "att_3", Phase: "downloading", Unknown: true}}}
	})
	away = mini("d4", func(m *web.Mac) {
		m.Name, m.State = "edit suite", "offline"
		m.Own.Since, m.Own.Ended, m.Own.Succeeded, m.Own.Draining = before(50*time.Hour), 50, 31, true
	})
	silent = mini("e5", func(m *web.Mac) {
		m.Name, m.Own.Slots, m.Own.Override, m.Own.Since = "render node 17", 0, new(0), nil
	})
	gone = mini("f6", func(m *web.Mac) {
		m.State, m.Own.Since, m.Own.BusyShare, m.Own.Ended, m.Own.Succeeded = "revoked", before(9*24*time.Hour), nil, 50, 50
	})
)

func named(name string) web.Mac {
	return mini("g7", func(m *web.Mac) {
		m.Name = name
		m.ID += fmt.Sprint(len(name))
		m.Own.Tags = []string{"a-tag-that-is-as-long-as-a-tag-may-be-for-sixty-four-bytes-of-it", "شارة"}
	})
}

// known is what a key below admin sees.
func known(m web.Mac) web.Mac {
	m.Own = nil
	return m
}

func fifty() (macs []web.Mac) {
	for n := range 50 {
		macs = append(macs, mini(fmt.Sprintf("%02d", n), func(m *web.Mac) {
			m.Name = fmt.Sprintf("rack-%02d", n+1)
			m.Own.Slots, m.Own.AgentSlots, m.Busy = 4, 4, n*7%5
			m.Own.BusyShare, m.Own.Ended, m.Own.Succeeded = new(float64(n*37%100)/100), 50, 50-n*3%7
			m.Own.Worked = shifts(n)
			if n%9 == 4 {
				m.State, m.Busy, m.Own.Since = "offline", 0, before(time.Duration(n)*time.Hour)
			}
		}))
	}
	return macs
}
