package store

import (
	"context"
	"database/sql"
	"errors"

	"rendermac/fence"
)

// maxTold bounds how many jobs one transaction tells that a job whose output
// they need has ended, so that a long chain or a wide fan never holds up the
// writer. Sweep goes on with the rest. Meanwhile nobody can lease them: a lease
// takes only what waits on nothing, and what has not been told still waits.
const maxTold = 200

// tellDependents notes that a job has ended and tells as many of the jobs that
// need its output as this transaction still may. Those that end by it are noted
// in their turn, rather than told of from within.
func (t *tx) tellDependents(jobID string) error {
	noted, err := t.affect(`INSERT INTO settlements (job_id, after) SELECT ?1, '' WHERE EXISTS (SELECT 1 FROM job_inputs WHERE input_job_id = ?1)`, jobID)
	if err != nil || noted == 0 || t.telling {
		return err
	}
	return t.tellOn()
}

// tellOn works off what is noted.
func (t *tx) tellOn() error {
	t.telling = true
	defer func() { t.telling = false }()
	for {
		var id, after string
		var status fence.JobStatus
		err := t.one(`SELECT job_id, after, (SELECT status FROM jobs WHERE id = job_id) FROM settlements LIMIT 1`, nil, &id, &after, &status)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if t.told >= maxTold {
			t.more = true
			return nil
		}
		if err := t.tellSome(id, after, status); err != nil {
			return err
		}
	}
}

// tellSome tells the dependents of one job, in the order of their ids, and
// notes how far it has come.
func (t *tx) tellSome(id, after string, status fence.JobStatus) error {
	var next []string
	room := maxTold - t.told
	err := t.each(`SELECT DISTINCT job_id FROM job_inputs WHERE input_job_id = ? AND job_id > ? ORDER BY job_id LIMIT ?`,
		[]any{id, after, room}, func(rows *sql.Rows) error {
			var dependent string
			err := rows.Scan(&dependent)
			next = append(next, dependent)
			return err
		})
	if err != nil {
		return err
	}
	for _, dependent := range next {
		if err := t.tell(dependent, id, status); err != nil {
			return err
		}
		after = dependent
	}
	t.told += len(next)
	if len(next) < room {
		return t.exec(`DELETE FROM settlements WHERE job_id = ?`, id)
	}
	return t.exec(`UPDATE settlements SET after = ? WHERE job_id = ?`, after, id)
}

// tell lets a queued job go on to its next input that is not there yet, or
// fails it with the one that never will be.
func (t *tx) tell(id, input string, status fence.JobStatus) error {
	if status == fence.JobSucceeded {
		return t.exec(`UPDATE jobs SET waiting_on = (
				SELECT i.input_job_id FROM job_inputs i JOIN jobs o ON o.id = i.input_job_id
				WHERE i.job_id = jobs.id AND o.status <> 'succeeded' ORDER BY i.position LIMIT 1)
			WHERE id = ? AND waiting_on = ? AND status = 'queued'`, id, input)
	}
	r, err := t.jobRun(id)
	if err != nil || r.job.Status != fence.JobQueued { // ended already, through another of its inputs or by itself
		return err
	}
	return t.settle(r, fence.JobFailed, fence.InputFailed, "the job whose output this one needs has ended as "+string(status))
}

// maxDependents bounds what CountDependents counts.
const maxDependents = 1000

// CountDependents counts the queued jobs that would fail with a job: that need its
// output, or that of one which does. There may be more than it counts.
func (db *DB) CountDependents(ctx context.Context, jobID string) (n int, more bool, err error) {
	err = db.read(ctx, func(q querier) error {
		return q.one(`WITH RECURSIVE needing(id) AS (
				VALUES (?1)
				UNION SELECT j.id FROM needing n CROSS JOIN job_inputs i INDEXED BY job_inputs_of_job ON i.input_job_id = n.id
					CROSS JOIN jobs j ON j.id = i.job_id WHERE j.status = 'queued'
				LIMIT ?2)
			SELECT count(*) - 1 FROM needing`, []any{jobID, maxDependents + 2}, &n)
	})
	return min(n, maxDependents), n > maxDependents, err
}
