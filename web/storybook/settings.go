package main

import (
	"encoding/json"
	"fmt"
	"time"

	"rendermac/web"
)

var settings = []story{
	{"settings/new", admin("Settings", "/settings"), settingsOf(nil)},
	{"settings/reader", reader("Settings", "/settings"), web.Settings{Own: account("a1", "wall screen", new(int64(5000)), 120, 4380), Presets: presets}},
	{"settings/busy", admin("Settings", "/settings"), settingsOf(busy)},
	{"settings/names", admin("Settings", "/settings"), settingsOf(oddSettings)},
	{"settings/many", admin("Settings", "/settings"), settingsOf(many)},
	{"settings/none-failed", admin("Settings", "/settings"), settingsOf(func(s *web.Settings) { s.Admin.Deliveries.State = "failed" })},
	{"settings/revoked-keys", admin("Settings", "/settings"), settingsOf(revokedKeys)},
	{"settings/degraded", admin("Settings", "/settings"), settingsOf(degraded)},
	{"settings/new-account", admin("Settings", "/settings"), settingsOf(nil)},
	{"settings/made-secret", admin("Settings", "/settings"), settingsOf(oddSettings)},
	{"settings/new-key", admin("Settings", "/settings"), settingsOf(busy)},
	{"settings/key-unanswered", admin("Settings", "/settings"), settingsOf(busy)},
	{"settings/made-key", admin("Settings", "/settings"), settingsOf(busy)},
	{"settings/revoke-own-key", admin("Settings", "/settings"), settingsOf(nil)},
	{"settings/last-admin-key", admin("Settings", "/settings"), settingsOf(nil)},
	{"settings/would-go", admin("Settings", "/settings"), settingsOf(busy)},
	{"settings/nothing-would-go", admin("Settings", "/settings"), settingsOf(nil)},
}

// settingsOf are those of a server that has just begun, and then changed.
func settingsOf(change func(*web.Settings)) web.Settings {
	s := web.Settings{Own: account("a1", "studio", nil, 0, 0), Presets: presets, Admin: &web.AdminSettings{
		Accounts: web.Accounts{Rows: []web.Account{account("a1", "studio", nil, 0, 0)}},
		Keys:     web.Keys{Rows: []web.Key{apiKey("k1", "first start", "studio", "admin", true)}},
		Storage: web.Storage{
			Folder: "/Users/studio/Library/Application Support/RenderMac/artifacts", Free: new(int64(812_400_000_000)),
			Retention: web.Retention{Uploads: 7 * day, Events: 90 * day, Logs: 30 * day, Deliveries: 30 * day},
		},
		Backups: web.Backups{Keep: 7, Folder: "/Users/studio/Library/Application Support/RenderMac/backups"},
		Server: web.Server{
			URL: "http://127.0.0.1:7420", StartedAt: now.Add(-3 * time.Minute), Database: 4_300_000, Go: "go1.26.1", SQLite: "3.51.2", System: "darwin on arm64",
			Data: "/Users/studio/Library/Application Support/RenderMac", Config: "/Users/studio/Library/Application Support/RenderMac/config.yaml",
			Metrics: "http://127.0.0.1:7420/metrics",
		},
	}}
	if change != nil {
		change(&s)
	}
	return s
}

const day = 24 * time.Hour

func account(id, name string, limit *int64, held, spent int64) web.Account {
	a := web.Account{ID: "acc_01kbd3m8q5w9x2c7e4r6t8y0" + id, Name: name, Limit: limit, Held: held, Spent: spent, CreatedAt: now.Add(-40 * day)}
	if limit != nil {
		a.Left = new(*limit - held - spent)
	}
	return a
}

func apiKey(id, name, of, scope string, own bool) web.Key {
	return web.Key{ID: "key_01kbd3m8q5w9x2c7e4r6t8y0" + id, Name: name, Account: of, Scope: scope, Own: own, CreatedAt: now.Add(-12 * day)}
}

func preset(name, title, params string, services ...string) web.Preset {
	return web.Preset{OfferPreset: web.OfferPreset{Name: name, Title: title, Params: json.RawMessage(params)}, Services: services}
}

