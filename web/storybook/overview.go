package main

import (
	"fmt"
	"path"
	"strings"
	"time"

	"rendermac/web"
)

var overview = []story{
	{"overview/empty", admin("Overview", "/"), web.Overview{}},
	{"overview/empty-reader", reader("Overview", "/"), web.Overview{Mine: true}},
	{"overview/quiet", admin("Overview", "/"), quietStudio()},
	{"overview/busy", admin("Overview", "/"), busyStudio()},
	{"overview/reader", reader("Overview", "/"), readersStudio()},
	{"overview/offline", admin("Overview", "/"), offlineStudio()},
	{"overview/stuck", admin("Overview", "/"), stuckStudio()},
	{"overview/thousands", admin("Overview", "/"), thousands()},
	{"overview/names", admin("Overview", "/"), strangeNames()},
	{"overview/forty", admin("Overview", "/"), forty()},
}

const (
	longName  = "2026-11-28 – Interview with the conductor, camera B, take 14, before colour and with the old titles (really final).mov"
	arabic    = "مقابلة مع قائد الأوركسترا – الكاميرا الثانية.mov"
	endsEarly = "The file ends early: 4:12 of 8:00 could be read. Upload it again, or submit with damaged_input: accept."
)

func ref(n int, name, service, preset string) web.JobRef {
	return web.JobRef{ID: fmt.Sprintf("job_01kbd3m8q5w9x2c7e4r6t8%04d", n), Name: name, Service: service, Preset: preset}
}

func transcode(n int, name, preset string) web.JobRef {
	j := ref(n, name, "ffmpeg.transcode", preset)
	j.File, j.Files = strings.TrimSuffix(name, path.Ext(name))+".mov", 1
	return j
}

func in(d time.Duration) *time.Duration { return &d }

func share(of float64) *float64 { return &of }

func lane(n int, name, state string, busy, slots int, share float64, worked ...web.Stretch) web.MacLane {
	return web.MacLane{ID: fmt.Sprintf("dev_01kbd3m8q5w9x2c7e4r6t8%04d", n), Name: name, State: state, Busy: busy, Slots: &slots, Share: &share, Worked: worked}
}

// shifts are a day's work that differs from Mac to Mac.
func shifts(seed int) (worked []web.Stretch) {
	for at := float64(seed * 37 % 200); at < 1440; at += float64(40 + (seed*53+int(at)*7)%170) {
		worked = append(worked, web.Stretch{From: at, To: at + float64(12+(seed*29+int(at)*11)%90)})
	}
	return worked
}

func hours(most, failed int) (all []web.HourCount) {
	for h := range 24 {
		n := most * (3 + (h*h*7+h*5)%13) / 16
		if h < 6 {
			n /= 5
		}
		c := web.HourCount{From: now.Truncate(time.Hour).Add(time.Duration(h-23) * time.Hour), Succeeded: n}
		if h%7 == 3 {
			c.Failed = failed
		}
		all = append(all, c)
	}
	return all
}

func run(mac string, j web.JobRef, phase string, fraction float64) web.NowRow {
	return web.NowRow{JobRef: j, Mac: mac, Progress: web.Progress{AttemptID: "att" + j.ID[3:], Phase: phase, Fraction: fraction}}
}

func quietStudio() web.Overview {
	return web.Overview{
		Macs: []web.MacLane{lane(1, "mini-1", "online", 0, 2, 0.31, shifts(3)...), lane(2, "studio-2", "online", 0, 4, 0.04, web.Stretch{From: 900, To: 960})},
		Room: &web.Room{Free: 6, Next: in(0), Share: share(0.13)}, Hours: hours(9, 0),
		Lately: []web.EndedRow{
			{JobRef: transcode(1, "interview.mp4", "web-1080p"), Status: "succeeded", Took: 200 * time.Second, At: now.Add(-2 * time.Hour)},
			{JobRef: transcode(2, "b-roll.mov", "prores-proxy"), Status: "cancelled", At: now.Add(-3 * time.Hour)},
		},
	}
}

