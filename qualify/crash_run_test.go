package qualify

import (
	"encoding/json"
	"os"
	"path/filepath"

	"rendermac/agentproto"
)

// macRun is one attempt on a mac.
type macRun struct {
	offer *agentproto.LeaseOffer
	ids   agentproto.IDs
	token string
	link  *macLink // the session that knows it

	answer   agentproto.Message // to what was asked last
	atWork   bool
	accepted bool               // commit_accepted has been heard
	final    agentproto.Message // commit_ok, commit_rejected, fail_ok
	cancel   bool
	revoked  bool   // lease_revoked, for good
	status   string // what that said
	dropped  bool   // forgotten on purpose
}

func (r *macRun) over() bool { return r.final != nil || r.revoked || r.dropped }

// hear is one message; the caller holds mu.
func (m *mac) hear(word agentproto.Message, l *macLink) {
	if o, ok := word.(*agentproto.LeaseOffer); ok {
		m.offered(o, l)
		return
	}
	frame, _ := agentproto.Encode(word)
	var about struct {
		AttemptID string `json:"attempt_id"`
	}
	_ = json.Unmarshal(frame, &about)
	r := m.runs[about.AttemptID]
	if r == nil {
		if about.AttemptID != "" {
			m.oddity("%s about an attempt that was never offered: %s", word.Type(), about.AttemptID)
		}
		return
	}
	switch w := word.(type) {
	case *agentproto.LeaseResumed:
		if r.over() || r.accepted || w.LeaseEpoch <= r.ids.LeaseEpoch {
			m.oddity("%s was resumed under epoch %d though it stands at %+v", r.ids.AttemptID, w.LeaseEpoch, *r)
		}
		r.ids.LeaseEpoch, r.token, r.link, r.accepted = w.LeaseEpoch, w.CommitToken, l, false
	case *agentproto.LeaseRevoked:
		m.hearRevoked(r, w, l)
	case *agentproto.CommitAccepted:
		r.accepted, r.answer = true, w
	case *agentproto.CommitOK, *agentproto.CommitRejected, *agentproto.FailOK:
		if r.final != nil && r.final.Type() != w.Type() {
			m.oddity("%s was told %s after %s", r.ids.AttemptID, w.Type(), r.final.Type())
		}
		if w.Type() == "commit_ok" && !r.accepted {
			m.oddity("%s was told commit_ok before commit_accepted", r.ids.AttemptID)
		}
		if no, ok := w.(*agentproto.CommitRejected); ok && no.Code != "buyer_cancelled" {
			m.oddity("%s: its commit was rejected: %s: %s", r.ids.AttemptID, no.Code, no.Message)
		}
		r.final, r.answer = w, w
	case *agentproto.Cancel:
		r.cancel = true
	case *agentproto.LeaseConflict:
		m.oddity("%s: lease_conflict for the newest identity", r.ids.AttemptID)
	case *agentproto.Error:
		m.oddity("%s: error %s: %s", r.ids.AttemptID, w.Code, w.Message)
		r.answer = w
	default:
		r.answer = word
	}
}

func (m *mac) hearRevoked(r *macRun, w *agentproto.LeaseRevoked, l *macLink) {
	if w.Status == nil {
		m.oddity("%s: its own secret was not recognized", r.ids.AttemptID)
		r.revoked = true
		return
	}
	r.status = *w.Status
	switch r.status {
	case "committing":
		r.accepted, r.link = true, l
	case "succeeded":
		r.accepted, r.final = true, &agentproto.CommitOK{}
	default:
		if r.status == "lost" || r.accepted && r.status != "cancelled" {
			m.oddity("%s was listed in time and is %s", r.ids.AttemptID, r.status)
		}
		r.revoked = true
	}
}

func (m *mac) offered(o *agentproto.LeaseOffer, l *macLink) {
	if m.runs[o.AttemptID] != nil {
		m.oddity("%s was offered twice", o.AttemptID)
		return
	}
	r := &macRun{offer: o, ids: o.IDs, token: o.CommitToken, link: l}
	m.runs[o.AttemptID] = r
	m.working.Go(func() {
		m.run(r)
		m.change(func() {
			if m.link != nil && r.over() {
				_ = m.link.send(&agentproto.Ready{SlotsFree: 4})
			}
		})
	})
}

