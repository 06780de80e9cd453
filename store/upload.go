package store

import (
	"context"
	"database/sql"

	"rendermac/fence"
)

// Part is one part of a file as its sender has measured it.
type Part = fence.Part

// Grant is what an upload message opened: the parts that may be written, and
// which of those held before must be dropped, since they are others now.
type Grant struct {
	RunOutcome
	OutputKey string
	Bytes     int64
	PartBytes int64
	Changed   []int
}

// Upload opens or replaces a run's upload grant; it moves the run to uploading
// and renews its lease (F16).
func (db *DB) Upload(ctx context.Context, c fence.Claim, result fence.Result, parts []Part) (Grant, error) {
	var g Grant
	err := db.w.do(ctx, func(t *tx) error {
		r, err := t.claimed(c)
		if err != nil {
			return err
		}
		step, err := fence.CheckUpload(r.device, r.job, r.attempt, c, t.now)
		if err != nil {
			return err
		}
		g = Grant{RunOutcome: RunOutcome{Cancel: step.Cancel, ExpiresAt: r.attempt.ExpiresAt}, OutputKey: r.outputKey, Bytes: result.Bytes}
		if step.Cancel {
			return t.acknowledge(r)
		}
		g.ExpiresAt = t.now.Add(t.o.LeaseTTL)
		if err := t.renew(r, step.Status, g.ExpiresAt, Report{Phase: fence.AttemptUploading}); err != nil {
			return err
		}
		err = t.one(`UPDATE artifact_grants SET bytes = ?, sha256 = ? WHERE attempt_id = ? RETURNING part_bytes`,
			[]any{result.Bytes, result.SHA256, r.attempt.ID}, &g.PartBytes)
		if err != nil {
			return err
		}
		if len(parts) > 0 && parts[0].Bytes > g.PartBytes {
			g.PartBytes = fence.PartBytes(result.Bytes, g.PartBytes)
		}
		if err := fence.CheckParts(result.Bytes, g.PartBytes, parts); err != nil {
			return err
		}
		g.Changed, err = t.replaceParts(r.attempt.ID, parts)
		return err
	})
	return g, err
}

// replaceParts writes the declared parts of an owner and names those that were
// declared differently before.
func (t *tx) replaceParts(owner string, parts []Part) ([]int, error) {
	before, err := t.parts(owner, 1, maxParts)
	if err != nil {
		return nil, err
	}
	var changed []int
	for i, b := range before {
		if i >= len(parts) || parts[i] != b {
			changed = append(changed, b.Number)
		}
	}
	if len(before) == len(parts) && len(changed) == 0 {
		return nil, nil
	}
	if err := t.exec(`DELETE FROM upload_parts WHERE owner_id = ?`, owner); err != nil {
		return nil, err
	}
	return changed, t.insertParts(owner, parts)
}

func (t *tx) insertParts(owner string, parts []Part) error {
	for _, p := range parts {
		if err := t.exec(`INSERT INTO upload_parts (owner_id, number, bytes, sha256) VALUES (?, ?, ?, ?)`, owner, p.Number, p.Bytes, p.SHA256); err != nil {
			return err
		}
	}
	return nil
}

// maxParts is what an object store allows; part_bytes grows so that it is enough.
const maxParts = 10_000

// Parts lists the declared parts of an upload or attempt from a number on.
func (db *DB) Parts(ctx context.Context, owner string, from, limit int) ([]Part, error) {
	var out []Part
	err := db.read(ctx, func(q querier) (err error) {
		out, err = q.parts(owner, from, limit)
		return err
	})
	return out, err
}

func (q querier) parts(owner string, from, limit int) ([]Part, error) {
	var out []Part
	err := q.each(`SELECT number, bytes, sha256 FROM upload_parts WHERE owner_id = ? AND number >= ? ORDER BY number LIMIT ?`,
		[]any{owner, from, limit}, func(rows *sql.Rows) error {
			var p Part
			err := rows.Scan(&p.Number, &p.Bytes, &p.SHA256)
			out = append(out, p)
			return err
		})
	return out, err
}

// OpenGrant says whether an attempt's grant is still open: a write that was
// opened for one that closed meanwhile must be aborted (F16).
func (db *DB) OpenGrant(ctx context.Context, attemptID, key string) (bool, error) {
	var open bool
	err := db.read(ctx, func(q querier) error {
		return q.one(`SELECT EXISTS (SELECT 1 FROM job_attempts a WHERE id = ? AND output_key = ? AND `+live+` AND status <> 'committing')`, []any{attemptID, key}, &open)
	})
	return open, err
}

// WantsWrite says whether a write found open in the object store still belongs
// to an open grant, to a result that waits for its verification, or to an
// open upload.
func (db *DB) WantsWrite(ctx context.Context, key string) (bool, error) {
	var wanted bool
	err := db.read(ctx, func(q querier) error {
		return q.one(`SELECT EXISTS (SELECT 1 FROM artifact_grants g JOIN job_attempts a ON a.id = g.attempt_id WHERE g.object_key = ?1
				AND `+live+`)
			OR EXISTS (SELECT 1 FROM uploads WHERE object_key = ?1 AND status = 'open' AND deleted_at IS NULL)`, []any{key}, &wanted)
	})
	return wanted, err
}
