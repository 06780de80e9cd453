package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rendermac/config"
)

// checkup is a doctor for a machine with this data directory and address.
func checkup(t *testing.T, listen string) *doctor {
	t.Helper()
	c, err := config.Load(config.Options{Data: t.TempDir(), Flags: map[string]string{"listen": listen}})
	if err != nil {
		t.Fatal(err)
	}
	return &doctor{c: c, tell: func(finding) {}}
}

func answering(t *testing.T, status int, date time.Time) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", date.UTC().Format(http.TimeFormat))
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestDoctorKnowsWhoHasThePort(t *testing.T) {
	for status, want := range map[int]string{
		http.StatusOK:                 "ok a server is ready at ",
		http.StatusServiceUnavailable: "fail the server at ",
		http.StatusNotFound:           "fail 127.0.0.1:",
	} {
		d := checkup(t, strings.TrimPrefix(answering(t, status, time.Now()), "http://"))
		d.port(t.Context())
		if got := d.findings[0].Level + " " + d.findings[0].Found; !strings.HasPrefix(got, want) {
			t.Errorf("status %d: got %s, want %s…", status, got, want)
		}
	}
	d := checkup(t, "192.0.2.1:80") // nobody's address
	d.port(t.Context())
	if f := d.findings[0]; f.Level != "fail" || !strings.Contains(f.Found, "cannot be listened on") {
		t.Errorf("got %+v", f)
	}
}

func TestDoctorHoldsTheClockAgainstTheServers(t *testing.T) {
	for skew, want := range map[time.Duration]string{
		0: "ok agrees", time.Hour: "warn differs from the server's by ", -time.Hour: "warn differs from the server's by ",
	} {
		d := checkup(t, "127.0.0.1:0")
		slot, err := reservePairing(d.c.Data)
		if err != nil {
			t.Fatal(err)
		}
		if err := slot.save(pairing{URL: answering(t, http.StatusOK, time.Now().Add(skew)), DeviceID: "dev_1", DeviceToken: "rmd_1"}); err != nil {
			t.Fatal(err)
		}
		d.pairing(t.Context())
		last := d.findings[len(d.findings)-1]
		if got := last.Level + " " + last.Found; last.Check != "clock" || !strings.HasPrefix(got, want) {
			t.Errorf("skew %s: got %s, want %s…", skew, got, want)
		}
	}
}

func TestDoctorReadsSleepSettings(t *testing.T) {
	const settings = "Currently in use:\n standby              1\n sleep                %s\n displaysleep         10\n"
	for value, want := range map[string]int{"0": 0, "10 (sleep prevented by caffeinate)": 10, "1": 1} {
		if got := sleepMinutes(strings.Replace(settings, "%s", value, 1)); got != want {
			t.Errorf("%s: got %d, want %d", value, got, want)
		}
	}
}

func TestDoctorWantsFoldersThatCanBeMade(t *testing.T) {
	d := checkup(t, "127.0.0.1:0")
	file := filepath.Join(d.c.Data, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.folder("store", file)
	if f := d.findings[0]; f.Level != "fail" || f.Found != file+" is no folder" {
		t.Errorf("got %+v", f)
	}
	d.folder("store", filepath.Join(d.c.Data, "not", "yet"))
	if f := d.findings[1]; f.Level != "ok" || !strings.HasSuffix(f.Found, "is made when it is needed") {
		t.Errorf("got %+v", f)
	}
}

func TestADamagedPairingSaysSo(t *testing.T) {
	for _, text := range []string{"", "{}", `{"url": "http://127.0.0.1:1"}`, "token"} {
		data := t.TempDir()
		if err := os.WriteFile(pairingFile(data), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := loadPairing(data); err == nil || !strings.HasSuffix(err.Error(), "is damaged: pair this machine again") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestDoctorSaysWhatTheCacheHolds(t *testing.T) {
	d := checkup(t, "127.0.0.1:0")
	d.c.Agent.Cache = 0
	d.cache()
	if f := d.findings[0]; f.Level != "ok" || f.Found != "0 B of inputs are in the cache (agent.cache: at most 0 B)" {
		t.Errorf("got %+v", f)
	}
}