// ask sends as soon as a session knows the run, and again whenever that session
// ends without an answer. nil is that the run is over, or that a cancel has come
// and what was asked is not what a cancelled run still has to say.
func (m *mac) ask(r *macRun, word func() agentproto.Message) (answer agentproto.Message) {
	_, fail := word().(*agentproto.Fail)
	_, commit := word().(*agentproto.Commit)
	stopped := func() bool {
		return r.over() || m.ctx.Err() != nil || r.cancel && !fail && !commit || commit && r.accepted
	}
	for {
		var on *macLink
		m.await(func() bool {
			if on = r.link; on != nil && !stopped() {
				r.answer = nil
			}
			return on != nil || stopped()
		})
		m.mu.Lock()
		message, end := word(), stopped()
		m.mu.Unlock()
		if end {
			return nil
		}
		_ = on.send(message)
		m.await(func() bool { answer = r.answer; return answer != nil || r.link != on || stopped() })
		if answer != nil {
			return answer
		}
	}
}

// input is the digest of what the offer names, from its URL or the Mac's own mount.
func (m *mac) input(in agentproto.Input) (sum string, ok bool) {
	if in.Root == "" {
		return m.fetch(in.URL)
	}
	text, err := os.ReadFile(filepath.Join(m.media, in.Path))
	return sha(text), err == nil && in.Root == "media" && in.URL == ""
}

func (m *mac) run(r *macRun) {
	var p struct{ Quality int }
	_ = json.Unmarshal(r.offer.Params, &p)
	first := r.offer.AttemptNumber == 1
	m.progress(r, "downloading")
	for _, in := range r.offer.Inputs {
		if sum, ok := m.input(in); !ok || sum != in.SHA256 {
			m.change(func() {
				if !r.over() && !r.cancel && m.ctx.Err() == nil {
					m.oddity("%s: the input is not what was promised (%v)", r.ids.AttemptID, ok)
				}
			})
		}
	}
	m.progress(r, "running")
	m.change(func() { r.atWork = true })
	switch {
	case p.Quality == breakDown:
		m.fail(r, "runner_failed")
		return
	case p.Quality == stumble && first:
		m.fail(r, "download_failed")
		return
	case p.Quality == forget && first:
		m.await(func() bool {
			if r.dropped = r.link != nil; r.dropped {
				r.link.conn.CloseNow()
			}
			return r.over()
		})
		return
	case p.Quality == holdOn:
		m.await(func() bool { return r.cancel || r.over() })
	default:
		m.deliver(r, p.Quality)
	}
	m.mu.Lock()
	cancelled := r.cancel && !r.over()
	m.mu.Unlock()
	if cancelled {
		m.fail(r, "buyer_cancelled")
	}
}

func (m *mac) progress(r *macRun, phase string) {
	m.ask(r, func() agentproto.Message { return &agentproto.Progress{IDs: r.ids, Phase: phase} })
}

func (m *mac) fail(r *macRun, code string) {
	m.ask(r, func() agentproto.Message {
		return &agentproto.Fail{IDs: r.ids, CommitToken: r.token, FailureCode: code, Message: "as the test wants it"}
	})
}

// deliver uploads the film and commits it, and begins again where a resume says
// that the commit was never heard.
func (m *mac) deliver(r *macRun, quality int) {
	if quality == changesMind {
		other := append([]byte("another"), m.film...)
		if grant, ok := m.ask(r, m.upload(r, other)).(*agentproto.UploadGrant); ok && len(grant.Parts) > 0 {
			m.put(grant.Parts[0], cut(other, m.partBytes)[grant.Parts[0].Number-1])
		}
	}
	for spoilt := quality != spoil; ; {
		grant, ok := m.ask(r, m.upload(r, m.film)).(*agentproto.UploadGrant)
		if !ok {
			break
		}
		for _, to := range grant.Parts {
			part := cut(m.film, m.partBytes)[to.Number-1]
			if !spoilt {
				m.put(to, make([]byte, len(part)))
				spoilt = true
			}
			m.put(to, part)
		}
		if len(grant.Parts) > 0 { // until all are held
			continue
		}
		m.ask(r, func() agentproto.Message {
			return &agentproto.Commit{IDs: r.ids, CommitToken: r.token, Bytes: int64(len(m.film)), SHA256: sha(m.film)}
		})
		m.await(func() bool { return r.over() || !r.accepted })
	}
}

func (m *mac) upload(r *macRun, film []byte) func() agentproto.Message {
	var parts []agentproto.Part
	for i, part := range cut(film, m.partBytes) {
		parts = append(parts, agentproto.Part{Number: i + 1, Bytes: int64(len(part)), SHA256: sha(part)})
	}
	return func() agentproto.Message {
		return &agentproto.Upload{IDs: r.ids, Bytes: int64(len(film)), SHA256: sha(film), Parts: parts}
	}
}

func cut(film []byte, size int) (parts [][]byte) {
	for len(film) > size {
		parts, film = append(parts, film[:size]), film[size:]
	}
	return append(parts, film)
}