var presets = []web.Preset{
	preset("podcast-m4a", "For podcasts, at -16 LUFS", `{"bitrate":128000,"codec":"aac","loudness_lufs":-16}`, "ffmpeg.audio"),
	preset("podcast-m4a", "Sound only, for podcasts", `{"audio_bitrate":128000,"audio_codec":"aac","video_codec":"none"}`, "ffmpeg.concat", "ffmpeg.transcode"),
	preset("web-1080p", "For the web, up to 1920×1080", `{"audio_bitrate":160000,"audio_codec":"aac","height":1080,"quality":65,"video_codec":"h264","width":1920}`, "ffmpeg.concat", "ffmpeg.frames", "ffmpeg.transcode"),
	preset("archive-hevc", "HEVC of full size to keep, HDR and sound kept", `{"audio_codec":"copy","quality":80,"video_codec":"hevc"}`, "ffmpeg.concat", "ffmpeg.frames", "ffmpeg.transcode"),
	preset("social-9x16", "Upright for social media, edges cut, up to 1080×1920", `{"audio_bitrate":160000,"audio_codec":"aac","fit":"cover","height":1920,"quality":65,"video_codec":"h264","width":1080}`, "ffmpeg.concat", "ffmpeg.frames", "ffmpeg.transcode"),
}

func busy(s *web.Settings) {
	a := s.Admin
	a.Accounts.Rows = append(a.Accounts.Rows, account("b2", "acme", new(int64(5000)), 240, 1812), account("c3", "globex", new(int64(500)), 60, 560))
	a.Keys.Rows = append(a.Keys.Rows, apiKey("k2", "render scripts", "acme", "submit", false), apiKey("k3", "wall screen", "studio", "read", false))
	a.Deliveries = web.Deliveries{Again: 840, Rows: []web.Delivery{
		{ID: "whd_1", JobID: "job_01kbd3m8q5w9x2c7e4r6t8y0za", Account: "acme", URL: "https://hooks.acme.example/rendermac", Event: "job.succeeded", State: "pending", CreatedAt: now.Add(-20 * time.Second)},
		{ID: "whd_2", JobID: "job_01kbd3m8q5w9x2c7e4r6t8y0zb", Account: "acme", URL: "https://hooks.acme.example/rendermac", Event: "job.failed", State: "pending", Tries: 4, LastStatus: new(503), LastError: "the receiver answered 503: it must answer 2xx", NextTry: new(now.Add(14 * time.Minute)), CreatedAt: now.Add(-time.Hour)},
		{ID: "whd_3", JobID: "job_01kbd3m8q5w9x2c7e4r6t8y0zc", Account: "studio", URL: "https://n8n.studio.example/webhook/5b1d4c0e", Event: "job.succeeded", State: "delivered", Tries: 1, LastStatus: new(204), CreatedAt: now.Add(-3 * time.Hour)},
		{ID: "whd_4", JobID: "job_01kbd3m8q5w9x2c7e4r6t8y0zd", Account: "globex", URL: "https://gone.globex.example/", Event: "job.cancelled", State: "failed", Tries: 10, LastError: "no address of gone.globex.example could be found: check webhook_url", CreatedAt: now.Add(-2 * day)},
	}}
	s.Presets = append([]web.Preset{preset("acme-review", "For Acme’s reviews", `{"width":1280,"height":720,"quality":40,"burn_timecode":true,"video_codec":"h264"}`, "ffmpeg.transcode"), preset("small", "A preset of this server's own", `{"quality":20}`, "ffmpeg.transcode")}, s.Presets...)
	s.Presets[0].Own, s.Presets[1].Own = true, true
	a.Storage.Folder, a.Storage.Free = "", nil
	a.Storage.Bucket, a.Storage.Endpoint, a.Storage.Prefix = "renders", "https://s3.eu-central-1.amazonaws.com", "studio/mac"
	a.Storage.Outputs, a.Storage.Uploads = 1_843_000_000_000, 412_000_000_000
	a.Storage.Retention.Outputs, a.Storage.Retention.OutputsMaxBytes = 30*day, 2<<40
	a.Backups = web.Backups{Every: day, Keep: 7, Folder: "/Volumes/Safe/rendermac", Count: 7, Last: &web.Backup{At: now.Add(-5 * time.Hour), File: "rendermac-20261201T093000Z.db", Bytes: 48_200_000}}
	a.Server.WideURL, a.Server.Public = "http://192.168.1.20:7420", true
}

