package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"rendermac/fence"
)

// CheckInput says what is wrong with one input of a job to be, or else what the
// server has read of it: nil where it could not, or where the job that makes it
// has not succeeded yet. Submit checks again, in the transaction that stores.
func (db *DB) CheckInput(ctx context.Context, account string, in NewInput) (media json.RawMessage, fault *fence.Fault, err error) {
	err = db.read(ctx, func(q querier) error {
		if _, _, fault, err = q.checkInput(account, in); err != nil || fault != nil {
			return err
		}
		var read sql.NullString
		err := q.one(`SELECT media FROM uploads WHERE id = ? UNION ALL SELECT media FROM artifacts WHERE job_id = ?`, []any{in.UploadID, in.JobID}, &read)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		media = rawOrNil(read)
		return err
	})
	return media, fault, err
}
