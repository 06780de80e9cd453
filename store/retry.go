package store

import (
	"context"
	"database/sql"
	"errors"

	"rendermac/fence"
)

// Codes of what a job's status does not allow.
const (
	CodeJobNotTerminal = "job_not_terminal"
	CodeJobNotQueued   = "job_not_queued"
)

// checkRetry lets only a job that has ended be repeated, for its own account.
func (t *tx) checkRetry(j NewJob) error {
	if j.RetryOf == "" {
		return nil
	}
	var status fence.JobStatus
	err := t.one(`SELECT status FROM jobs WHERE id = ? AND account_id = ?`, []any{j.RetryOf, j.AccountID}, &status)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return notFound("job")
	case err != nil:
		return err
	}
	return CheckRetry(status)
}

// CheckRetry says whether a job of this status may be repeated.
func CheckRetry(status fence.JobStatus) error {
	if status.Terminal() {
		return nil
	}
	return &fence.Error{Code: CodeJobNotTerminal, Message: "the job has not ended, it is " + string(status) + ": wait for it or cancel it first"}
}

// NewestRetry is the last job that repeats this one, nil where none does.
func (db *DB) NewestRetry(ctx context.Context, jobID string) (id *string, err error) {
	err = db.read(ctx, func(q querier) error {
		return q.one(`SELECT (SELECT id FROM jobs WHERE retry_of = ? ORDER BY id DESC LIMIT 1)`, []any{jobID}, &id)
	})
	return id, err
}

// Prioritize moves a queued job in its queue. account is whose jobs the caller
// may know of; empty is everyone's.
func (db *DB) Prioritize(ctx context.Context, account, jobID string, priority int) error {
	return db.w.do(ctx, func(t *tx) error {
		var status fence.JobStatus
		var was int
		var owner string
		err := t.one(`SELECT status, priority, account_id FROM jobs WHERE id = ?`, []any{jobID}, &status, &was, &owner)
		switch {
		case errors.Is(err, sql.ErrNoRows) || err == nil && account != "" && account != owner:
			return notFound("job")
		case err != nil:
			return err
		case status != fence.JobQueued:
			return &fence.Error{Code: CodeJobNotQueued, Message: "only a queued job has a place to change, and this one is " + string(status)}
		case was == priority:
			return nil
		}
		err = t.change("prioritize", `UPDATE jobs SET priority = ? WHERE id = ? AND status = 'queued' AND priority = ?`, priority, jobID, was)
		if err != nil {
			return err
		}
		return t.event("job.priority", ref{account: owner, job: jobID}, asJSON(map[string]int{"priority": priority, "was": was}))
	})
}