func revokedKeys(s *web.Settings) {
	s.Admin.Keys = web.Keys{Revoked: true}
	for n, name := range []string{"old laptop", "trial"} {
		key := apiKey(fmt.Sprint("r", n), name, "studio", "submit", false)
		key.RevokedAt = before(time.Duration(n+2) * day)
		s.Admin.Keys.Rows = append(s.Admin.Keys.Rows, key)
	}
}

func oddSettings(s *web.Settings) {
	a := s.Admin
	long := "The second unit of the feature film whose working title nobody can remember, with everybody who cuts, grades and mixes it"
	arabic, unbroken := "استوديو التحرير الثاني", "an-account-without-a-place-to-break-the-line-for-as-long-as-a-hundred-characters-of-it-go-on-and-on"
	for i, name := range []string{long, arabic, unbroken, `<b>"Büro"</b> & 編集室`} {
		a.Accounts.Rows = append(a.Accounts.Rows, account(fmt.Sprint("n", i), name, new(int64(9007199254740991)), 123_456_789, 987_654_321_000))
		a.Keys.Rows = append(a.Keys.Rows, apiKey(fmt.Sprint("n", i), name, name, "submit", i == 0))
		a.Deliveries.Rows = append(a.Deliveries.Rows, web.Delivery{
			ID: fmt.Sprint("whd_", i), JobID: "job_01kbd3m8q5w9x2c7e4r6t8y0za", Account: name, URL: "https://" + unbroken + ".example.test/" + unbroken, Event: "job.succeeded",
			State: "failed", Tries: 10, LastError: "the receiver answered 301, and a redirect is not followed: name the final address as webhook_url", CreatedAt: now.Add(-time.Hour),
		})
	}
	s.Presets = append(s.Presets, preset("a-preset-whose-name-is-as-long-as-a-preset-may-be-for-sixty-four", long, `{"quality":40}`, "ffmpeg.transcode"))
	s.Presets[len(s.Presets)-1].Own = true
	a.Backups.Fault = "The folder cannot be read: open " + unbroken + ": permission denied"
}

func many(s *web.Settings) {
	a := s.Admin
	a.Accounts.Rows, a.Keys.Rows = nil, nil
	for n := range 50 {
		name := fmt.Sprintf("client %d", n+1)
		a.Accounts.Rows = append(a.Accounts.Rows, account(fmt.Sprintf("%02d", n), name, new(int64(1000*n)), int64(10*n), int64(n*n)))
		a.Keys.Rows = append(a.Keys.Rows, apiKey(fmt.Sprintf("%02d", n), "their script", name, []string{"read", "submit", "admin"}[n%3], false))
	}
	turning := web.Paging{First: "/settings", Next: "/settings?accounts=b2xk"}
	a.Accounts.Paging, a.Keys.Paging = turning, turning
	for n := range 20 {
		a.Deliveries.Rows = append(a.Deliveries.Rows, web.Delivery{
			ID: fmt.Sprint("whd_", n), JobID: fmt.Sprintf("job_01kbd3m8q5w9x2c7e4r6t8y0%02d", n), Account: "client 3", URL: "https://hooks.example.test/done", Event: "job.succeeded",
			State: "delivered", Tries: 1, LastStatus: new(200), CreatedAt: now.Add(-time.Duration(n) * time.Hour),
		})
	}
	a.Deliveries.State, a.Deliveries.Next = "delivered", "/settings?state=delivered&deliveries=b2xk#webhooks"
}

func degraded(s *web.Settings) {
	s.Admin.Server.Away = []string{"database", "artifact store"}
	s.Admin.Backups.Every, s.Admin.Backups.Late, s.Admin.Storage.Free = time.Hour, true, nil
}
