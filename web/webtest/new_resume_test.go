package webtest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rendermac/api"
)

const partBytes = 64 << 10

// An upload that is cut off by the server's death and by a reload goes on where it
// was: what the server has, it is not sent again.
func TestNew_AnUploadGoesOnAfterTheServerAndThePageWereGone(t *testing.T) {
	s := mustStudio(t, "store: {part_bytes: 64KiB}")
	file := filepath.Join(t.TempDir(), "rushes of day 1.mov")
	must(t, os.WriteFile(file, noise(40*partBytes), 0o600))
	p := s.open("/new")
	p.Expect("ERR_|answered (409|503)|dialog beforeunload")
	p.Click("h1") // browsers ask only people whether they will leave
	p.Slow(1 << 20)
	p.SetFiles("#files", file)
	p.Until(bar + " >= 25")
	p.Until(`/ %, .* [kM]B\/s, .* left$/.test(document.querySelector(".tale").textContent)`)
	s.kill()
	p.WaitText("The server does not answer. Tries again in")
	p.Offline(true)
	s.start()
	missing := s.missing(p)
	p.Slow(1 << 20) // and online again
	p.Until(bar + " >= 60")
	p.Reload()
	if !p.complained("dialog beforeunload") {
		t.Error("the page was left without a warning")
	}
	p.WaitText("An earlier upload has no job yet: rushes of day 1.mov.")
	p.Drop("h1", file)
	p.WaitText("Goes on from")
	p.Slow(0)
	p.WaitText("unread")
	p.WaitText("The server cannot read this kind of file; a Mac may.")

	counted := s.counted()
	if stored := counted[`rendermac_http_requests_total{method="PUT",route="/v1/blobs/{key}",status="2xx"}`]; stored != float64(missing) {
		t.Errorf("%v parts were stored after the restart, and %d were missing", stored, missing)
	}
	// What was on its way when it was cut off, twice, comes twice.
	if came := counted["rendermac_blob_received_bytes_total"]; came > float64((missing+4)*partBytes) {
		t.Errorf("%v bytes came for %d parts", came, missing)
	}
	s.mustHold(p, file)
	p.Click("Make the job")
	p.WaitText("The job is made.")
	p.Reload()
	p.WaitText("An upload that was cut off goes on")
	p.WaitGone("#remembered:not(:empty)")
}

const bar = `document.querySelector(".file [role=progressbar]").ariaValueNow`

// noise is bytes that no part of which is like another.
func noise(n int) []byte {
	all := make([]byte, n)
	for i := range all {
		all[i] = byte(i*7 + i/partBytes)
	}
	return all
}

// complained tells whether the page has, be that announced or not.
func (p *Page) complained(of string) bool {
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	return slices.ContainsFunc(p.faults.lines, func(line string) bool { return strings.HasPrefix(line, of) })
}

// upload is the id of the one that the page remembers.
func upload(p *Page) (id string) {
	p.Eval(`JSON.parse(localStorage.getItem(Object.keys(localStorage)[0])).id`, &id)
	return id
}

// missing is how many of its parts the server lacks.
func (s *studio) missing(p *Page) int {
	s.Helper()
	var up api.Upload
	s.ask(http.MethodGet, "/v1/uploads/"+upload(p), nil, &up)
	return len(up.Parts)
}

// mustHold fails where the server's bytes are not the file's.
func (s *studio) mustHold(p *Page, file string) {
	s.Helper()
	text, err := os.ReadFile(file)
	must(s, err)
	sum := fmt.Sprintf("%x", sha256.Sum256(text))
	var done api.UploadDone
	s.ask(http.MethodPost, "/v1/uploads/"+upload(p)+"/complete", api.UploadComplete{}, &done)
	if done.SHA256 != sum {
		s.Errorf("the server holds %s, and the file is %s", done.SHA256, sum)
	}
}

// ask calls the API with the admin's key.
func (s *studio) ask(method, path string, in, out any) {
	s.Helper()
	text, err := json.Marshal(in)
	must(s, err)
	request, err := http.NewRequestWithContext(s.Context(), method, s.url+path, bytes.NewReader(text))
	must(s, err)
	request.Header.Set("Authorization", "Bearer "+s.key)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	must(s, err)
	defer answer.Body.Close()
	must(s, json.NewDecoder(answer.Body).Decode(out))
}

// counted is the server's metrics.
func (s *studio) counted() map[string]float64 {
	s.Helper()
	answer, err := http.Get(s.url + "/metrics")
	must(s, err)
	defer answer.Body.Close()
	values := map[string]float64{}
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		name, text, _ := strings.Cut(lines.Text(), " ")
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			values[name] = value
		}
	}
	return values
}
