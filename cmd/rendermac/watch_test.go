package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rendermac/api"
)

// get asks the server of a house with its admin key.
func (h *house) get(path, accept string) *http.Response {
	h.Helper()
	key, err := os.ReadFile(filepath.Join(h.home, ".local/share/rendermac/admin.key"))
	if err != nil {
		h.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodGet, "http://127.0.0.1:"+h.port+path, nil)
	if err != nil {
		h.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(key)))
	request.Header.Set("Accept", accept)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { response.Body.Close() })
	return response
}

// heard are the ids of the events that a watch has written down so far.
func (h *house) heard(file string) (ids []int64) {
	h.Helper()
	text, _ := os.ReadFile(filepath.Join(h.home, file)) // not there yet
	for line := range strings.Lines(string(text)) {
		var e api.Event
		if !strings.HasSuffix(line, "\n") {
			break
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			h.Fatalf("%v: %s", err, line)
		}
		ids = append(ids, *e.ID)
	}
	return ids
}

// A server that stops ends its streams rather than wait for them, and whoever
// watches goes on with the next one, and has missed nothing.
func TestAWatchOutlastsARestart(t *testing.T) {
	h := newHouse(t)
	server := h.serve("")
	stream := bufio.NewReader(h.get("/v1/events", api.EventStreamType).Body)
	if line, err := stream.ReadString('\n'); err != nil || !strings.HasPrefix(line, "id: ") {
		t.Fatalf("the stream began with %q, %v", line, err)
	}
	watch := h.open("exec rendermac jobs watch --json >events")
	machines := 0
	pair := func() {
		machines++
		h.run("$(rendermac devices pair) --data mac%d", machines)
	}
	h.until("it is watched", func() bool { pair(); return len(h.heard("events")) > 0 })
	server.signal(syscall.SIGTERM)
	if _, err := io.Copy(io.Discard, stream); err != nil {
		t.Errorf("a stream broke off: %v", err)
	}
	h.serve("")
	pair()
	var all api.List[api.Event]
	if err := json.NewDecoder(h.get("/v1/events?limit=500", "").Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	first := h.heard("events")[0]
	var want []int64
	for _, e := range slices.Backward(all.Items) {
		if *e.ID >= first {
			want = append(want, *e.ID)
		}
	}
	h.until(fmt.Sprintf("%v were heard", want), func() bool { return len(h.heard("events")) >= len(want) })
	if got := h.heard("events"); !slices.Equal(got, want) {
		t.Errorf("heard %v, want %v", got, want)
	}
	watch.signal(syscall.SIGINT)
	if code := watch.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("Ctrl-C ended the watch with %d: %s", code, &watch.err)
	}
}
