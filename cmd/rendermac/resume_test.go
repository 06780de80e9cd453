package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"rendermac/api"
)

// chance is a source of randomness whose seed is printed.
func chance(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	if text := os.Getenv("RESUME_SEED"); text != "" {
		fmt.Sscan(text, &seed)
	}
	t.Logf("RESUME_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

func randomBytes(rnd *rand.Rand, n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(rnd.Uint32())
	}
	return data
}

// gate passes so many bytes of what goes to the server, and then none.
type gate struct {
	to string

	mu      sync.Mutex
	left    int64
	reached chan bool // closed when none is left
	passed  int64
}

func newGate(t *testing.T, port string) (g *gate, url string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	g = &gate{to: "127.0.0.1:" + port}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go g.serve(client)
		}
	}()
	return g, "http://" + l.Addr().String()
}

func (g *gate) open(n int64) (reached chan bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left, g.reached = n, make(chan bool)
	return g.reached
}

func (g *gate) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", g.to)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(client, server)
		client.Close()
	}()
	_, _ = io.Copy(through{g, server}, client)
}

type through struct {
	g    *gate
	conn net.Conn
}

func (w through) Write(p []byte) (int, error) {
	w.g.mu.Lock()
	n := min(int64(len(p)), w.g.left)
	w.g.left -= n
	w.g.passed += n
	if w.g.left == 0 && n > 0 {
		close(w.g.reached)
	}
	w.g.mu.Unlock()
	if _, err := w.conn.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil // what does not pass is lost, and the connection stands still
}

const testPart = 1 << 20