func busyStudio() web.Overview {
	pace := func(r web.NowRow, fps, left float64) web.NowRow {
		r.FPS, r.LeftS = fps, left
		return r
	}
	cancelled := pace(run("studio-2", transcode(14, "old-cut.mp4", "web-720p"), "running", 0.35), 61, 300)
	cancelled.Cancelling = true
	starting := run("tower", transcode(16, "trailer-v3.mp4", "hevc-2160p"), "leased", 0)
	starting.Unknown = true
	remotion := run("tower", ref(17, "opening-titles.zip", "remotion.render", ""), "running", 0.82)
	remotion.LeftS, remotion.Files = 25, 3
	offline := lane(4, "field-laptop", "offline", 0, 1, 0.12, shifts(9)[:4]...)
	seen := now.Add(-5 * time.Hour)
	offline.Seen = &seen
	return web.Overview{
		Macs: []web.MacLane{
			lane(1, "mini-1", "online", 2, 2, 0.74, shifts(2)...), lane(2, "studio-2", "online", 2, 2, 0.66, shifts(5)...),
			lane(3, "tower", "draining", 2, 4, 0.48, shifts(7)...), offline,
		},
		Room: &web.Room{Next: in(4 * time.Minute), Share: share(0.58)}, Queued: 12, Hours: hours(48, 3),
		Now: []web.NowRow{
			pace(run("mini-1", transcode(11, "interview.mp4", "web-1080p"), "running", 0.62), 118, 95),
			run("mini-1", transcode(12, "b-roll-03.mov", "prores-proxy"), "downloading", 0.4),
			pace(run("studio-2", transcode(13, "master-final.mp4", "archive-hevc"), "uploading", 0.5), 0, 0),
			cancelled,
			run("tower", ref(15, "poster.mov", "ffmpeg.thumbnail", ""), "verifying", 0.1),
			starting, remotion,
		},
		Next: []web.NextRow{
			{JobRef: transcode(21, "scene-12.mp4", "web-1080p"), Start: in(20 * time.Second)},
			{JobRef: transcode(22, "scene-13.mp4", "web-1080p"), Start: in(4 * time.Minute)},
			{JobRef: transcode(23, "scene-14.mp4", "web-1080p"), Start: in(75 * time.Minute)},
			{JobRef: transcode(24, "hdr-master.mp4", "archive-hevc"), Lacks: []string{"hevc_videotoolbox", "studio-b"}},
			{JobRef: ref(25, "scene-12.jpg", "ffmpeg.thumbnail", ""), WaitingOn: &web.JobRef{ID: "job_01kbd3m8q5w9x2c7e4r6t80021", Name: "scene-12.mp4"}},
			{JobRef: transcode(26, "raid-original.mov", "prores-422"), Reading: true},
		},
		Lately: []web.EndedRow{
			{JobRef: transcode(31, "camera-card-2.mp4", "web-1080p"), Status: "failed", Message: endsEarly, Took: time.Minute, At: now.Add(-8 * time.Minute)},
			{JobRef: transcode(32, "voice.mp4", "web-720p"), Status: "failed", Message: "No Mac took the job before its deadline.", At: now.Add(-9 * time.Hour)},
			{JobRef: transcode(33, "scene-11.mp4", "web-1080p"), Status: "succeeded", Took: 412 * time.Second, At: now.Add(-time.Minute)},
			{JobRef: transcode(34, "scene-10.mp4", "web-1080p"), Status: "succeeded", Took: 398 * time.Second, At: now.Add(-4 * time.Minute)},
			{JobRef: transcode(35, "wrong-cut.mp4", "web-1080p"), Status: "cancelled", Took: 41 * time.Second, At: now.Add(-44 * time.Minute)},
		},
	}
}

