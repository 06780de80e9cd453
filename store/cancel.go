package store

import (
	"context"
	"database/sql"
	"errors"

	"rendermac/fence"
)

// CancelOutcome says whom a cancel concerns: the device that runs the job is
// told, or the verifier is woken; a queued job has simply ended.
type CancelOutcome struct {
	JobID     string
	Status    fence.JobStatus
	DeviceID  string // of the live attempt, if any
	AttemptID string
	Verifying bool
}

// Cancel wins over any later commit (F10). Repeating it is harmless.
func (db *DB) Cancel(ctx context.Context, jobID string) (CancelOutcome, error) {
	var out CancelOutcome
	err := db.w.do(ctx, func(t *tx) error {
		r, err := t.jobRun(jobID)
		if err != nil {
			return err
		}
		next, err := fence.CheckCancel(r.job)
		if err != nil {
			return err
		}
		out = CancelOutcome{
			JobID: jobID, Status: next, DeviceID: r.attempt.DeviceID, AttemptID: r.attempt.ID,
			Verifying: r.attempt.Status == fence.AttemptCommitting,
		}
		switch {
		case next == r.job.Status:
			return nil
		case next == fence.JobCancelled:
			return t.settle(r, next, fence.BuyerCancelled, "the job was cancelled")
		}
		if err := t.change("cancel", `UPDATE jobs SET status = 'cancelling' WHERE id = ? AND status = ?`, jobID, r.job.Status); err != nil {
			return err
		}
		return t.event("job.cancelling", r.ref(), "{}")
	})
	return out, err
}

// jobRun loads a job with its live attempt, or with none.
func (t *tx) jobRun(jobID string) (run, error) {
	r, err := t.oneRun(`SELECT `+runColumns+` FROM jobs j JOIN job_attempts a ON a.job_id = j.id
		AND `+live+` WHERE j.id = ?`, []any{jobID})
	if !errors.Is(err, sql.ErrNoRows) {
		return r, err
	}
	err = t.one(`SELECT id, status, max_attempts, account_id FROM jobs WHERE id = ?`, []any{jobID},
		&r.job.ID, &r.job.Status, &r.job.MaxAttempts, &r.accountID)
	if errors.Is(err, sql.ErrNoRows) {
		return r, notFound("job")
	}
	return r, err
}
