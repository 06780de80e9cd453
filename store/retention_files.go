package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// FileKind is a kind of files that retention removes: how a page of them is found,
// the oldest first, who needs one of them, and how its row says that it is gone.
type FileKind struct {
	page   string
	users  string // empty: no job can need one
	remove string
	total  string
}

// What retention removes of files.
var (
	Outputs = FileKind{
		page: `SELECT job_id, created_at, bytes FROM artifacts INDEXED BY artifacts_kept
			WHERE deleted_at IS NULL AND created_at < ?1 AND (created_at, job_id) > (?2, ?3) ORDER BY created_at, job_id LIMIT ?4`,
		users: `SELECT j.id, j.finished_at IS NULL OR j.finished_at >= ?1 FROM job_inputs i INDEXED BY job_inputs_of_job CROSS JOIN jobs j ON j.id = i.job_id
			WHERE i.input_job_id = ?2 AND i.job_id < ?3 ORDER BY i.job_id DESC LIMIT ?4`,
		remove: `UPDATE artifacts SET deleted_at = ?1 WHERE job_id = ?2 AND deleted_at IS NULL
			AND NOT EXISTS (SELECT 1 FROM job_inputs INDEXED BY job_inputs_of_job WHERE input_job_id = ?2 AND job_id > ?3) RETURNING object_key`,
		total: `SELECT coalesce(sum(bytes), 0) FROM artifacts INDEXED BY artifacts_kept WHERE deleted_at IS NULL`,
	}
	Uploads = FileKind{
		page: `SELECT id, completed_at, bytes FROM uploads INDEXED BY uploads_kept
			WHERE status = 'complete' AND deleted_at IS NULL AND completed_at < ?1 AND (completed_at, id) > (?2, ?3) ORDER BY completed_at, id LIMIT ?4`,
		users: `SELECT j.id, j.finished_at IS NULL OR j.finished_at >= ?1 FROM job_inputs i INDEXED BY job_inputs_of_upload CROSS JOIN jobs j ON j.id = i.job_id
			WHERE i.upload_id = ?2 AND i.job_id < ?3 ORDER BY i.job_id DESC LIMIT ?4`,
		remove: `UPDATE uploads SET deleted_at = ?1 WHERE id = ?2 AND status = 'complete' AND deleted_at IS NULL
			AND NOT EXISTS (SELECT 1 FROM job_inputs INDEXED BY job_inputs_of_upload WHERE upload_id = ?2 AND job_id > ?3) RETURNING object_key`,
		total: `SELECT coalesce(sum(bytes), 0) FROM uploads INDEXED BY uploads_kept WHERE status = 'complete' AND deleted_at IS NULL`,
	}
	OpenUploads = FileKind{
		page: `SELECT id, created_at, bytes FROM uploads INDEXED BY uploads_open
			WHERE status = 'open' AND deleted_at IS NULL AND created_at < ?1 AND (created_at, id) > (?2, ?3) ORDER BY created_at, id LIMIT ?4`,
		remove: `UPDATE uploads SET deleted_at = ?1 WHERE id = ?2 AND status = 'open' AND deleted_at IS NULL AND ?3 IS NOT NULL RETURNING object_key`,
	}
)

const (
	filesAtOnce = 100   // in a page, and in the transaction that removes it
	usersAtOnce = 1_000 // jobs that one read looks at: a file may have been the input of a million
	afterAllIDs = "~"
)

// OldFile is a file with its place in the order of age.
type OldFile struct {
	ID    string
	At    time.Time
	Bytes int64
	seen  string // the newest job when nobody was found who needs it
}

// OldFiles lists a page of files from before a moment that come after one, and
// whether there are more.
func (db *DB) OldFiles(ctx context.Context, f FileKind, before time.Time, after OldFile) (list []OldFile, more bool, err error) {
	err = db.read(ctx, func(q querier) error {
		return q.each(f.page, []any{ms(before), msOrZero(after.At), after.ID, filesAtOnce}, func(rows *sql.Rows) error {
			var file OldFile
			var at int64
			err := rows.Scan(&file.ID, &at, &file.Bytes)
			file.At = fromMS(at)
			list = append(list, file)
			return err
		})
	})
	return list, len(list) == filesAtOnce, err
}

// Needed says whether a live job has the file as an input, or one that ended at
// that moment or later. It looks at the newest jobs first. Whatever has ended
// stays so: to be removed, the file only has to have got no newer job since.
func (db *DB) Needed(ctx context.Context, f FileKind, file *OldFile, since time.Time) (needed bool, err error) {
	looked := usersAtOnce
	for before := afterAllIDs; err == nil && !needed && looked == usersAtOnce && f.users != ""; {
		looked = 0
		err = db.read(ctx, func(q querier) error {
			if before == afterAllIDs {
				if err := q.one(`SELECT coalesce(max(id), '') FROM jobs`, nil, &file.seen); err != nil {
					return err
				}
			}
			return q.each(f.users, []any{ms(since), file.ID, before, usersAtOnce}, func(rows *sql.Rows) error {
				var needs bool
				err := rows.Scan(&before, &needs)
				needed = needed || needs
				looked++
				return err
			})
		})
	}
	return needed, err
}

// Gone is a file that is to be removed from the store.
type Gone struct {
	Key   string
	Bytes int64
}

// RemoveFiles notes files as deleted, and their objects as nobody's, in one
// transaction: a crash leaves no row whose bytes are half gone, and no bytes that
// nobody will remove. What has got a new job since Needed stays.
func (db *DB) RemoveFiles(ctx context.Context, f FileKind, list []OldFile) (gone []Gone, err error) {
	err = db.w.do(ctx, func(t *tx) error {
		gone = nil
		for _, file := range list {
			g := Gone{Bytes: file.Bytes}
			err := t.one(f.remove, []any{ms(t.now), file.ID, file.seen}, &g.Key)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return err
			}
			if err := t.exec(`INSERT INTO discards (object_key) VALUES (?)`, g.Key); err != nil {
				return err
			}
			if err := t.exec(`DELETE FROM upload_parts WHERE owner_id = ?`, file.ID); err != nil {
				return err
			}
			gone = append(gone, g)
		}
		return nil
	})
	return gone, err
}

// StoredBytes is how much the kept files of a kind are together.
func (db *DB) StoredBytes(ctx context.Context, f FileKind) (bytes int64, err error) {
	err = db.read(ctx, func(q querier) error { return q.one(f.total, nil, &bytes) })
	return bytes, err
}

func msOrZero(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return ms(t)
}
