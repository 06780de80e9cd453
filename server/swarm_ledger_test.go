package server

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"time"

	"rendermac/agentproto"
)

// swarmLedger is what agents and buyers have said and heard.
type swarmLedger struct {
	mu      sync.Mutex
	jobs    map[string]*swarmJob
	commits []*swarmCommit
	fails   map[string][]*swarmFail // by attempt
	finals  map[string]swarmFinal   // by attempt
	ops     map[string][]swarmOp    // by job
	counts  map[string]int
	answers []time.Duration
	offers  []*swarmRun     // to be stolen
	tokens  map[string]bool // every commit token that an agent was told
}

// swarmJob is what its buyer knows of a job.
type swarmJob struct {
	id          string
	maxAttempts int
	mayFail     bool // by a deadline, or with the job it waits for
	webhook     bool
	cancelled   bool // a cancel was answered 202
}

// identity is what fences a run beside job and attempt.
type identity struct {
	epoch int64
	token string
}

// swarmCommit is one commit, its identity, and its answer.
type swarmCommit struct {
	job, attempt string
	n            int
	identity
	bytes     int64
	sha       string
	newest    bool // for all its sender knew, as it was sent
	call, ret int64
	answer    string // empty: none was heard
}

// swarmFail is one fail; what was neither refused nor answered may have acted.
type swarmFail struct {
	job     string
	n       int
	call    int64
	refused bool
}

// swarmFinal is the last word on an attempt that committed; an empty code is
// commit_ok.
type swarmFinal struct {
	job, code string
	ret       int64
}

func (l *swarmLedger) init() {
	l.jobs, l.fails, l.finals = map[string]*swarmJob{}, map[string][]*swarmFail{}, map[string]swarmFinal{}
	l.ops, l.counts, l.tokens = map[string][]swarmOp{}, map[string]int{}, map[string]bool{}
}

func (l *swarmLedger) count(what string) {
	l.mu.Lock()
	l.counts[what]++
	l.mu.Unlock()
}

func (l *swarmLedger) saw(job string, op swarmOp) {
	l.mu.Lock()
	l.ops[job] = append(l.ops[job], op)
	l.mu.Unlock()
}

func (l *swarmLedger) answered(took time.Duration) {
	l.mu.Lock()
	l.answers = append(l.answers, took)
	l.mu.Unlock()
}

func (l *swarmLedger) told(token string) {
	l.mu.Lock()
	l.tokens[token] = true
	l.mu.Unlock()
}

// lend remembers an offer for a thief, and steal gives back another's.
func (l *swarmLedger) lend(r *swarmRun) {
	copied := *r
	l.mu.Lock()
	l.offers = append(l.offers, &copied)
	l.mu.Unlock()
}

func (l *swarmLedger) steal(notOf string) *swarmRun {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.offers) - 1; i >= 0; i-- {
		if r := l.offers[i]; r.device != notOf {
			return r
		}
	}
	return nil
}

// swarmOutput is what a run makes: the real clip, and a free box that is its
// attempt's own, so that no two results are the same bytes.
func swarmOutput(clip []byte, attemptID string) []byte {
	box := binary.BigEndian.AppendUint32(nil, uint32(8+len(attemptID)))
	return bytes.Join([][]byte{clip, box, []byte("free"), []byte(attemptID)}, nil)
}

// parts cuts a file as the protocol wants it.
func swarmParts(file []byte, size int64) (out []agentproto.Part) {
	for from := int64(0); from < max(1, int64(len(file))); from += size {
		part := file[from:min(from+size, int64(len(file)))]
		out = append(out, agentproto.Part{Number: len(out) + 1, Bytes: int64(len(part)), SHA256: sum(part)})
	}
	return out
}

// call is one HTTP request; the network itself refuses none here.
func (s *swarm) call(method, path, key string, in any) (status int, body []byte, header http.Header) {
	text, isBytes := in.([]byte)
	if in != nil && !isBytes {
		text, _ = json.Marshal(in) // plain values: it cannot fail
	}
	if path[0] == '/' {
		path = s.url + path
	}
	r, err := http.NewRequest(method, path, bytes.NewReader(text))
	if err != nil {
		s.wrong("%v", err)
		return 0, nil, http.Header{}
	}
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	start := time.Now()
	answer, err := s.client.Do(r)
	if err != nil {
		s.wrong("%s %s: %v", method, r.URL.Path, err)
		return 0, nil, http.Header{}
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(answer.Body)
	if err != nil {
		s.wrong("%s %s: %v", method, r.URL.Path, err)
	}
	switch {
	case answer.StatusCode == http.StatusServiceUnavailable:
		s.count("503") // a machine so slow that the store gives up a read
	case answer.StatusCode >= http.StatusInternalServerError:
		s.wrong("%s %s: %d %s", method, r.URL.Path, answer.StatusCode, body)
	}
	s.answered(time.Since(start))
	return answer.StatusCode, body, answer.Header
}
