package store

import (
	"context"
	"encoding/json"
	"time"

	"rendermac/fence"
)

// Report is what a progress message says beside who sends it.
type Report struct {
	Phase           fence.AttemptStatus
	Fraction        *float64
	FPS, Speed, ETA *float64
	InputMedia      json.RawMessage // what the agent's ffprobe said, once
}

// RunOutcome is the answer to a message that held the lease. With Cancel the
// job is cancelling and nothing was changed. A report that is Shown is where its
// job now stands, of which its account may hear.
type RunOutcome struct {
	Cancel    bool
	ExpiresAt time.Time
	Shown     bool
	AccountID string
}

// Progress moves a run forward and renews its lease (F5).
func (db *DB) Progress(ctx context.Context, c fence.Claim, p Report) (RunOutcome, error) {
	var out RunOutcome
	err := db.w.do(ctx, func(t *tx) error {
		r, err := t.claimed(c)
		if err != nil {
			return err
		}
		step, err := fence.CheckProgress(r.device, r.job, r.attempt, c, p.Phase, t.now)
		if err != nil {
			return err
		}
		out = RunOutcome{Cancel: step.Cancel, ExpiresAt: r.attempt.ExpiresAt}
		if !step.Renew {
			return t.acknowledge(r)
		}
		out.ExpiresAt, out.Shown, out.AccountID = t.now.Add(t.o.LeaseTTL), p.Phase == step.Status, r.accountID
		return t.renew(r, step.Status, out.ExpiresAt, p)
	})
	return out, err
}

// renew keeps the lease. A phase behind the attempt's own is a heartbeat: it
// changes nothing of what is shown (F5).
func (t *tx) renew(r run, status fence.AttemptStatus, expires time.Time, p Report) error {
	if p.Phase != status {
		return t.change("renew", `UPDATE job_attempts SET lease_expires_at = ?, prev_epoch = NULL, prev_hash = NULL
			WHERE id = ? AND status = ? AND lease_epoch = ?`, ms(expires), r.attempt.ID, r.attempt.Status, r.attempt.Epoch)
	}
	var media any
	if len(p.InputMedia) > 0 {
		media = string(p.InputMedia)
	}
	err := t.change("renew", `UPDATE job_attempts SET status = ?, lease_expires_at = ?, phase = ?, fraction = ?, fps = ?, speed = ?, eta_s = ?,
			input_media = coalesce(?, input_media), prev_epoch = NULL, prev_hash = NULL
		WHERE id = ? AND status = ? AND lease_epoch = ?`,
		status, ms(expires), p.Phase, p.Fraction, p.FPS, p.Speed, p.ETA, media,
		r.attempt.ID, r.attempt.Status, r.attempt.Epoch)
	if err != nil || status == r.attempt.Status {
		return err
	}
	return t.event("attempt."+string(status), r.ref(), "{}")
}

// acknowledge forgets what a resume replaced: the first message under the new
// epoch proves that lease_resumed arrived (F14).
func (t *tx) acknowledge(r run) error {
	if r.attempt.PrevEpoch == 0 {
		return nil
	}
	return t.change("acknowledge", `UPDATE job_attempts SET prev_epoch = NULL, prev_hash = NULL WHERE id = ? AND lease_epoch = ?`,
		r.attempt.ID, r.attempt.Epoch)
}

// Inputs answers with the run's inputs, to be signed anew; it renews nothing.
func (db *DB) Inputs(ctx context.Context, c fence.Claim) (RunOutcome, []Input, error) {
	var out RunOutcome
	var inputs []Input
	err := db.w.do(ctx, func(t *tx) error {
		r, err := t.claimed(c)
		if err != nil {
			return err
		}
		step, err := fence.CheckInputs(r.device, r.job, r.attempt, c, t.now)
		if err != nil {
			return err
		}
		if out.Cancel = step.Cancel; !step.Cancel {
			if inputs, err = t.inputs(c.JobID); err != nil {
				return err
			}
		}
		return t.acknowledge(r)
	})
	return out, inputs, err
}

// logTail is how much of a run's log is kept, in characters.
const logTail = 64 << 10

// AppendLog keeps the newest 64 KiB of a run's lines.
func (db *DB) AppendLog(ctx context.Context, c fence.Claim, text string) error {
	return db.w.do(ctx, func(t *tx) error {
		r, err := t.claimed(c)
		if err != nil {
			return err
		}
		if err := fence.CheckLog(r.device, r.job, r.attempt, c, t.now); err != nil {
			return err
		}
		if err := t.acknowledge(r); err != nil {
			return err
		}
		return t.exec(`INSERT INTO attempt_logs (attempt_id, tail) VALUES (?1, substr(?2, -?3))
			ON CONFLICT (attempt_id) DO UPDATE SET tail = substr(tail || ?2, -?3)`, r.attempt.ID, text, logTail)
	})
}
