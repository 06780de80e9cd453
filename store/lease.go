package store

import (
	"context"
	"encoding/json"
	"time"

	"rendermac/fence"
)

// Offer is a fresh lease: the only place where its commit token stands in plain.
type Offer struct {
	JobID, AttemptID string
	AttemptNumber    int
	Epoch            int64
	CommitToken      string
	ExpiresAt        time.Time
	Service          string
	Params           json.RawMessage // with preset and defaults
	Inputs           []Input
	OutputKey        string
	ContentType      string
	PartBytes        int64
	Waited           time.Duration // since its submit
}

// LeaseOutcome is what a pull found. Without an offer, RetryAt is when this
// device may find something though nothing else happens (a backoff ends); zero
// is never. Idle says that no job waits at all, for anyone.
type LeaseOutcome struct {
	Offer   *Offer
	RetryAt time.Time
	Idle    bool
}

// Lease picks the best queued job this device may run now and makes its
// attempt, with secret and upload grant, in one transaction (F3).
func (db *DB) Lease(ctx context.Context, s Session, partBytes int64) (LeaseOutcome, error) {
	var out LeaseOutcome
	err := db.w.do(ctx, func(t *tx) (err error) {
		out, err = t.lease(s, partBytes)
		return err
	})
	if err != nil {
		return LeaseOutcome{}, err
	}
	return out, nil
}

func (t *tx) lease(s Session, partBytes int64) (LeaseOutcome, error) {
	classes, err := t.classes()
	if err != nil || len(classes) == 0 {
		return LeaseOutcome{Idle: true}, err
	}
	d, err := t.puller(s)
	if err != nil {
		return LeaseOutcome{}, err
	}
	if !d.Speaks(fence.Claim{DeviceID: s.DeviceID, SessionID: s.SessionID}) || d.draining {
		return LeaseOutcome{}, nil
	}
	best, retryAt, err := t.best(d, classes)
	if err != nil || best == nil {
		return LeaseOutcome{RetryAt: retryAt}, err
	}
	offer, err := t.makeAttempt(d, *best, partBytes)
	return LeaseOutcome{Offer: offer}, err
}

func (t *tx) makeAttempt(d puller, c candidate, partBytes int64) (*Offer, error) {
	o := &Offer{JobID: c.id, AttemptNumber: c.attempts + 1, Epoch: 1, ExpiresAt: t.now.Add(t.o.LeaseTTL), PartBytes: partBytes}
	o.Waited = max(0, t.now.Sub(fromMS(c.createdAt)))
	token, err := t.token()
	if err != nil {
		return nil, err
	}
	if o.AttemptID, err = t.id("att"); err != nil {
		return nil, err
	}
	r := run{job: fence.Job{ID: c.id}, attempt: fence.Attempt{ID: o.AttemptID, DeviceID: d.ID}, accountID: c.accountID}
	err = t.change("lease", `UPDATE jobs SET status = 'active', attempts = attempts + 1, started_at = coalesce(started_at, ?)
		WHERE id = ? AND status = 'queued' AND attempts = ?`, ms(t.now), c.id, c.attempts)
	if err != nil {
		return nil, err
	}
	o.CommitToken, o.Params, o.Service, o.ContentType = token.Plaintext, c.params, c.service, c.contentType
	o.OutputKey = "outputs/" + c.id + "/" + o.AttemptID + "." + c.ext
	err = t.exec(`INSERT INTO job_attempts (id, job_id, attempt_number, status, device_id, lease_epoch, commit_token_hash, lease_expires_at, output_key, leased_at)
		VALUES (?, ?, ?, 'leased', ?, 1, ?, ?, ?, ?)`,
		o.AttemptID, c.id, o.AttemptNumber, d.ID, token.Hash, ms(o.ExpiresAt), o.OutputKey, ms(t.now))
	if err != nil {
		return nil, err
	}
	err = t.exec(`INSERT INTO artifact_grants (attempt_id, object_key, part_bytes) VALUES (?, ?, ?)`, o.AttemptID, o.OutputKey, partBytes)
	if err != nil {
		return nil, err
	}
	if err := t.event("attempt.leased", r.ref(), asJSON(map[string]int{"attempt_number": o.AttemptNumber})); err != nil {
		return nil, err
	}
	if o.AttemptNumber == 1 {
		if err := t.enqueueWebhook(c.webhook, r, "started", ""); err != nil {
			return nil, err
		}
	}
	o.Inputs, err = t.inputs(c.id)
	return o, err
}
