package store

import (
	"context"
	"encoding/json"
	"time"

	"rendermac/fence"
)

// Hello is what a device says of itself as it connects.
type Hello struct {
	DeviceID string
	Version  string
	Slots    int
	Services []string
	Facts    json.RawMessage // hello's `device`
	Resume   []fence.Claim   // runs it says it still holds, each with its secret
}

// Resumption answers one entry of hello's resume list. Resumed ones bear a new
// epoch and secret; the others say how the attempt stands where the secret was
// right (F14).
type Resumption struct {
	JobID, AttemptID string
	Resumed          bool
	Epoch            int64
	CommitToken      string
	ExpiresAt        time.Time
	Status           *fence.AttemptStatus
}

// HelloOutcome is a session: the device's newest, and the only one that may act.
type HelloOutcome struct {
	Session
	Terms
	Name        string
	Resumptions []Resumption
	Ended       []Ended
	SilentAt    time.Time // when the device is offline unless it is heard of (F13)
}

// Hello stores a new session at the device, resumes what passes, and ends what
// the device no longer runs, in one transaction (F14).
func (db *DB) Hello(ctx context.Context, h Hello) (HelloOutcome, error) {
	var out HelloOutcome
	err := db.w.do(ctx, func(t *tx) (err error) {
		out, err = t.hello(h)
		return err
	})
	return out, err
}

// nowOnline takes the time twice. A session that replaces another goes on where
// that one was.
const nowOnline = `online_since = iif(online = 1, online_since, ?), last_seen_at = ?, online = 1`

func (t *tx) hello(h Hello) (HelloOutcome, error) {
	out := HelloOutcome{Session: Session{DeviceID: h.DeviceID}, SilentAt: t.now.Add(t.o.DeviceTTL)}
	var err error
	if out.SessionID, err = t.id("ses"); err != nil {
		return out, err
	}
	err = t.one(`UPDATE devices SET session_id = ?, `+nowOnline+`, agent_slots = ?, agent_version = ?, services = ?, facts = ?
		WHERE id = ? AND revoked_at IS NULL RETURNING name`,
		[]any{out.SessionID, ms(t.now), ms(t.now), h.Slots, h.Version, asJSON(h.Services), string(h.Facts), h.DeviceID},
		&out.Name)
	if err != nil {
		return out, revokedOr(err)
	}
	if err := t.event("device.online", ref{device: h.DeviceID}, "{}"); err != nil {
		return out, err
	}
	if out.Terms, err = t.terms(h.DeviceID); err != nil {
		return out, err
	}
	for _, c := range h.Resume {
		out.Resumptions = append(out.Resumptions, Resumption{JobID: c.JobID, AttemptID: c.AttemptID})
	}
	if t.o.Resume {
		if err := t.resumeAll(h, &out); err != nil {
			return out, err
		}
	}
	if out.Ended, err = t.endSession(h.DeviceID, resumed(out.Resumptions), "the Mac reconnected without this run"); err != nil {
		return out, err
	}
	return out, t.sayHowTheRestStand(h, &out)
}

func (t *tx) resumeAll(h Hello, out *HelloOutcome) error {
	for i, c := range h.Resume {
		c.DeviceID = h.DeviceID
		r, err := t.claimed(c)
		if err != nil {
			return err
		}
		if passes, _ := fence.CheckResume(r.job, r.attempt, c, t.now); !passes || resumed(out.Resumptions)[c.AttemptID] {
			continue
		}
		token, err := t.token()
		if err != nil {
			return err
		}
		a := fence.Resumed(r.attempt, c, token.Hash, t.now.Add(t.o.LeaseTTL))
		err = t.change("resume", `UPDATE job_attempts SET lease_epoch = ?, commit_token_hash = ?, lease_expires_at = ?, prev_epoch = ?, prev_hash = ?
			WHERE id = ? AND status = ? AND lease_epoch = ?`,
			a.Epoch, a.TokenHash, ms(a.ExpiresAt), a.PrevEpoch, a.PrevHash, a.ID, a.Status, r.attempt.Epoch)
		if err != nil {
			return err
		}
		if err := t.event("attempt.resumed", r.ref(), asJSON(map[string]int64{"lease_epoch": a.Epoch})); err != nil {
			return err
		}
		out.Resumptions[i] = Resumption{
			JobID: a.JobID, AttemptID: a.ID, Resumed: true, Epoch: a.Epoch, CommitToken: token.Plaintext, ExpiresAt: a.ExpiresAt,
		}
	}
	return nil
}

func resumed(list []Resumption) map[string]bool {
	out := map[string]bool{}
	for _, r := range list {
		if r.Resumed {
			out[r.AttemptID] = true
		}
	}
	return out
}

// sayHowTheRestStand completes the answers to the entries that did not pass,
// after what they spoke of has ended.
func (t *tx) sayHowTheRestStand(h Hello, out *HelloOutcome) error {
	for i, c := range h.Resume {
		if out.Resumptions[i].Resumed {
			continue
		}
		c.DeviceID = h.DeviceID
		r, err := t.claimed(c)
		if err != nil {
			return err
		}
		if _, known := fence.CheckResume(r.job, r.attempt, c, t.now); known {
			out.Resumptions[i].Status = &r.attempt.Status
		}
	}
	return nil
}

// endSession ends the device's live attempts that have not passed F6 and are
// not in keep: as lost, unless the job was cancelling (F14, F18).
func (t *tx) endSession(deviceID string, keep map[string]bool, why string) ([]Ended, error) {
	live, err := t.runs(`SELECT `+runColumns+` FROM job_attempts a INDEXED BY job_attempts_one_live JOIN jobs j ON j.id = a.job_id
		WHERE a.device_id = ? AND `+live+`
		AND a.status <> 'committing' ORDER BY a.id`, deviceID)
	if err != nil {
		return nil, err
	}
	var out []Ended
	for _, r := range live {
		if keep[r.attempt.ID] {
			continue
		}
		code, message := fence.ProviderOffline, why
		if r.attempt.Expired(t.now) {
			code, message = fence.LeaseExpired, "the Mac was not heard of for a whole lease"
		}
		e, err := t.lose(r, code, message)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// Bye is a device leaving on purpose: what it does not keep ends now. From any
// but its newest session it changes nothing (F14).
func (db *DB) Bye(ctx context.Context, s Session, keep []fence.Claim) ([]Ended, error) {
	var out []Ended
	err := db.w.do(ctx, func(t *tx) error {
		n, err := t.affect(`UPDATE devices SET online = 0, last_seen_at = ? WHERE id = ? AND session_id = ?`, ms(t.now), s.DeviceID, s.SessionID)
		if err != nil || n == 0 {
			return err
		}
		if err := t.event("device.offline", ref{device: s.DeviceID}, "{}"); err != nil {
			return err
		}
		kept := map[string]bool{}
		for _, c := range keep {
			kept[c.AttemptID] = true
		}
		out, err = t.endSession(s.DeviceID, kept, "the Mac left")
		return err
	})
	return out, err
}

// Seen notes that a device's newest session is alive, and says when the device
// is offline unless it is heard of again (F13).
func (db *DB) Seen(ctx context.Context, s Session) (silentAt time.Time, err error) {
	err = db.w.do(ctx, func(t *tx) error {
		silentAt = t.now.Add(t.o.DeviceTTL)
		return t.exec(`UPDATE devices SET `+nowOnline+` WHERE id = ? AND session_id = ? AND revoked_at IS NULL`,
			ms(t.now), ms(t.now), s.DeviceID, s.SessionID)
	})
	return silentAt, err
}
