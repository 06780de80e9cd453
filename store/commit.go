package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"rendermac/fence"
)

// CommitOutcome is what the first commit transaction did (F6).
type CommitOutcome struct {
	Step  fence.CommitStep
	Ended *Ended // where the job was cancelling
}

// Commit is the first commit transaction: from here on the attempt belongs to
// the verifier (F6).
func (db *DB) Commit(ctx context.Context, c fence.Claim, result fence.Result, warnings []string) (CommitOutcome, error) {
	var out CommitOutcome
	err := db.w.do(ctx, func(t *tx) error {
		r, err := t.claimed(c)
		if err != nil {
			return err
		}
		step, err := fence.CheckCommit(r.device, r.job, r.attempt, c, result, t.now)
		if err != nil {
			return err
		}
		out = CommitOutcome{Step: step}
		switch step {
		case fence.CommitCancelled:
			ended, err := t.end(r, fence.AttemptCancelled, fence.JobCancelled, fence.BuyerCancelled, "the job was cancelled")
			out.Ended = &ended
			return err
		case fence.CommitAccept:
			return t.accept(r, result, warnings)
		default:
			return nil
		}
	})
	return out, err
}

// accept closes the grant by itself: it is open only while the attempt has not
// passed F6 (F16).
func (t *tx) accept(r run, result fence.Result, warnings []string) error {
	var noted any
	if len(warnings) > 0 {
		noted = asJSON(warnings)
	}
	err := t.change("accept", `UPDATE job_attempts SET status = 'committing', claimed_bytes = ?, claimed_sha256 = ?, warnings = ?, verify_started_at = ?,
			fraction = 1, prev_epoch = NULL, prev_hash = NULL
		WHERE id = ? AND status = 'uploading' AND lease_epoch = ? AND commit_token_hash = ?`,
		result.Bytes, result.SHA256, noted, ms(t.now), r.attempt.ID, r.attempt.Epoch, r.attempt.TokenHash)
	if err != nil {
		return err
	}
	if err := t.change("accept", `UPDATE jobs SET status = 'verifying' WHERE id = ? AND status = 'active'`, r.job.ID); err != nil {
		return err
	}
	return t.event("job.verifying", r.ref(), "{}")
}

// Verification is a result that passed F6 and waits to be checked (F7).
type Verification struct {
	JobID, AttemptID, DeviceID string
	Service                    string
	Params                     json.RawMessage
	OutputKey                  string
	Claimed                    fence.Result
	StartedAt                  time.Time
	Cancelling                 bool              // nothing is left to check (F10)
	InputMedia                 json.RawMessage   // the agent's own probe, or nil
	Inputs                     []json.RawMessage // the server's probe of each input, or null
}

// Verifying lists what waits to be verified: after a start, all of it is
// checked again from the stored claim (F15).
func (db *DB) Verifying(ctx context.Context) ([]string, error) {
	var out []string
	err := db.read(ctx, func(q querier) error {
		return q.each(`SELECT a.id FROM job_attempts a INDEXED BY job_attempts_one_live
			WHERE `+live+` AND a.status = 'committing' ORDER BY a.id`, nil, func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			out = append(out, id)
			return err
		})
	})
	return out, err
}

// Verification loads one of them; nil where it has ended meanwhile.
func (db *DB) Verification(ctx context.Context, attemptID string) (*Verification, error) {
	v := &Verification{AttemptID: attemptID}
	var started int64
	var media sql.NullString
	err := db.read(ctx, func(q querier) error {
		var params string
		err := q.one(`SELECT j.id, a.device_id, j.service, j.resolved, a.output_key, a.claimed_bytes, a.claimed_sha256, a.verify_started_at, a.input_media, j.status = 'cancelling'
			FROM job_attempts a JOIN jobs j ON j.id = a.job_id WHERE a.id = ? AND a.status = 'committing'`, []any{attemptID},
			&v.JobID, &v.DeviceID, &v.Service, &params, &v.OutputKey, &v.Claimed.Bytes, &v.Claimed.SHA256, &started, &media, &v.Cancelling)
		if err != nil {
			return err
		}
		v.Params, v.StartedAt, v.InputMedia = json.RawMessage(params), fromMS(started), rawOrNil(media)
		inputs, err := q.inputs(v.JobID)
		for _, in := range inputs {
			v.Inputs = append(v.Inputs, in.Media)
		}
		return err
	})
	if fence.CodeOf(err) == fence.CodeNotFound {
		return nil, nil
	}
	return v, err
}

// VerdictOutcome is what the second commit transaction did; Ended is nil where
// the attempt had already ended: then nothing is sent.
type VerdictOutcome struct{ Ended *Ended }

// FinishCommit is the second commit transaction (F8): it re-reads job and
// attempt, and only what is still verifying succeeds.
func (db *DB) FinishCommit(ctx context.Context, attemptID string, v fence.Verdict, message string, media json.RawMessage) (VerdictOutcome, error) {
	var out VerdictOutcome
	err := db.w.do(ctx, func(t *tx) error {
		r, err := t.oneRun(`SELECT `+runColumns+` FROM job_attempts a JOIN jobs j ON j.id = a.job_id WHERE a.id = ?`, []any{attemptID})
		if errors.Is(err, sql.ErrNoRows) {
			return notFound("attempt")
		}
		if err != nil {
			return err
		}
		attempt, job, ok := fence.CheckVerdict(r.job, r.attempt, v)
		if !ok {
			return nil
		}
		code, message := v.Code, message
		switch job {
		case fence.JobCancelled:
			code, message = fence.BuyerCancelled, "the job was cancelled"
		case fence.JobSucceeded:
			code, message = "", ""
			if err := t.publish(r, media); err != nil {
				return err
			}
		}
		ended, err := t.end(r, attempt, job, code, message)
		out.Ended = &ended
		return err
	})
	return out, err
}

func (t *tx) publish(r run, media json.RawMessage) error {
	var facts any
	if len(media) > 0 {
		facts = string(media)
	}
	return t.exec(`INSERT INTO artifacts (job_id, attempt_id, object_key, bytes, sha256, media, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		r.job.ID, r.attempt.ID, r.outputKey, r.attempt.ClaimedBytes, r.attempt.ClaimedSHA256, facts, ms(t.now))
}

func rawOrNil(s sql.NullString) json.RawMessage {
	if !s.Valid {
		return nil
	}
	return json.RawMessage(s.String)
}
