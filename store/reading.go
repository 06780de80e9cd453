package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"rendermac/fence"
)

// Unread is a queued job that waits for the server to read its inputs by path.
type Unread struct {
	JobID, AccountID, Service string
	Resolved                  json.RawMessage
	Needs                     fence.Needs
	Inputs                    []Input
}

// Reading lists the jobs whose inputs are not read yet: after a start all of
// these are taken up again. Of each the first such path is given.
func (db *DB) Reading(ctx context.Context) (paths map[string]string, err error) {
	paths = map[string]string{}
	err = db.read(ctx, func(q querier) error {
		return q.each(`SELECT j.id, (SELECT path FROM job_inputs WHERE job_id = j.id AND path IS NOT NULL ORDER BY position LIMIT 1)
			FROM jobs j INDEXED BY jobs_reading WHERE j.status = 'queued' AND j.reading > 0`, nil, func(rows *sql.Rows) error {
			var id, path string
			err := rows.Scan(&id, &path)
			paths[id] = path
			return err
		})
	})
	return paths, err
}

// UnreadJob loads one of them; nil where it has ended or been read meanwhile.
func (db *DB) UnreadJob(ctx context.Context, id string) (*Unread, error) {
	u := &Unread{JobID: id}
	var resolved, needs string
	err := db.read(ctx, func(q querier) (err error) {
		err = q.one(`SELECT account_id, service, resolved, needs FROM jobs WHERE id = ? AND status = 'queued' AND reading > 0`, []any{id},
			&u.AccountID, &u.Service, &resolved, &needs)
		if err == nil {
			u.Inputs, err = q.inputs(id)
		}
		return err
	})
	if fence.CodeOf(err) == fence.CodeNotFound {
		return nil, nil
	}
	u.Resolved = json.RawMessage(resolved)
	if err == nil {
		err = json.Unmarshal([]byte(needs), &u.Needs)
	}
	return u, err
}

// ReadFile is what the server has read of a file under a shared root. Stamp is
// by which it may be known again, or empty where it may still be changing.
type ReadFile struct {
	Bytes  int64
	SHA256 string
	Media  json.RawMessage
	Stamp  string
}

// KnownFile is what was read of the same file, untouched since, for another job;
// nil where nobody has.
func (db *DB) KnownFile(ctx context.Context, path, stamp string) (*ReadFile, error) {
	f := &ReadFile{Stamp: stamp}
	var media sql.NullString
	err := db.read(ctx, func(q querier) error {
		return q.one(`SELECT bytes, sha256, media FROM job_inputs INDEXED BY job_inputs_stamp WHERE path = ? AND stamp = ? LIMIT 1`,
			[]any{path, stamp}, &f.Bytes, &f.SHA256, &media)
	})
	if fence.CodeOf(err) == fence.CodeNotFound {
		return nil, nil
	}
	f.Media = rawOrNil(media)
	return f, err
}

// Read stores what was read of a job's inputs, by their positions, and what a
// device must have for them: from here on it may be leased. A job that has ended
// meanwhile stays as it is.
func (db *DB) Read(ctx context.Context, u *Unread, files map[int]ReadFile, needs fence.Needs) (done bool, err error) {
	err = db.w.do(ctx, func(t *tx) error {
		if done, err = t.isUnread(u.JobID); err != nil || !done {
			return err
		}
		var bytes int64
		for position, f := range files {
			bytes += f.Bytes
			err := t.change("read input", `UPDATE job_inputs SET bytes = ?, sha256 = ?, media = ?, stamp = ?
				WHERE job_id = ? AND position = ? AND path = ? AND sha256 IS NULL`,
				f.Bytes, f.SHA256, rawOrNull(f.Media), orNull(f.Stamp), u.JobID, position, u.Inputs[position].Path)
			if err != nil {
				return err
			}
		}
		err := t.change("read", `UPDATE jobs SET needs = ?, reading = 0 WHERE id = ? AND status = 'queued' AND reading = ?`, asJSON(needs), u.JobID, len(files))
		if err != nil {
			return err
		}
		return t.event("job.read", ref{account: u.AccountID, job: u.JobID}, asJSON(map[string]int64{"bytes": bytes}))
	})
	return done && err == nil, err
}

// FailReading ends a job whose input by path cannot be had.
func (db *DB) FailReading(ctx context.Context, jobID, message string) (done bool, err error) {
	err = db.w.do(ctx, func(t *tx) error {
		if done, err = t.isUnread(jobID); err != nil || !done {
			return err
		}
		r, err := t.jobRun(jobID)
		if err != nil {
			return err
		}
		return t.settle(r, fence.JobFailed, fence.InputFailed, message)
	})
	return done && err == nil, err
}

// isUnread tells whether a job still waits to be read.
func (t *tx) isUnread(jobID string) (bool, error) {
	var unread bool
	err := t.one(`SELECT status = 'queued' AND reading > 0 FROM jobs WHERE id = ?`, []any{jobID}, &unread)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return unread, err
}
