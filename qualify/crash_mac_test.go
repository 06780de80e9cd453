package qualify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"rendermac/agentproto"
)

// mac speaks the agents' protocol and runs nothing: whatever it is offered, it
// delivers the same film, at once. It reconnects for as long as it lives, lists
// what it still holds, and writes down whatever it is told that does not fit to
// what it was told before.
type mac struct {
	url, token string
	features   []string
	media      string // where it mounts the shared root of that name
	film       []byte
	partBytes  int

	mu      sync.Mutex
	turn    *sync.Cond // something below has changed
	link    *macLink   // the session of this moment
	runs    map[string]*macRun
	refused bool // its token does not work any more
	odd     []string
	ctx     context.Context
	working sync.WaitGroup
}

// macLink is one session.
type macLink struct{ conn *websocket.Conn }

func (l *macLink) send(m agentproto.Message) error {
	frame, err := agentproto.Encode(m)
	if err != nil {
		return err
	}
	return l.conn.Write(context.Background(), websocket.MessageText, frame)
}

// What a job's quality tells a mac to do with it.
const (
	asUsual     = 65
	breakDown   = 51 // fail for good
	stumble     = 52 // fail once in a way that is tried again
	holdOn      = 53 // go on until it is cancelled, or the device revoked
	forget      = 54 // reconnect once without the run
	spoil       = 55 // send wrong bytes of a part before the right ones
	changesMind = 56 // declare other parts at first
)

// startMac connects; stop is called before the test ends.
func startMac(url, token, media string, film []byte, features ...string) (m *mac, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	m = &mac{url: url, token: token, media: media, film: film, partBytes: crashPart, features: append([]string{"libx264"}, features...), runs: map[string]*macRun{}, ctx: ctx}
	m.turn = sync.NewCond(&m.mu)
	m.working.Go(func() {
		for ctx.Err() == nil && m.session() {
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Millisecond): // it would ask a server that is away ten thousand times
			}
		}
	})
	context.AfterFunc(ctx, func() {
		m.change(func() {
			if m.link != nil {
				m.link.conn.CloseNow()
			}
		})
	})
	return m, func() { cancel(); m.working.Wait() }
}

func (m *mac) change(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	m.turn.Broadcast()
}

// await returns once ok holds, or the mac is stopped.
func (m *mac) await(ok func() bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for !ok() && m.ctx.Err() == nil {
		m.turn.Wait()
	}
}

// oddity notes what does not fit; the caller holds mu.
func (m *mac) oddity(format string, args ...any) {
	m.odd = append(m.odd, fmt.Sprintf(format, args...))
}

// session is one connection; false is that there will be no other.
func (m *mac) session() (again bool) {
	conn, answer, err := websocket.Dial(m.ctx, m.url+"/v1/provider/ws", &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + m.token}}, Subprotocols: []string{agentproto.Subprotocol},
	})
	if err != nil {
		if refused := answer != nil && answer.StatusCode == http.StatusUnauthorized; refused {
			m.change(func() { m.refused = true })
			return false
		}
		return true
	}
	defer conn.CloseNow()
	conn.SetReadLimit(agentproto.MaxFrame)
	l := &macLink{conn}
	if l.send(m.hello()) != nil {
		return true
	}
	if word, err := m.read(l); err != nil || word.Type() != "hello_ok" {
		return true
	}
	m.change(func() { m.link = l })
	if l.send(&agentproto.Ready{SlotsFree: 4}) == nil {
		for {
			word, err := m.read(l)
			if err != nil {
				break
			}
			m.change(func() { m.hear(word, l) })
		}
	}
	m.change(func() {
		m.link = nil
		for _, r := range m.runs {
			r.link = nil
		}
	})
	return true
}

func (m *mac) hello() *agentproto.Hello {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := &agentproto.Hello{
		Protocol: agentproto.Version, AgentVersion: "crash", Slots: 4, Services: []string{"ffmpeg.transcode"},
		Device: agentproto.Device{Platform: "linux", Arch: "amd64", Features: m.features, Encoders: []string{"libx264", "aac"}}, Resume: []agentproto.ResumeEntry{},
	}
	for _, r := range m.runs {
		if !r.over() {
			h.Resume = append(h.Resume, agentproto.ResumeEntry{IDs: r.ids, CommitToken: r.token})
		}
	}
	return h
}

func (m *mac) read(l *macLink) (agentproto.Message, error) {
	_, frame, err := l.conn.Read(m.ctx)
	if err != nil {
		return nil, err
	}
	return agentproto.Decode(frame)
}

// says whether one of the job's runs that are not over, or have been accepted,
// is so.
func (m *mac) says(job string, so func(*macRun) bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.runs {
		if r.ids.JobID == job && so(r) {
			return true
		}
	}
	return false
}

// fetch gets an input, again and again while no server is there.
func (m *mac) fetch(url string) (sum string, ok bool) {
	for m.ctx.Err() == nil {
		answer, err := http.Get(url)
		if err == nil {
			body, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			if err == nil && answer.StatusCode == http.StatusOK {
				return sha(body), true
			}
			if err == nil && answer.StatusCode < 500 {
				return "", false
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	return "", false
}

// put sends a part; 0 is that nobody answered.
func (m *mac) put(to agentproto.PartURL, part []byte) (status int, code string) {
	r, err := http.NewRequestWithContext(m.ctx, http.MethodPut, to.URL, bytes.NewReader(part))
	if err != nil {
		return 0, ""
	}
	for name, value := range to.Headers {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, ""
	}
	defer answer.Body.Close()
	var problem struct{ Code string }
	_ = json.NewDecoder(answer.Body).Decode(&problem) // 200 says nothing
	return answer.StatusCode, problem.Code
}

func sha(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
