package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"rendermac/fence"
)

// Upload is a file on its way from a buyer, or arrived.
type Upload struct {
	ID, AccountID string
	Name          string
	Bytes         int64
	SHA256        string // claimed; once complete, the server's own
	PartBytes     int64
	Complete      bool
	Key           string
	Media         json.RawMessage
	CreatedAt     time.Time
}

// NewUpload is an upload as a buyer asks for it; Parts only where their digests
// are known beforehand.
type NewUpload struct {
	AccountID, Name string
	Bytes           int64
	SHA256          string
	PartBytes       int64
	Parts           []Part
}

// CreateUploadOnce opens an upload for a request that may come more than once;
// replayed says that an earlier one has opened it.
func (db *DB) CreateUploadOnce(ctx context.Context, once Once, n NewUpload) (u Upload, replayed bool, err error) {
	err = db.w.do(ctx, func(t *tx) error {
		made, err := t.once(once, func() ([]string, error) { return t.createUpload(n) })
		if err != nil {
			return err
		}
		replayed = made.Replayed
		u, err = t.upload(thereUpload, made.IDs[0])
		return goneIfMissing(err)
	})
	return u, replayed, err
}

func (t *tx) createUpload(n NewUpload) ([]string, error) {
	id, err := t.id("upl")
	if err != nil {
		return nil, err
	}
	err = t.exec(`INSERT INTO uploads (id, account_id, name, bytes, sha256, part_bytes, status, object_key, created_at) VALUES (?, ?, ?, ?, ?, ?, 'open', ?, ?)`,
		id, n.AccountID, n.Name, n.Bytes, orNull(n.SHA256), n.PartBytes, "uploads/"+id+"/original", ms(t.now))
	if err != nil {
		return nil, err
	}
	return []string{id}, t.insertParts(id, n.Parts)
}

const uploadColumns = `id, account_id, name, bytes, coalesce(sha256, ''), part_bytes, status = 'complete', object_key, media, created_at`

// thereUpload finds an upload whose bytes have not been deleted.
const thereUpload = `SELECT ` + uploadColumns + ` FROM uploads WHERE id = ? AND deleted_at IS NULL`

func (q querier) upload(query string, args ...any) (Upload, error) {
	var u Upload
	var media sql.NullString
	var created int64
	err := q.one(query, args, &u.ID, &u.AccountID, &u.Name, &u.Bytes, &u.SHA256, &u.PartBytes, &u.Complete, &u.Key, &media, &created)
	u.Media, u.CreatedAt = rawOrNil(media), fromMS(created)
	return u, err
}

// UploadByID loads one upload, unless it has been deleted.
func (db *DB) UploadByID(ctx context.Context, id string) (Upload, error) {
	var u Upload
	err := db.read(ctx, func(q querier) (err error) {
		u, err = q.upload(thereUpload, id)
		return err
	})
	if fence.CodeOf(err) == fence.CodeNotFound {
		return u, notFound("upload")
	}
	return u, err
}

// MadeUpload loads the upload that an earlier request has made.
func (db *DB) MadeUpload(ctx context.Context, m Made) (Upload, error) {
	u, err := db.UploadByID(ctx, m.IDs[0])
	return u, goneIfMissing(err)
}

// CompleteUpload records what the server has itself found an upload to be.
// Repeating it changes nothing; one that has been deleted meanwhile stays so.
func (db *DB) CompleteUpload(ctx context.Context, id, sha256 string, media json.RawMessage) (Upload, error) {
	var u Upload
	err := db.w.do(ctx, func(t *tx) (err error) {
		err = t.exec(`UPDATE uploads SET status = 'complete', sha256 = ?, media = ?, completed_at = ? WHERE id = ? AND status = 'open' AND deleted_at IS NULL`,
			sha256, rawOrNull(media), ms(t.now), id)
		if err != nil {
			return err
		}
		if err := t.exec(`DELETE FROM upload_parts WHERE owner_id = ?`, id); err != nil {
			return err
		}
		if u, err = t.upload(thereUpload, id); errors.Is(err, sql.ErrNoRows) {
			return notFound("upload")
		}
		return err
	})
	return u, err
}

// DropUpload forgets an upload that never began, for want of space, and the key
// that it was asked for with: errors are not kept.
func (db *DB) DropUpload(ctx context.Context, once Once, id string) error {
	return db.w.do(ctx, func(t *tx) error {
		err := t.exec(`DELETE FROM idempotency_keys WHERE account_id = ? AND route = ? AND key = ? AND resource_ids = ?`,
			once.AccountID, once.Route, once.Key, asJSON([]string{id}))
		if err != nil {
			return err
		}
		if err := t.exec(`DELETE FROM upload_parts WHERE owner_id = ?`, id); err != nil {
			return err
		}
		return t.exec(`DELETE FROM uploads WHERE id = ? AND status = 'open'`, id)
	})
}

// HasFiles says whether buyers have ever sent anything, or Macs rendered, so that
// there must be an artifact store which holds it.
func (db *DB) HasFiles(ctx context.Context) (has bool, err error) {
	err = db.read(ctx, func(q querier) error {
		return q.one(`SELECT `+hasFiles, nil, &has)
	})
	return has, err
}

const hasFiles = `EXISTS (SELECT 1 FROM uploads) OR EXISTS (SELECT 1 FROM artifact_grants)`
