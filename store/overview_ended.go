package store

import (
	"database/sql"
	"time"

	"rendermac/fence"
)

// EndedJob is how a job has ended.
type EndedJob struct {
	JobLine
	Status                      fence.JobStatus
	FailureCode, FailureMessage string
	StartedAt                   *time.Time
	EndedAt                     time.Time
}

// endedQuery looks through the newest ends of the day: one entry of an index each,
// and a row for what is given back.
const endedQuery = `SELECT j.id, e.account_id, e.status, coalesce(j.failure_code, ''), coalesce(j.failure_message, ''), j.started_at, e.finished_at
	FROM (SELECT rowid AS r, account_id, status, finished_at FROM jobs INDEXED BY jobs_finished
		WHERE finished_at > ?1 ORDER BY finished_at DESC LIMIT ?2) e CROSS JOIN jobs j ON j.rowid = e.r
	WHERE (e.status = 'failed') = ?3 AND (?4 = '' OR e.account_id = ?4) LIMIT ?5`

// lately is what ended within a day: the failed ones apart, for they matter most.
func (q querier) lately(o *Overview, account string) (err error) {
	since := ms(o.At.Add(-Day))
	if o.Failed, err = q.endedJobs(since, maxCounted, true, account, maxFailed+1); err != nil {
		return err
	}
	if o.FailedMore = len(o.Failed) > maxFailed; o.FailedMore {
		o.Failed = o.Failed[:maxFailed]
	}
	o.Ended, err = q.endedJobs(since, maxCounted, false, account, maxEnded)
	return err
}

func (q querier) endedJobs(args ...any) ([]EndedJob, error) {
	var out []EndedJob
	err := q.each(endedQuery, args, func(rows *sql.Rows) error {
		var e EndedJob
		var started sql.NullInt64
		var ended int64
		err := rows.Scan(&e.ID, &e.AccountID, &e.Status, &e.FailureCode, &e.FailureMessage, &started, &ended)
		e.StartedAt, e.EndedAt = timeOrNil(started), fromMS(ended)
		out = append(out, e)
		return err
	})
	lines := make([]*JobLine, len(out))
	for i := range out {
		lines[i] = &out[i].JobLine
	}
	if err == nil {
		err = q.name(lines)
	}
	return out, err
}
