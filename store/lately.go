package store

import (
	"context"
	"database/sql"
	"strings"

	"rendermac/fence"
)

// Lately is how a device's last attempts ended, of those that say something of
// it: cancelled ones do not, nor does what failed for its input.
type Lately struct{ Ended, Succeeded int }

// maxLately bounds how many are looked at.
const maxLately = 50

var latelyQuery = `SELECT d.id, (SELECT group_concat(status = 'succeeded', '') FROM (SELECT status, code FROM (` +
	lastEnded("succeeded", `NULL`) + ` UNION ALL ` + lastEnded("failed", `failure_code`) + ` UNION ALL ` + lastEnded("lost", `NULL`) +
	`) ORDER BY ended_at DESC LIMIT ?1) WHERE code IS NOT '` + fence.InputFailed + `') FROM devices d`

// lastEnded are a device's newest of one way to end, which an index gives alone
// where no code is asked for.
func lastEnded(status, code string) string {
	return `SELECT * FROM (SELECT status, ended_at, ` + code + ` AS code FROM job_attempts INDEXED BY job_attempts_ended
		WHERE device_id = d.id AND status = '` + status + `' AND ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT ?1)`
}

// Lately looks at all devices; one that has ended nothing is not among them.
func (db *DB) Lately(ctx context.Context) (map[string]Lately, error) {
	out := map[string]Lately{}
	err := db.read(ctx, func(q querier) error {
		return q.each(latelyQuery, []any{maxLately}, func(rows *sql.Rows) error {
			var id string
			var ends sql.NullString // a digit an attempt
			err := rows.Scan(&id, &ends)
			if ends.Valid {
				out[id] = Lately{len(ends.String), strings.Count(ends.String, "1")}
			}
			return err
		})
	})
	return out, err
}
