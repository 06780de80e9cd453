package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"rendermac/agentproto"
)

const (
	testToken = "rmd_test"
	partBytes = 8 << 10
	minute    = time.Minute
	patience  = 20 * time.Second // for what a test waits for; it never comes to that
)

// fakeServer is a server at the wire: a real WebSocket and real HTTP. It answers
// as the protocol says, but where a test decides otherwise.
type fakeServer struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex
	changed  chan struct{} // closed and made anew at each change
	terms    agentproto.HelloOK
	sessions []*fakeSession
	heard    []heard
	inputs   map[string][]byte         // by path
	held     map[string]map[int][]byte // parts, by attempt
	offers   map[string]*agentproto.LeaseOffer
	gets     []string // Range headers of the requests for inputs

	// Each may decide for itself: reply says false to leave a message to the usual
	// answer, dial and blob say true where they have answered.
	reply func(s *fakeSession, m agentproto.Message) bool
	dial  func(w http.ResponseWriter, r *http.Request) bool
	blob  func(w http.ResponseWriter, r *http.Request) bool
}

type heard struct {
	on *fakeSession
	m  agentproto.Message
	at time.Time
}

type fakeSession struct {
	srv   *fakeServer
	conn  *websocket.Conn
	hello *agentproto.Hello
	ended chan struct{}
	err   error // why, after ended
}

// newServer also lets the test run beside others: most of its time is waiting.
func newServer(t *testing.T) *fakeServer {
	t.Parallel()
	s := &fakeServer{
		t: t, changed: make(chan struct{}),
		terms: agentproto.HelloOK{
			DeviceID: "dev_1", DeviceName: "studio", Slots: 1, Resume: true,
			LeaseTTL: 60, Heartbeat: 0.2, ServerTime: agentproto.Time{Time: time.Now()}, ServerVersion: "test",
		},
		inputs: map[string][]byte{}, held: map[string]map[int][]byte{}, offers: map[string]*agentproto.LeaseOffer{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/provider/ws", s.serveSession)
	mux.HandleFunc("/v1/blobs/", s.serveBlob)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *fakeServer) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

// until waits until ok, called under the lock, holds.
func (s *fakeServer) until(what string, ok func() bool) {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		s.mu.Lock()
		done, changed := ok(), s.changed
		s.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			s.t.Fatalf("waited in vain for %s; heard: %s", what, s.transcript())
		}
	}
}

func (s *fakeServer) transcript() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, h := range s.heard {
		text, _ := agentproto.Encode(h.m)
		fmt.Fprintf(&b, "\n  %s", clip(string(text), 300))
	}
	return b.String()
}

// next waits for the first message of type M since mark that ok accepts.
func next[M agentproto.Message](s *fakeServer, mark int, ok func(M) bool) M {
	s.t.Helper()
	var found M
	s.until(fmt.Sprintf("a %s", found.Type()), func() bool {
		for _, h := range s.heard[mark:] {
			if m, is := h.m.(M); is && (ok == nil || ok(m)) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

func (s *fakeServer) mark() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.heard)
}

// ranges are the Range headers of all requests for inputs.
func (s *fakeServer) ranges() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.gets)
}

// count is how many messages of type M have come since mark.
func count[M agentproto.Message](s *fakeServer, mark int) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.heard[mark:] {
		if _, is := h.m.(M); is {
			n++
		}
	}
	return n
}

// session waits for the n-th session, counted from 1, to have said hello.
func (s *fakeServer) session(n int) *fakeSession {
	s.t.Helper()
	var found *fakeSession
	s.until(fmt.Sprintf("session %d", n), func() bool {
		if len(s.sessions) >= n {
			found = s.sessions[n-1]
		}
		return found != nil
	})
	return found
}

func (s *fakeServer) serveSession(w http.ResponseWriter, r *http.Request) {
	if s.dial != nil && s.dial(w, r) {
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+testToken {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{agentproto.Subprotocol}})
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(agentproto.MaxFrame)
	f := &fakeSession{srv: s, conn: conn, ended: make(chan struct{})}
	f.err = f.run()
	close(f.ended)
	s.change(func() {})
}

func (f *fakeSession) run() error {
	for {
		_, frame, err := f.conn.Read(context.Background())
		if err != nil {
			return err
		}
		m, err := agentproto.Decode(frame)
		if err != nil {
			return err
		}
		f.srv.change(func() { f.srv.heard = append(f.srv.heard, heard{f, m, time.Now()}) })
		if hello, ok := m.(*agentproto.Hello); ok {
			f.hello = hello
			f.send(&f.srv.terms)
		}
		f.srv.mu.Lock()
		reply := f.srv.reply
		f.srv.mu.Unlock()
		if reply == nil || !reply(f, m) {
			f.usual(m)
		}
		if f.hello == m {
			f.srv.change(func() { f.srv.sessions = append(f.srv.sessions, f) })
		}
	}
}

