package qualify

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"rendermac/agentproto"
	"rendermac/api"
	"rendermac/fence"
	"rendermac/media"
)

// rawMac is an agent that only speaks: it encodes nothing, and is as fast as
// the server.
type rawMac struct {
	*studio
	id     string
	victim bool // its uploads are not worth a fact: they go when it is revoked
	conn   *websocket.Conn
	runs   sync.WaitGroup

	mu      sync.Mutex
	answers map[string]chan agentproto.Message // by attempt
}

const macSlots = 3

// newMac pairs a Mac and connects it.
func (s *studio) newMac(b *api.Client, victim bool) *rawMac {
	s.Helper()
	code, err := b.CreatePairing(context.Background(), api.PairingRequest{})
	if err != nil {
		s.Fatal(err)
	}
	paired, err := b.Pair(context.Background(), api.PairRequest{Code: code.Code, Name: "mini"})
	if err != nil {
		s.Fatal(err)
	}
	s.tell(fact{What: toldPaired, ID: paired.DeviceID, Key: paired.DeviceToken})
	m := &rawMac{studio: s, id: paired.DeviceID, victim: victim, answers: map[string]chan agentproto.Message{}}
	m.conn, _, err = websocket.Dial(context.Background(), s.site.url+"/v1/provider/ws", &websocket.DialOptions{
		Subprotocols: []string{agentproto.Subprotocol}, HTTPHeader: http.Header{"Authorization": {"Bearer " + paired.DeviceToken}},
	})
	if err != nil {
		s.Fatal(err)
	}
	m.conn.SetReadLimit(agentproto.MaxFrame)
	m.say(&agentproto.Hello{
		Protocol: 1, AgentVersion: "test", Slots: macSlots, Services: []string{"ffmpeg.transcode"},
		Device: agentproto.Device{MemoryBytes: 16 << 30, Features: []string{"libx265", "zscale"}},
	})
	m.say(&agentproto.Ready{SlotsFree: macSlots})
	m.runs.Go(m.listen)
	return m
}

func (m *rawMac) leave() { m.conn.CloseNow(); m.runs.Wait() }

func (m *rawMac) say(msg agentproto.Message) {
	if frame, err := agentproto.Encode(msg); err != nil {
		m.Error(err)
	} else {
		_ = m.conn.Write(context.Background(), websocket.MessageText, frame) // the reader sees what is wrong
	}
}

// listen hands every message to its run, until the socket ends.
func (m *rawMac) listen() {
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, c := range m.answers {
			close(c)
		}
		m.answers = nil
	}()
	for {
		_, frame, err := m.conn.Read(context.Background())
		if err != nil {
			return
		}
		msg, err := agentproto.Decode(frame)
		if err != nil {
			m.Errorf("the server said %s: %v", frame, err)
			return
		}
		var about struct {
			AttemptID string `json:"attempt_id"`
		}
		_ = json.Unmarshal(frame, &about)
		m.mu.Lock()
		if offer, ok := msg.(*agentproto.LeaseOffer); ok {
			c := make(chan agentproto.Message, 16)
			m.answers[offer.AttemptID] = c
			m.runs.Go(func() { m.run(offer, c) })
		} else if c := m.answers[about.AttemptID]; c != nil {
			c <- msg
		}
		m.mu.Unlock()
	}
}