// readersStudio is the same for a key that sees one account's jobs.
func readersStudio() web.Overview {
	o := busyStudio()
	o.Mine, o.Room, o.Now, o.Next, o.Lately, o.Queued = true, nil, o.Now[:2], o.Next[1:3], o.Lately[2:4], 2
	for i := range o.Macs {
		o.Macs[i].Slots, o.Macs[i].Share, o.Macs[i].Seen = nil, nil, nil
	}
	return o
}

func offlineStudio() web.Overview {
	o := quietStudio()
	seen := now.Add(-26 * time.Hour)
	for i := range o.Macs {
		o.Macs[i].State, o.Macs[i].Seen = "offline", &seen
	}
	o.Room, o.Lately, o.Queued = &web.Room{Share: share(0.13)}, nil, 1
	o.Next = []web.NextRow{{JobRef: transcode(21, "scene-12.mp4", "web-1080p"), NoMac: true}}
	return o
}

func stuckStudio() web.Overview {
	o := quietStudio()
	o.Queued, o.Next = 2, []web.NextRow{
		{JobRef: ref(21, "titles.mp4", "remotion.render", ""), Lacks: []string{"remotion.render"}},
		{JobRef: transcode(22, "scene-12.mov", "prores-422"), Lacks: []string{"prores_videotoolbox", "studio-b", "64 GB of memory"}},
	}
	return o
}

func thousands() web.Overview {
	o := forty()
	o.Many, o.Queued, o.Failed = true, 10000, true
	o.Hours = hours(12480, 310)
	o.Lately = nil
	for i := range 12 {
		row := web.EndedRow{JobRef: transcode(100+i, fmt.Sprintf("frame-%05d.mp4", i), "web-480p"), Status: "succeeded", Took: 9 * time.Second, At: now}
		if i < 8 {
			row.Status, row.Message = "failed", strings.Repeat(endsEarly+" ", 1+i%3)
		}
		o.Lately = append(o.Lately, row)
	}
	return o
}

func strangeNames() web.Overview {
	o := busyStudio()
	names := []string{longName, arabic, strings.Repeat("unbroken_", 30) + ".mov", "<b>&amp;.mov"}
	for i := range o.Now {
		o.Now[i].Name, o.Now[i].Mac = names[i%4], []string{"The Mac Studio under the stairs of the old building", "استوديو"}[i%2]
	}
	for i := range o.Next {
		o.Next[i].Name = names[i%4]
	}
	for i := range o.Lately {
		o.Lately[i].Name, o.Lately[i].Preset = names[i%4], strings.Repeat("house-preset-", 4)
	}
	for i := range o.Macs {
		o.Macs[i].Name = []string{"The Mac Studio under the stairs of the old building", "استوديو ٢"}[i%2]
	}
	o.Lately[0].Message = arabic + ": " + strings.Repeat("unbroken/", 40)
	return o
}

// forty are as many runs as a large studio has, on more Macs than there is room for.
func forty() web.Overview {
	o := web.Overview{Room: &web.Room{Next: in(30 * time.Second), Share: share(0.45)}, Queued: 2140, Hours: hours(180, 6)}
	for i := range 40 {
		mac := fmt.Sprintf("mini-%02d", i+1)
		o.Macs = append(o.Macs, lane(i, mac, "online", 1, 1, float64(i%10)/10, shifts(i)...))
		row := run(mac, transcode(i, fmt.Sprintf("reel-%02d.mp4", i), "web-1080p"), "running", float64(i)/40)
		row.FPS, row.LeftS = float64(20+i), float64(600-10*i)
		o.Now = append(o.Now, row)
	}
	for i := range 8 {
		o.Next = append(o.Next, web.NextRow{JobRef: transcode(50+i, fmt.Sprintf("reel-%02d.mp4", 40+i), "web-1080p"), Start: in(time.Duration(i) * time.Minute)})
	}
	return o
}
