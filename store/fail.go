package store

import (
	"context"

	"rendermac/fence"
)

// What is kept of an agent's own words is bounded, in bytes.
const (
	maxCode    = 64
	maxMessage = 4 << 10
)

// Fail ends a run that gives up. Whether its job is tried again is the server's
// policy, not the agent's wish (F12).
func (db *DB) Fail(ctx context.Context, c fence.Claim, code, message string) (Ended, error) {
	var out Ended
	err := db.w.do(ctx, func(t *tx) error {
		r, err := t.claimed(c)
		if err != nil {
			return err
		}
		if err := fence.CheckFail(r.device, r.job, r.attempt, c, t.now); err != nil {
			return err
		}
		out, err = t.giveUp(r, clip(code, maxCode), clip(message, maxMessage))
		return err
	})
	return out, err
}

func (t *tx) giveUp(r run, code, message string) (Ended, error) {
	job := fence.AfterEnd(r.job, r.attempt, code, t.now)
	attempt := fence.AttemptFailed
	if job == fence.JobCancelled {
		attempt, code = fence.AttemptCancelled, fence.BuyerCancelled
	}
	if job == fence.JobQueued {
		wait := fence.Backoff(t.o.RetryBackoff, r.attempt.Number)
		err := t.change("back off", `UPDATE job_attempts SET retry_after = ? WHERE id = ? AND lease_epoch = ?`,
			ms(t.now.Add(wait)), r.attempt.ID, r.attempt.Epoch)
		if err != nil {
			return Ended{}, err
		}
	}
	return t.end(r, attempt, job, code, message)
}

// lose ends a run that nobody gave up: its lease expired or its device went.
func (t *tx) lose(r run, code, message string) (Ended, error) {
	job := fence.AfterEnd(r.job, r.attempt, code, t.now)
	if job == fence.JobCancelled {
		return t.end(r, fence.AttemptCancelled, job, fence.BuyerCancelled, "the job was cancelled")
	}
	return t.end(r, fence.AttemptLost, job, code, message)
}

// clip shortens s to at most n bytes, on a character's edge.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}
