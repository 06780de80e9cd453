package qualify

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"rendermac/agentproto"
	"rendermac/api"
)

// farm is the far side of one agent: it gives it work, loses its socket where
// that is asked for, and puts down what the agent has shown.
type farm struct {
	testing.TB
	*httptest.Server
	tell   func(fact)
	input  []byte
	heard  chan []agentproto.ResumeEntry // what each hello has listed
	ended  chan string                   // attempts that had their final answer
	mu     sync.Mutex
	say    func(agentproto.Message) // to the newest session
	drops  map[string]bool          // "upload ATTEMPT" or "commit ATTEMPT": the socket is lost there, once
	sealed map[string]bool          // attempts whose commit got no answer
	parts  map[string][]byte
	faults []string
}

const farmToken = "rmd_farm"

// newFarm listens on an address.
func newFarm(t testing.TB, address string, tell func(fact)) *farm {
	t.Helper()
	f := &farm{
		TB: t, tell: tell, heard: make(chan []agentproto.ResumeEntry, 100), ended: make(chan string, 100),
		drops: map[string]bool{}, sealed: map[string]bool{}, parts: map[string][]byte{},
	}
	routes := http.NewServeMux()
	routes.HandleFunc("POST /v1/provider/pair", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(api.PairAnswer{DeviceID: "dev_farm", DeviceToken: farmToken})
	})
	routes.HandleFunc("GET /input", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(f.input) })
	routes.HandleFunc("PUT /part/{attempt}/{n}", f.part)
	routes.HandleFunc("GET /v1/provider/ws", f.session)
	f.Server = httptest.NewUnstartedServer(routes)
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	f.Server.Listener.Close()
	f.Server.Listener = l
	f.Server.Start()
	t.Cleanup(f.Server.Close)
	return f
}

func (f *farm) part(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.parts[r.PathValue("attempt")+"/"+r.PathValue("n")] = body
	w.WriteHeader(http.StatusOK)
}

// forget makes it the server of another agent.
func (f *farm) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults, f.parts = nil, map[string][]byte{}
	f.heard, f.ended = make(chan []agentproto.ResumeEntry, 100), make(chan string, 100)
}

// once says whether something was asked for, and takes it off the list.
func (f *farm) once(list map[string]bool, what string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := list[what]
	delete(list, what)
	return was
}

func (f *farm) wrong(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, fmt.Sprintf(format, args...))
}

// tokenOf is an attempt's secret under an epoch.
func tokenOf(attempt string, epoch int64) string { return fmt.Sprintf("%s-%d", attempt, epoch) }

// session is one of the agent's, from its hello on.
func (f *farm) session(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+farmToken {
		f.wrong("the agent came with the token %q", r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{agentproto.Subprotocol}})
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(agentproto.MaxFrame)
	say := func(m agentproto.Message) {
		if frame, err := agentproto.Encode(m); err == nil {
			_ = conn.Write(context.Background(), websocket.MessageText, frame)
		}
	}
	for {
		_, frame, err := conn.Read(context.Background())
		if err != nil {
			return
		}
		m, err := agentproto.Decode(frame)
		if err != nil {
			f.wrong("the agent said %s: %v", frame, err)
			return
		}
		if !f.answer(m, say) {
			return
		}
	}
}

// answer deals with one message; false loses the socket.
func (f *farm) answer(m agentproto.Message, say func(agentproto.Message)) bool {
	ttl := agentproto.Seconds(60)
	switch m := m.(type) {
	case *agentproto.Hello:
		f.mu.Lock()
		f.say = say
		heard := f.heard
		f.mu.Unlock()
		say(&agentproto.HelloOK{DeviceID: "dev_farm", DeviceName: "farm", Slots: 1, Resume: true, LeaseTTL: ttl, Heartbeat: 20, ServerTime: agentproto.Time{Time: time.Now()}})
		for _, e := range m.Resume {
			f.resume(e, ttl, say)
		}
		heard <- m.Resume
	case *agentproto.Progress:
		say(&agentproto.ProgressOK{IDs: m.IDs, LeaseTTL: ttl, LeaseExpiresAt: agentproto.Time{Time: time.Now().Add(time.Minute)}})
	case *agentproto.Upload:
		f.tell(fact{What: sawUpload, ID: m.AttemptID, Sum: m.SHA256, Epoch: m.LeaseEpoch})
		if f.once(f.drops, "upload "+m.AttemptID) {
			return false
		}
		say(f.grant(m))
	case *agentproto.Commit:
		f.check(m)
		if f.once(f.drops, "commit "+m.AttemptID) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.sealed[m.AttemptID] = true
			return false
		}
		say(&agentproto.CommitAccepted{IDs: m.IDs})
		f.final(m.AttemptID, say, &agentproto.CommitOK{JobID: m.JobID, AttemptID: m.AttemptID})
	case *agentproto.Fail:
		f.wrong("the agent failed %s: %s: %s", m.AttemptID, m.FailureCode, m.Message)
		f.final(m.AttemptID, say, &agentproto.FailOK{JobID: m.JobID, AttemptID: m.AttemptID})
	}
	return true
}

// resume gives an attempt back under a new epoch, or says how it has ended.
func (f *farm) resume(e agentproto.ResumeEntry, ttl agentproto.Seconds, say func(agentproto.Message)) {
	if e.CommitToken != tokenOf(e.AttemptID, e.LeaseEpoch) {
		f.wrong("the agent lists %s with epoch %d and the token %q", e.AttemptID, e.LeaseEpoch, e.CommitToken)
	}
	if f.once(f.sealed, e.AttemptID) {
		succeeded := "succeeded"
		f.final(e.AttemptID, say, &agentproto.LeaseRevoked{JobID: e.JobID, AttemptID: e.AttemptID, Status: &succeeded})
		return
	}
	e.LeaseEpoch++
	say(&agentproto.LeaseResumed{IDs: e.IDs, CommitToken: tokenOf(e.AttemptID, e.LeaseEpoch), LeaseTTL: ttl})
}

// final says it before it sends it: from then on the result may be gone.
func (f *farm) final(attempt string, say func(agentproto.Message), m agentproto.Message) {
	f.tell(fact{What: sentFinal, ID: attempt})
	say(m)
	f.mu.Lock()
	ended := f.ended
	f.mu.Unlock()
	ended <- attempt
}

func (f *farm) grant(m *agentproto.Upload) *agentproto.UploadGrant {
	g := &agentproto.UploadGrant{IDs: m.IDs, ExpiresAt: agentproto.Time{Time: time.Now().Add(time.Hour)}}
	for _, p := range m.Parts {
		g.Parts = append(g.Parts, agentproto.PartURL{Number: p.Number, URL: fmt.Sprintf("%s/part/%s/%d", f.URL, m.AttemptID, p.Number)})
	}
	return g
}

// check holds what was uploaded against what is being committed.
func (f *farm) check(m *agentproto.Commit) {
	f.mu.Lock()
	var all strings.Builder
	for n := 1; f.parts[fmt.Sprintf("%s/%d", m.AttemptID, n)] != nil; n++ {
		all.Write(f.parts[fmt.Sprintf("%s/%d", m.AttemptID, n)])
	}
	f.mu.Unlock()
	if sum := hexSum([]byte(all.String())); sum != m.SHA256 {
		f.wrong("the agent commits %s with %s, and has uploaded %s", m.AttemptID, m.SHA256, sum)
	}
}
