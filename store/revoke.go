package store

import (
	"context"
	"database/sql"
	"errors"

	"rendermac/fence"
)

// CodeRevoked is what a revoked device is told.
const CodeRevoked = "device_revoked"

func revokedOr(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return &fence.Error{Code: CodeRevoked, Rule: "F18", Message: "this device was revoked: pair it again"}
	}
	return err
}

// Revoke ends a device for good: its token never works again, not even after a
// restore, and what it ran and has not passed F6 is lost now (F18). Repeating it
// is harmless.
func (db *DB) Revoke(ctx context.Context, deviceID string) ([]Ended, error) {
	err := db.read(ctx, func(q querier) error {
		var id string
		return q.one(`SELECT id FROM devices WHERE id = ?`, []any{deviceID}, &id)
	})
	if fence.CodeOf(err) == fence.CodeNotFound {
		return nil, notFound("device")
	}
	if err != nil {
		return nil, err
	}
	if err := db.noteRevoked(ctx, revocation{deviceID, db.o.Now()}); err != nil { // first, so that a crash between the two revokes
		return nil, err
	}
	var out []Ended
	err = db.w.do(ctx, func(t *tx) (err error) {
		out, err = t.revoke(deviceID)
		return err
	})
	return out, err
}

// revoke takes the id of a device or of an API key.
func (t *tx) revoke(id string) ([]Ended, error) {
	if err := t.revokeKey(id); err != nil {
		return nil, err
	}
	n, err := t.affect(`UPDATE devices SET revoked_at = ?, online = 0, session_id = NULL WHERE id = ? AND revoked_at IS NULL`, ms(t.now), id)
	if err != nil || n == 0 {
		return nil, err
	}
	if err := t.event("device.revoked", ref{device: id}, "{}"); err != nil {
		return nil, err
	}
	return t.endSession(id, nil, "the Mac was revoked")
}
