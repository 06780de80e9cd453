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

const attemptColumns = `a.id, a.attempt_number, a.status, a.device_id, d.name, a.lease_epoch, a.phase, a.fraction, a.fps, a.speed, a.eta_s,
	a.leased_at, a.ended_at, a.failure_code, a.failure_message, a.input_media`

// scanAttempt reads attemptColumns, and what stands behind them.
func scanAttempt(rows *sql.Rows, extra ...any) (Attempt, error) {
	var a Attempt
	var leased int64
	var ended sql.NullInt64
	var media sql.NullString
	err := rows.Scan(append([]any{
		&a.ID, &a.Number, &a.Status, &a.DeviceID, &a.DeviceName, &a.Epoch, &a.Phase, &a.Fraction, &a.FPS, &a.Speed, &a.ETA,
		&leased, &ended, &a.FailureCode, &a.FailureMessage, &media,
	}, extra...)...)
	a.LeasedAt, a.EndedAt, a.InputMedia = fromMS(leased), timeOrNil(ended), rawOrNil(media)
	return a, err
}

func (q querier) attempts(jobID string) ([]Attempt, error) {
	out := []Attempt{}
	err := q.each(`SELECT `+attemptColumns+` FROM job_attempts a JOIN devices d ON d.id = a.device_id
		WHERE a.job_id = ? ORDER BY a.attempt_number`, []any{jobID}, func(rows *sql.Rows) error {
		a, err := scanAttempt(rows)
		out = append(out, a)
		return err
	})
	return out, err
}

// NewestAttempts are the newest attempts of many jobs, by job, in one query; a job
// that has had none is not among them.
func (db *DB) NewestAttempts(ctx context.Context, jobIDs []string) (map[string]Attempt, error) {
	out := map[string]Attempt{}
	err := db.read(ctx, func(q querier) error {
		return q.each(`SELECT `+attemptColumns+`, j.id FROM json_each(?) w CROSS JOIN jobs j ON j.id = w.value
			JOIN job_attempts a ON a.job_id = j.id AND a.attempt_number = j.attempts JOIN devices d ON d.id = a.device_id`,
			[]any{asJSON(jobIDs)}, func(rows *sql.Rows) error {
				var job string
				a, err := scanAttempt(rows, &job)
				out[job] = a
				return err
			})
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