// run is the story of one attempt; it ends early when it gets an answer that it
// did not hope for, be it a cancel or silence.
func (m *rawMac) run(o *agentproto.LeaseOffer, answers <-chan agentproto.Message) {
	defer m.say(&agentproto.Ready{SlotsFree: macSlots}) // the server knows what is still live
	half := 0.5
	m.say(&agentproto.Progress{IDs: o.IDs, Phase: "running", Fraction: &half})
	if !hears[*agentproto.ProgressOK](m, o, answers) {
		return
	}
	if rand.IntN(8) == 0 {
		m.tell(fact{What: wishFail, ID: o.JobID})
		m.say(&agentproto.Fail{IDs: o.IDs, CommitToken: o.CommitToken, FailureCode: fence.RunnerFailed, Message: "it broke"})
		if hears[*agentproto.FailOK](m, o, answers) {
			m.tell(fact{What: toldFailed, ID: o.JobID})
		}
		return
	}
	result, sum := unique(m.output), ""
	if rand.IntN(8) == 0 { // no media: it will not pass
		m.tell(fact{What: wishFail, ID: o.JobID})
		result = bytes.Repeat([]byte("no media"), 9000)
	} else {
		sum = hexSum(result)
	}
	if !m.upload(o, answers, result) {
		return
	}
	m.say(&agentproto.Commit{IDs: o.IDs, CommitToken: o.CommitToken, Bytes: int64(len(result)), SHA256: hexSum(result)})
	if !hears[*agentproto.CommitAccepted](m, o, answers) {
		return
	}
	m.tell(fact{What: toldAccepted, ID: o.JobID, Sum: sum})
	if sum != "" && hears[*agentproto.CommitOK](m, o, answers) {
		m.tell(fact{What: toldOK, ID: o.JobID, Sum: sum})
	} else if sum == "" && hears[*agentproto.CommitRejected](m, o, answers) {
		m.tell(fact{What: toldFailed, ID: o.JobID})
	}
}

// upload brings all parts, and tells of each that is held.
func (m *rawMac) upload(o *agentproto.LeaseOffer, answers <-chan agentproto.Message, result []byte) bool {
	var parts []agentproto.Part
	size := int(o.Output.PartBytes)
	part := func(n int) []byte { return result[(n-1)*size : min(n*size, len(result))] }
	for n := 1; (n-1)*size < len(result); n++ {
		parts = append(parts, agentproto.Part{Number: n, Bytes: int64(len(part(n))), SHA256: hexSum(part(n))})
	}
	m.say(&agentproto.Upload{IDs: o.IDs, Bytes: int64(len(result)), SHA256: hexSum(result), Parts: parts})
	grant, ok := hear[*agentproto.UploadGrant](m, o, answers)
	if !ok {
		return false
	}
	for _, p := range grant.Parts {
		r, err := http.NewRequest(http.MethodPut, p.URL, bytes.NewReader(part(p.Number)))
		if err != nil {
			m.Error(err)
			return false
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return false
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return false
		}
		if !m.victim {
			m.tell(fact{What: toldPart, ID: o.JobID, Key: o.Output.Key, Part: p.Number, Sum: hexSum(part(p.Number))})
		}
	}
	return true
}

func hears[T agentproto.Message](m *rawMac, o *agentproto.LeaseOffer, answers <-chan agentproto.Message) bool {
	_, ok := hear[T](m, o, answers)
	return ok
}

// hear waits for an answer. A cancel is obeyed, and ends the run.
func hear[T agentproto.Message](m *rawMac, o *agentproto.LeaseOffer, answers <-chan agentproto.Message) (answer T, ok bool) {
	for msg := range answers {
		if answer, ok = msg.(T); ok {
			return answer, true
		}
		if _, cancelled := msg.(*agentproto.Cancel); !cancelled {
			return answer, false
		}
		m.say(&agentproto.Fail{IDs: o.IDs, CommitToken: o.CommitToken, FailureCode: fence.BuyerCancelled, Message: "stopped as asked"})
		for msg := range answers {
			switch msg.(type) {
			case *agentproto.FailOK, *agentproto.CommitRejected:
				return answer, false
			}
		}
	}
	return answer, false
}

const filmParams = `{"preset":"web-480p"}`

// film is a short film, and what an agent makes of it.
func film(t testing.TB) (input, output []byte) {
	t.Helper()
	in := clip(t, 0.4, "160x90")
	out := filepath.Join(t.TempDir(), "out.mp4")
	facts, err := exec.Command("ffprobe", media.ProbeArgs(in, "")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	m, err := media.ParseFFprobe(facts)
	if err != nil {
		t.Fatal(err)
	}
	service, _ := media.Lookup("ffmpeg.transcode")
	params, _ := service.Resolve(json.RawMessage(filmParams))
	plan, err := service.Plan(params, []media.Input{{Path: in, Demuxer: "mov", Media: *m}},
		media.Env{Encoders: []string{"libx264", "aac"}, Platform: "linux", OutPath: out})
	if err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command("ffmpeg", plan.Args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	var read [2][]byte
	for i, file := range []string{in, out} {
		if read[i], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return read[0], read[1]
}
