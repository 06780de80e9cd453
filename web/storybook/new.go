package main

import (
	_ "embed"
	"encoding/json"

	"rendermac/web"
)

// offered is what a server offers, as GET /v1/services says it.
//
//go:embed services.json
var offered []byte

// newJob has the states that its script drops files for: /canned says what a
// server answers, and each file's name what becomes of it.
var newJob = []story{
	{"new/empty", admin("New job", "/new"), newOf(2)},
	{"new/no-mac", admin("New job", "/new"), newOf(0)},
	{"new/files", admin("New job", "/new"), newOf(2)},
	{"new/remembered", admin("New job", "/new"), newOf(2)},
	{"new/away", admin("New job", "/new"), newOf(2)},
	{"new/joined", admin("New job", "/new"), newOf(2)},
	{"new/faults", admin("New job", "/new"), newOf(2)},
	{"new/made", admin("New job", "/new"), newOf(2)},
	{"new/remotion", admin("New job", "/new"), newOf(1)},
	{"new/reader", reader("Forbidden", "/new"), web.Fault{Title: "Forbidden", Detail: "This key's scope is read: it looks on. Sign in with one of scope submit or admin to make jobs."}},
}

func newOf(online int) web.New {
	page := web.New{Account: "acc_01", MaxAttempts: 3}
	if err := json.Unmarshal(offered, &page.Offers); err != nil {
		panic(err)
	}
	for i := range page.Offers {
		page.Offers[i].Online = online
		if page.Offers[i].Name == "remotion.render" {
			page.Offers[i].Online = 0
		}
		if page.Offers[i].Name == "ffmpeg.transcode" {
			page.Offers[i].Presets = append(page.Offers[i].Presets,
				web.OfferPreset{Name: "acme-broadcast-delivery-with-a-very-long-name", Title: "نسخة البث لعميل أكمي", Own: true, Params: []byte(`{"video_codec":"hevc","video_bitrate":8000000,"audio_codec":"aac","audio_bitrate":192000,"width":1440,"height":1080,"fps":25}`)})
		}
	}
	return page
}
