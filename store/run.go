package store

import (
	"database/sql"
	"errors"
	"time"

	"rendermac/fence"
)

// Session is who is speaking, as the gateway has authenticated it.
type Session struct{ DeviceID, SessionID string }

// run is an attempt with its job and the device that speaks of it: what every
// check needs, read in one statement inside the transaction that acts.
type run struct {
	device  fence.Device
	job     fence.Job
	attempt fence.Attempt

	accountID string
	outputKey string
	leasedAt  time.Time
	claimedAt time.Time // when it passed F6; zero before
}

// live is F2's index: an attempt a that has not ended.
const live = `(a.status = 'leased' OR a.status = 'downloading' OR a.status = 'running' OR a.status = 'uploading' OR a.status = 'committing')`

const runColumns = `
	j.id, j.status, j.max_attempts, j.admission_deadline, j.account_id,
	a.id, a.device_id, a.attempt_number, a.status, a.lease_epoch, a.commit_token_hash, a.prev_epoch, a.prev_hash,
	a.lease_expires_at, a.claimed_bytes, a.claimed_sha256, a.output_key, a.leased_at, a.verify_started_at`

func scanRun(rows *sql.Rows, extra ...any) (run, error) {
	var r run
	var deadline, prevEpoch, claimed, claimedAt sql.NullInt64
	var prevHash, sha sql.NullString
	var expires, leased int64
	dest := append([]any{
		&r.job.ID, &r.job.Status, &r.job.MaxAttempts, &deadline, &r.accountID,
		&r.attempt.ID, &r.attempt.DeviceID, &r.attempt.Number, &r.attempt.Status, &r.attempt.Epoch, &r.attempt.TokenHash, &prevEpoch, &prevHash,
		&expires, &claimed, &sha, &r.outputKey, &leased, &claimedAt,
	}, extra...)
	if err := rows.Scan(dest...); err != nil {
		return run{}, err
	}
	r.job.Deadline = timeOrZero(deadline)
	r.attempt.JobID = r.job.ID
	r.attempt.PrevEpoch, r.attempt.PrevHash = prevEpoch.Int64, prevHash.String
	r.attempt.ExpiresAt = fromMS(expires)
	r.leasedAt, r.claimedAt = fromMS(leased), timeOrZero(claimedAt)
	r.attempt.ClaimedBytes, r.attempt.ClaimedSHA256 = claimed.Int64, sha.String
	return r, nil
}

// claimed loads the run that a message speaks of. A run that does not exist is
// an empty one: the check refuses it like any other.
func (t *tx) claimed(c fence.Claim) (run, error) {
	var session sql.NullString
	var revoked sql.NullInt64
	r, err := t.oneRun(`SELECT `+runColumns+`, d.session_id, d.revoked_at
		FROM job_attempts a JOIN jobs j ON j.id = a.job_id JOIN devices d ON d.id = ?2
		WHERE a.id = ?1`, []any{c.AttemptID, c.DeviceID}, &session, &revoked)
	r.device = fence.Device{ID: c.DeviceID, SessionID: session.String, Revoked: revoked.Valid}
	if errors.Is(err, sql.ErrNoRows) {
		return r, nil
	}
	return r, err
}

func (q querier) oneRun(query string, args []any, extra ...any) (run, error) {
	rows, err := q.run(query, args...)
	if err != nil {
		return run{}, err
	}
	defer rows.Close()
	if !rows.Next() {
		return run{}, cmpErr(q.failed(rows.Err()), sql.ErrNoRows)
	}
	return scanRun(rows, extra...)
}

func (q querier) runs(query string, args ...any) ([]run, error) {
	var out []run
	err := q.each(query, args, func(rows *sql.Rows) error {
		r, err := scanRun(rows)
		out = append(out, r)
		return err
	})
	return out, err
}

// Ended tells the server of an attempt that a transaction has ended, so that it
// may tell the agent, release the slot, and close the grant (F11, F16).
type Ended struct {
	JobID, AttemptID, DeviceID string
	Attempt                    fence.AttemptStatus
	Job                        fence.JobStatus // queued: it waits for another run
	Code, Message              string
	OutputKey                  string
	LeasedAt, ClaimedAt, At    time.Time // ClaimedAt is zero where it never passed F6
}

// end finalizes an attempt and moves its job, with hold, event and webhook row,
// in this one transaction (F11).
func (t *tx) end(r run, attempt fence.AttemptStatus, job fence.JobStatus, code, message string) (Ended, error) {
	e := Ended{
		JobID: r.job.ID, AttemptID: r.attempt.ID, DeviceID: r.attempt.DeviceID,
		Attempt: attempt, Job: job, Code: code, Message: message, OutputKey: r.outputKey,
		LeasedAt: r.leasedAt, ClaimedAt: r.claimedAt, At: t.now,
	}
	err := t.change("end attempt", `UPDATE job_attempts
		SET status = ?, failure_code = ?, failure_message = ?, ended_at = ?, prev_epoch = NULL, prev_hash = NULL
		WHERE id = ? AND status = ? AND lease_epoch = ?`,
		attempt, orNull(code), orNull(message), ms(t.now), r.attempt.ID, r.attempt.Status, r.attempt.Epoch)
	if err != nil {
		return e, err
	}
	if attempt != fence.AttemptSucceeded {
		if err := t.oweDiscard(r.attempt.ID); err != nil {
			return e, err
		}
	}
	if job == fence.JobQueued {
		return e, t.requeue(r, code, message)
	}
	return e, t.settle(r, job, code, message)
}

func (t *tx) requeue(r run, code, message string) error {
	if err := t.change("requeue job", `UPDATE jobs SET status = 'queued' WHERE id = ? AND status = ?`, r.job.ID, r.job.Status); err != nil {
		return err
	}
	return t.event("job.requeued", r.ref(), failureData(code, message))
}

// settle ends a job: its hold, its event, its webhook and what waits for it.
func (t *tx) settle(r run, job fence.JobStatus, code, message string) error {
	if job == fence.JobSucceeded {
		code, message = "", ""
	}
	var w webhook
	var held bool
	err := t.one(`SELECT `+webhookColumns+`, EXISTS (SELECT 1 FROM holds h WHERE h.job_id = jobs.id) FROM jobs WHERE id = ?`,
		[]any{r.job.ID}, append(w.columns(), &held)...)
	if err != nil {
		return err
	}
	err = t.change("settle job", `UPDATE jobs SET status = ?, failure_code = ?, failure_message = ?, finished_at = ?
		WHERE id = ? AND status = ?`, job, orNull(code), orNull(message), ms(t.now), r.job.ID, r.job.Status)
	if err != nil {
		return err
	}
	if held {
		if err := t.settleHold(r.job.ID, job == fence.JobSucceeded); err != nil {
			return err
		}
	}
	if err := t.event("job."+string(job), r.ref(), failureData(code, message)); err != nil {
		return err
	}
	if err := t.enqueueWebhook(w, r, string(job), code); err != nil {
		return err
	}
	return t.tellDependents(r.job.ID)
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