func (f *fakeSession) send(m agentproto.Message) {
	frame, err := agentproto.Encode(m)
	if err == nil {
		f.conn.Write(context.Background(), websocket.MessageText, frame) // a lost socket shows in run
	}
}

// usual answers as a server does where all is well.
func (f *fakeSession) usual(m agentproto.Message) {
	switch m := m.(type) {
	case *agentproto.Hello:
		for _, entry := range m.Resume {
			f.send(&agentproto.LeaseRevoked{JobID: entry.JobID, AttemptID: entry.AttemptID})
		}
	case *agentproto.Progress:
		f.send(&agentproto.ProgressOK{IDs: m.IDs, LeaseTTL: f.srv.terms.LeaseTTL})
	case *agentproto.Inputs:
		f.send(&agentproto.InputsOK{IDs: m.IDs, Inputs: f.srv.offers[m.AttemptID].Inputs})
	case *agentproto.Upload:
		f.send(f.grant(m, agentproto.MaxGrantParts))
	case *agentproto.Commit:
		f.send(&agentproto.CommitAccepted{IDs: m.IDs})
		f.send(&agentproto.CommitOK{JobID: m.JobID, AttemptID: m.AttemptID})
	case *agentproto.Fail:
		f.send(&agentproto.FailOK{JobID: m.JobID, AttemptID: m.AttemptID})
	}
}

// grant signs the parts that are not held, so many of them.
func (f *fakeSession) grant(m *agentproto.Upload, most int) *agentproto.UploadGrant {
	s := f.srv
	s.mu.Lock()
	defer s.mu.Unlock()
	g := &agentproto.UploadGrant{IDs: m.IDs, Parts: []agentproto.PartURL{}}
	for _, p := range m.Parts {
		if _, held := s.held[m.AttemptID][p.Number]; held || p.Number < m.FromPart {
			continue
		}
		if len(g.Parts) == most {
			g.NextPart = &p.Number
			break
		}
		url := fmt.Sprintf("%s/v1/blobs/%s/%d", s.URL, m.AttemptID, p.Number)
		g.Parts = append(g.Parts, agentproto.PartURL{Number: p.Number, URL: url, Headers: map[string]string{"X-Part-Sha256": p.SHA256}})
	}
	return g
}

func (s *fakeServer) serveBlob(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "" {
		s.t.Error("the device token went to a signed URL")
	}
	if r.Method == http.MethodGet {
		s.change(func() { s.gets = append(s.gets, r.Header.Get("Range")) })
	}
	s.mu.Lock()
	blob := s.blob
	s.mu.Unlock()
	if blob != nil && blob(w, r) {
		return
	}
	if r.Method == http.MethodPut {
		s.putPart(w, r)
		return
	}
	s.mu.Lock()
	content, ok := s.inputs[r.URL.Path]
	s.mu.Unlock()
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

func (s *fakeServer) putPart(w http.ResponseWriter, r *http.Request) {
	segments := strings.Split(r.URL.Path, "/")
	attempt := segments[len(segments)-2]
	number, _ := strconv.Atoi(segments[len(segments)-1])
	body, err := io.ReadAll(r.Body)
	if err != nil || int64(len(body)) != r.ContentLength || digest(body) != r.Header.Get("X-Part-Sha256") {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	s.change(func() {
		if s.held[attempt] == nil {
			s.held[attempt] = map[int][]byte{}
		}
		s.held[attempt][number] = body
	})
}

// uploaded is what the parts of an attempt make together.
func (s *fakeServer) uploaded(attempt string) (whole []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var numbers []int
	for number := range s.held[attempt] {
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	for _, number := range numbers {
		whole = append(whole, s.held[attempt][number]...)
	}
	return whole
}

// offer makes an offer of a transcode of one input and sends it on session on.
func (s *fakeServer) offer(on *fakeSession, attempt string, input []byte, params string) *agentproto.LeaseOffer {
	return s.offerOf("ffmpeg.transcode", on, attempt, input, params)
}

func (s *fakeServer) offerOf(service string, on *fakeSession, attempt string, input []byte, params string) *agentproto.LeaseOffer {
	path := "/v1/blobs/inputs/" + attempt
	o := &agentproto.LeaseOffer{
		IDs:           agentproto.IDs{JobID: "job_" + attempt, AttemptID: attempt, LeaseEpoch: 1},
		AttemptNumber: 1, CommitToken: "token-1-" + attempt, LeaseTTL: s.terms.LeaseTTL,
		Service: service, Params: agentproto.RawJSON(params),
		Inputs: []agentproto.Input{{Name: "clip.mp4", URL: s.URL + path, Bytes: int64(len(input)), SHA256: digest(input)}},
		Output: agentproto.Output{Key: "outputs/x", ContentType: "video/mp4", PartBytes: partBytes},
	}
	s.change(func() { s.inputs[path], s.offers[attempt] = input, o })
	on.send(o)
	return o
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