// TestASubmitKilledAtAnyByteGoesOn kills the real binary while it uploads to a
// real server: no more goes over the line twice than the parts in flight.
func TestASubmitKilledAtAnyByteGoesOn(t *testing.T) {
	rnd := chance(t)
	h := newHouse(t)
	h.ready(h.open("RENDERMAC_STORE_PART_BYTES=1MiB exec rendermac serve"))
	g, url := newGate(t, h.port)
	data := randomBytes(rnd, 40*testPart+7)
	if err := os.WriteFile(filepath.Join(h.home, "film.mov"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	submit := fmt.Sprintf("RENDERMAC_API_KEY=$(cat .local/share/rendermac/admin.key) exec rendermac submit film.mov --url %s", url)
	const kills = 3
	for range kills {
		reached := g.open(1 + rnd.Int64N(int64(len(data)/kills)))
		term := h.open(submit)
		<-reached
		term.signal(syscall.SIGKILL)
	}
	g.open(1 << 40)
	term := h.open(submit)
	term.done()
	notes, err := filepath.Glob(filepath.Join(h.home, ".cache/rendermac/uploads/*"))
	if err != nil || len(notes) > 0 {
		t.Errorf("%v is left, %v", notes, err)
	}
	if most := int64(len(data) + kills*4*testPart + 200<<10); g.passed > most { // 200 KiB of requests
		t.Errorf("%d bytes went over the line, at most %d may", g.passed, most)
	}
	var job api.Job
	if err := json.Unmarshal([]byte(h.run("rendermac jobs show %s --json", strings.TrimSpace(term.out.String()))), &job); err != nil {
		t.Fatal(err)
	}
	stored, err := os.ReadFile(filepath.Join(h.home, ".local/share/rendermac/artifacts/objects/uploads", *job.Inputs[0].UploadID, "original"))
	if err != nil || !bytes.Equal(stored, data) {
		t.Errorf("the server has %d other bytes, %v", len(stored), err)
	}
}

func TestASubmitSaysWhatIsThere(t *testing.T) {
	h := newHouse(t)
	h.ready(h.open("RENDERMAC_STORE_PART_BYTES=1MiB exec rendermac serve"))
	g, url := newGate(t, h.port)
	if err := os.WriteFile(filepath.Join(h.home, "film.mov"), randomBytes(chance(t), 12*testPart), 0o600); err != nil {
		t.Fatal(err)
	}
	submit := fmt.Sprintf("RENDERMAC_API_KEY=$(cat .local/share/rendermac/admin.key) exec rendermac submit film.mov --url %s", url)
	reached := g.open(8 * testPart)
	term := h.open(submit)
	<-reached
	term.signal(syscall.SIGINT)
	if said := term.err.String(); !strings.Contains(said, "rendermac: film.mov: interrupted before it was submitted: the same command goes on with the upload\n") {
		t.Errorf("interrupted, it said %s", said)
	}
	g.open(1 << 40)
	term = h.open(submit)
	term.done()
	if said := term.err.String(); !strings.Contains(said, "film.mov: going on with an earlier upload, ") || !strings.Contains(said, " of 12.6 MB are there\n") {
		t.Errorf("the second time it said %s", said)
	}
}

// shop is a server with one job's output, which it sends until it is held.
type shop struct {
	data   []byte
	sent   atomic.Int64
	stop   atomic.Int64 // once so much was sent, no more is
	held   chan bool    // an answer that stands still
	resume chan bool
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/v1/jobs/job_1":
		sum := sha256.Sum256(s.data)
		job := &api.Job{JobItem: api.JobItem{ID: "job_1", Status: api.JobSucceeded}}
		job.Artifact = &api.Artifact{Name: "film.mp4", Bytes: int64(len(s.data)), SHA256: hex.EncodeToString(sum[:])}
		respond(w, 200, job)
	case "/v1/jobs/job_1/output":
		http.Redirect(w, r, "/v1/blobs/out?sig=1", http.StatusFound)
	default:
		http.ServeContent(sentBy{w, s}, r, "", time.Time{}, bytes.NewReader(s.data))
	}
}

type sentBy struct {
	http.ResponseWriter
	shop *shop
}

func (s sentBy) Write(p []byte) (int, error) {
	if s.shop.sent.Load() >= s.shop.stop.Load() {
		s.shop.held <- true
		<-s.shop.resume
		panic(http.ErrAbortHandler)
	}
	n, err := s.ResponseWriter.Write(p)
	s.shop.sent.Add(int64(n))
	return n, err
}

// TestADownloadKilledAtAnyByteGoesOn kills the real binary: what is in the
// journal beside the file is not sent again.
func TestADownloadKilledAtAnyByteGoesOn(t *testing.T) {
	const inRange = 16 << 20
	rnd := chance(t)
	h := newHouse(t)
	s := &shop{data: bytes.Repeat(randomBytes(rnd, 1<<20+1), 100), held: make(chan bool, 100), resume: make(chan bool)}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	download := "exec rendermac jobs download job_1 --url " + server.URL + " --key rm_x -o out"
	h.run("mkdir out")

	s.stop.Store(1 + rnd.Int64N(4*inRange))
	term := h.open(download)
	<-s.held
	whole := int((s.sent.Load() - 64<<10) / inRange) // the last of it may wait in a buffer here
	h.until(fmt.Sprint(whole, " ranges are in the journal"), func() bool {
		journals, _ := filepath.Glob(filepath.Join(h.home, "out", ".film.mp4.*.rendermac-part.ranges"))
		if len(journals) != 1 {
			return false
		}
		text, _ := os.ReadFile(journals[0])
		return bytes.Count(text, []byte("\n")) >= whole+1
	})
	term.signal(syscall.SIGKILL)
	close(s.resume)
	if got := h.run("ls out"); got != "" {
		t.Errorf("a half-done %s is left", got)
	}
	s.stop.Store(1 << 40)
	s.sent.Store(0)
	term = h.open(download)
	if path := term.done(); path != "out/film.mp4\n" {
		t.Errorf("the path is %s", path)
	}
	if most := int64(len(s.data) - whole*inRange); s.sent.Load() > most {
		t.Errorf("%d bytes were sent again, at most %d were missing", s.sent.Load(), most)
	}
	if said := term.err.String(); whole > 0 && !strings.Contains(said, "job_1: going on with an earlier download, ") {
		t.Errorf("it said %s", said)
	}
	got, err := os.ReadFile(filepath.Join(h.home, "out", "film.mp4"))
	if err != nil || !bytes.Equal(got, s.data) {
		t.Errorf("%d bytes, %v: not the output", len(got), err)
	}
	if left := h.run("ls -A out"); left != "film.mp4\n" {
		t.Errorf("%s is left", left)
	}
}
