package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"rendermac/fence"
)

// Attempt is one run of a job as its buyer sees it.
type Attempt struct {
	ID             string
	Number         int
	Status         fence.AttemptStatus
	DeviceID       string
	DeviceName     string
	Epoch          int64
	Phase          *string
	Fraction       *float64
	FPS            *float64
	Speed          *float64
	ETA            *float64
	LeasedAt       time.Time
	EndedAt        *time.Time
	FailureCode    *string
	FailureMessage *string
	InputMedia     json.RawMessage // what its agent said of the inputs, or nil
}

func (q querier) attempts(jobID string) ([]Attempt, error) {
	out := []Attempt{}
	err := q.each(`SELECT a.id, a.attempt_number, a.status, a.device_id, d.name, a.lease_epoch, a.phase, a.fraction, a.fps, a.speed, a.eta_s,
			a.leased_at, a.ended_at, a.failure_code, a.failure_message, a.input_media
		FROM job_attempts a JOIN devices d ON d.id = a.device_id WHERE a.job_id = ? ORDER BY a.attempt_number`, []any{jobID}, func(rows *sql.Rows) error {
		var a Attempt
		var leased int64
		var ended sql.NullInt64
		var media sql.NullString
		err := rows.Scan(&a.ID, &a.Number, &a.Status, &a.DeviceID, &a.DeviceName, &a.Epoch, &a.Phase, &a.Fraction, &a.FPS, &a.Speed, &a.ETA,
			&leased, &ended, &a.FailureCode, &a.FailureMessage, &media)
		a.LeasedAt, a.EndedAt, a.InputMedia = fromMS(leased), timeOrNil(ended), rawOrNil(media)
		out = append(out, a)
		return err
	})
	return out, err
}

// AttemptLog is the kept tail of a run's log.
func (db *DB) AttemptLog(ctx context.Context, attemptID string) (string, error) {
	var tail string
	err := db.read(ctx, func(q querier) error {
		return q.one(`SELECT coalesce((SELECT tail FROM attempt_logs WHERE attempt_id = ?), '')`, []any{attemptID}, &tail)
	})
	return tail, err
}
