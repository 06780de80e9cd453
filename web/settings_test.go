package web

import (
	"encoding/json"
	"testing"
	"time"
)

func TestAccount_SaysWhatMayStillBeUsed(t *testing.T) {
	for want, a := range map[string]Account{
		"No limit":                    {Held: 20, Spent: 40},
		"2,948 left of 5,000":         {Limit: new(int64(5000)), Left: new(int64(2948))},
		"0 left of 500":               {Limit: new(int64(500)), Left: new(int64(0))},
		"1,200 over its limit of 500": {Limit: new(int64(500)), Left: new(int64(-1200))},
		"9,007,199,254,740,991 left of 9,007,199,254,740,991": {Limit: new(int64(1<<53 - 1)), Left: new(int64(1<<53 - 1))},
	} {
		if got := a.Balance(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestRetention_SaysItsRules(t *testing.T) {
	const day = 24 * time.Hour
	rules := Retention{Outputs: 30 * day, OutputsMaxBytes: 2e12, UploadsMaxBytes: 5e8, Logs: 36 * time.Hour, Events: time.Hour, Deliveries: 90 * time.Second}.Rules()
	for i, want := range []string{
		"For 30 days after their job has ended; the oldest go where all are more than 2.0 TB",
		"For ever; the oldest go where all are more than 500 MB",
		"For 36 hours", "For 1 hour", "For 1 min 30 s",
	} {
		if rules[i].Kept != want {
			t.Errorf("%s: %q, want %q", rules[i].What, rules[i].Kept, want)
		}
	}
}

func TestBackups_SayHowOften(t *testing.T) {
	for every, want := range map[time.Duration]string{24 * time.Hour: "Every day", time.Hour: "Every hour", 6 * time.Hour: "Every 6 hours", 36 * time.Hour: "Every 36 hours"} {
		if got := (Backups{Every: every}).Often(); got != want {
			t.Errorf("%s: %q, want %q", every, got, want)
		}
	}
}

func TestDelivery_SaysWhatTheReceiverAnswered(t *testing.T) {
	for want, d := range map[string]Delivery{
		"Not tried yet":               {State: "pending"},
		"The receiver answered 204":   {State: "delivered", LastStatus: new(204), LastError: "the try before has failed"},
		"The address cannot be found": {State: "failed", LastStatus: new(500), LastError: "the address cannot be found"},
	} {
		if got := d.Answer(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestPreset_SaysWhatItSetsWhereNobodyKnowsWhatItYields(t *testing.T) {
	for want, params := range map[string]string{
		"H.264 up to 720p":         `{"width":1280,"height":720,"video_codec":"h264"}`,
		"Sets audio x, quality 20": `{"quality":20,"audio":"x"}`,
	} {
		p := Preset{OfferPreset: OfferPreset{Params: json.RawMessage(params)}}
		if got := p.Yields(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSettings_TellOwnPresetsFromOthersAndNameEachOnce(t *testing.T) {
	named := func(name string, own bool) Preset { return Preset{OfferPreset: OfferPreset{Name: name, Own: own}} }
	s := Settings{Presets: []Preset{named("podcast", false), named("web", false), named("acme", true), named("podcast", false)}}
	own, others := s.OwnPresets(), s.BuiltIn()
	if len(own) != 1 || own[0][0].Name != "acme" || len(others) != 2 || len(others[0]) != 2 || others[0][1].Name != "podcast" || others[1][0].Name != "web" {
		t.Errorf("own %v, others %v", own, others)
	}
}
