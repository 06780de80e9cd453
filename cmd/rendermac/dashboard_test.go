package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/config"
)

var signInLink = regexp.MustCompile(`(http://\S+)/sign-in#(rml_\S+)`)

// mustSignIn redeems the link in a text as the page does, and says how that ended.
func mustSignIn(t *testing.T, text string) int {
	t.Helper()
	m := signInLink.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("there is no sign-in link in %q", text)
	}
	body, err := json.Marshal(api.SessionRequest{Token: m[2]})
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(m[1]+"/session", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

func TestDashboard_EachLinkIsFreshAndWorksOnce(t *testing.T) {
	h := newHouse(t)
	server := h.serve("")
	plain := h.open("rendermac dashboard")
	first := plain.done()
	if !regexp.MustCompile(`^http://127\.0\.0\.1:` + h.port + `/sign-in#rml_\S+\n$`).MatchString(first) {
		t.Errorf("stdout is %q", first)
	}
	if said := plain.err.String(); !strings.Contains(said, "signs in once, until ") {
		t.Errorf("stderr is %q", said)
	}
	var second api.SignIn
	if err := json.Unmarshal([]byte(h.run("rendermac dashboard --json")), &second); err != nil || time.Until(second.ExpiresAt) > 15*time.Minute || second.URL == strings.TrimSpace(first) {
		t.Errorf("the JSON is %+v, %v", second, err)
	}
	for _, link := range []string{first, second.URL} {
		if once, again := mustSignIn(t, link), mustSignIn(t, link); once != 204 || again != 403 {
			t.Errorf("the link is answered with %d and then %d", once, again)
		}
	}
	if said := server.err.String(); strings.Contains(said, "sign-in#") || strings.Contains(said, "rml_") {
		t.Errorf("a log has a link: %s", said)
	}
}

// What a start says to a person: a link to come in on the first one, how to get
// another on the others.
func TestServe_GreetsWithTheDashboard(t *testing.T) {
	data := t.TempDir()
	for start, public := range []string{"", "", "https://farm.example/"} {
		c, err := config.Load(config.Options{Data: data, Flags: map[string]string{"listen": "127.0.0.1:0", "public_url": public}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := startPlant(t.Context(), c, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		greet(t.Context(), &said, p, c)
		switch text := said.String(); {
		case start == 0 && mustSignIn(t, text) != 204:
			t.Errorf("the first start's link does not sign in: %s", text)
		case start > 0 && (signInLink.MatchString(text) || !strings.Contains(text, "rendermac dashboard")):
			t.Errorf("a later start says %q", text)
		}
		p.stop()
	}
	var log strings.Builder
	welcome(t.Context(), io.Writer(&log), &plant{url: "http://127.0.0.1:1", adminKey: "rm_x"}, &config.Config{})
	if log.String() != "" {
		t.Errorf("a log file is told %q", &log)
	}
}

// Whoever watches a demo can look at it in the browser meanwhile.
func TestDemo_SaysWhereTheDashboardIs(t *testing.T) {
	h := newHouse(t)
	demo := h.open(`ffmpeg -v error -f lavfi -i testsrc2=s=320x180:d=1 -pix_fmt yuv420p small.mov
		exec rendermac demo --keep small.mov`)
	h.until("the demo is done", func() bool {
		select {
		case err := <-demo.ended:
			t.Fatalf("the demo ended: %v\n%s", err, &demo.err)
		default:
		}
		return strings.Contains(demo.out.String(), ".mp4\n")
	})
	if status := mustSignIn(t, demo.err.String()); status != 204 {
		t.Errorf("the demo's link is answered with %d", status)
	}
	again := regexp.MustCompile(`rendermac --data (\S+) dashboard`).FindStringSubmatch(demo.err.String())
	if again == nil {
		t.Fatalf("it is not said how to get another link: %s", &demo.err)
	}
	if status := mustSignIn(t, h.run("rendermac --data %s dashboard", again[1])); status != 204 {
		t.Errorf("another link is answered with %d", status)
	}
}
