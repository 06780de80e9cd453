package server

import (
	"context"
	"time"

	"rendermac/agentproto"
	"rendermac/artifact"
	"rendermac/fence"
	"rendermac/store"
)

// partURLs last this long; an agent that needs more asks again with from_part.
const partURLs = 6 * time.Hour

// upload opens or replaces a run's grant and answers with URLs for the parts
// that are not held yet (F16).
func (s *session) upload(m *agentproto.Upload) {
	parts := make([]store.Part, len(m.Parts))
	for i, p := range m.Parts {
		parts[i] = store.Part(p)
	}
	g, err := s.srv.o.DB.Upload(s.acting, s.claim(m.IDs, ""), fence.Result{Bytes: m.Bytes, SHA256: m.SHA256}, parts)
	if err != nil {
		s.refused(m.IDs, err)
		return
	}
	if g.Cancel {
		s.send(&agentproto.Cancel{JobID: m.JobID, AttemptID: m.AttemptID})
		return
	}
	if s.srv.outage.is() { // as one is that can be read and not written
		s.busy(m.IDs, artifact.ErrUnavailable, jittered(outageRetry))
		return
	}
	answer, err := s.grant(m, g, parts)
	if err != nil {
		s.refused(m.IDs, err)
		return
	}
	s.send(answer)
}

func (s *session) grant(m *agentproto.Upload, g store.Grant, parts []store.Part) (*agentproto.UploadGrant, error) {
	held, err := s.srv.openWrite(s.acting, m.AttemptID, g, parts)
	if err != nil {
		return nil, err
	}
	expires := s.srv.o.Now().Add(partURLs)
	out := &agentproto.UploadGrant{IDs: m.IDs, Parts: []agentproto.PartURL{}, ExpiresAt: agentproto.Time{Time: expires}}
	for _, p := range parts {
		if p.Number < m.FromPart || held[p.Number] {
			continue
		}
		if len(out.Parts) == agentproto.MaxGrantParts {
			out.NextPart = &p.Number
			break
		}
		u, err := s.srv.o.Artifacts.SignPart(s.ctx, g.OutputKey, artifact.Part(p), m.AttemptID, expires)
		if err != nil {
			return nil, err
		}
		out.Parts = append(out.Parts, agentproto.PartURL{Number: p.Number, URL: absolute(s.base, u.URL), Headers: headers(u)})
	}
	return out, nil
}

// openWrite makes the object store ready for a grant and says which parts it
// holds already. Parts that are others now are dropped.
func (s *Server) openWrite(ctx context.Context, attemptID string, g store.Grant, parts []store.Part) (map[int]bool, error) {
	if err := s.o.Artifacts.Begin(ctx, g.OutputKey, g.Bytes, g.PartBytes); err != nil {
		return nil, err
	}
	held, drop, err := s.heldOf(ctx, g.OutputKey, parts)
	if err != nil {
		return nil, err
	}
	if drop = append(drop, g.Changed...); len(drop) > 0 {
		if err := s.o.Artifacts.Drop(ctx, g.OutputKey, drop); err != nil {
			return nil, err
		}
		if held, _, err = s.heldOf(ctx, g.OutputKey, parts); err != nil { // a store may forget more than it is asked to
			return nil, err
		}
	}
	return held, s.stillOpen(ctx, attemptID, g.OutputKey)
}

// heldOf says which of the parts the store holds, and which others it holds.
func (s *Server) heldOf(ctx context.Context, key string, parts []store.Part) (held map[int]bool, others []int, err error) {
	have, err := s.o.Artifacts.Held(ctx, key)
	held = map[int]bool{}
	for _, h := range have {
		if h.Number <= len(parts) && isPart(h, parts[h.Number-1]) {
			held[h.Number] = true
		} else {
			others = append(others, h.Number)
		}
	}
	return held, others, err
}

// isPart tells whether a held part is the one that is wanted. Where an S3 server
// does not say its digest, the digest of the whole will tell (F7).
func isPart(held artifact.Part, want store.Part) bool {
	if held.SHA256 == "" {
		held.SHA256 = want.SHA256
	}
	return held == artifact.Part(want)
}

// stillOpen looks again, now that the write is open: a grant that closed in
// between takes the write with it, unless that is what F6 has just closed.
func (s *Server) stillOpen(ctx context.Context, attemptID, key string) error {
	open, err := s.o.DB.OpenGrant(ctx, attemptID, key)
	if err != nil || open {
		return err
	}
	wanted, err := s.o.DB.WantsWrite(ctx, key)
	if err == nil && !wanted {
		err = s.o.Artifacts.Abort(ctx, key)
	}
	if err != nil {
		return err
	}
	return &fence.Error{Code: fence.CodeLeaseConflict, Rule: "F16", Message: "this run's upload has been closed: stop it"}
}

// abortLeftovers ends the writes whose grant has ended while the server, or the
// store, was away. It may come late: no write is begun before its row is there.
func (s *Server) abortLeftovers(ctx context.Context) error {
	keys, err := s.o.Artifacts.Pending(ctx)
	if err != nil {
		return err
	}
	for _, key := range keys {
		wanted, err := s.o.DB.WantsWrite(ctx, key)
		if err != nil {
			return err
		}
		if wanted {
			continue
		}
		if err := s.o.Artifacts.Abort(ctx, key); err != nil {
			return err
		}
		s.o.Log.Info("stale upload aborted", "key", key)
	}
	return nil
}
