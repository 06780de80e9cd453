package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"rendermac/fence"
)

// Job is a job as its buyer sees it.
type Job struct {
	ID, AccountID  string
	Status         fence.JobStatus
	Service        string
	Params         json.RawMessage
	Inputs         []Input
	Priority       int
	MaxAttempts    int
	Deadline       *time.Time
	Requires       json.RawMessage
	WebhookURL     *string
	WebhookEvents  []string
	OutputName     string
	ContentType    string
	Labels         map[string]string
	RetryOf        *string
	WaitingOn      *string
	Reading        int // inputs by path that the server has not read yet
	FailureCode    *string
	FailureMessage *string
	CreatedAt      time.Time
	StartedAt      *time.Time
	FinishedAt     *time.Time
	Attempts       []Attempt
	Hold           *Hold
	Artifact       *Artifact
}

// Hold is what a job reserves of its account's credits.
type Hold struct {
	Credits int64
	State   string
}

// Artifact is a published result.
type Artifact struct {
	Key      string
	Bytes    int64
	SHA256   string
	Media    json.RawMessage
	Warnings []string
	// DeletedAt is when retention has removed its bytes; nil while they are there.
	DeletedAt *time.Time
}

const jobColumns = `j.id, j.account_id, j.status, j.service, j.params, j.priority, j.max_attempts, j.admission_deadline, j.requires, j.webhook_url,
	j.webhook_events, j.output_name, j.content_type, j.labels, j.retry_of, j.waiting_on, j.reading, j.failure_code, j.failure_message, j.created_at, j.started_at, j.finished_at,
	h.credits, h.state, f.object_key, f.bytes, f.sha256, f.media, f.deleted_at, (SELECT warnings FROM job_attempts a WHERE a.id = f.attempt_id)`

const jobTables = ` FROM jobs j LEFT JOIN holds h ON h.job_id = j.id LEFT JOIN artifacts f ON f.job_id = j.id `

func scanJob(rows *sql.Rows) (Job, error) {
	var j Job
	var params, events, labels string
	var deadline, started, finished, credits, bytes, deleted sql.NullInt64
	var requires, hold, key, sha, media, warnings sql.NullString
	var created int64
	err := rows.Scan(&j.ID, &j.AccountID, &j.Status, &j.Service, &params, &j.Priority, &j.MaxAttempts, &deadline, &requires, &j.WebhookURL,
		&events, &j.OutputName, &j.ContentType, &labels, &j.RetryOf, &j.WaitingOn, &j.Reading, &j.FailureCode, &j.FailureMessage, &created, &started, &finished,
		&credits, &hold, &key, &bytes, &sha, &media, &deleted, &warnings)
	if err != nil {
		return j, err
	}
	j.Params, j.Requires = json.RawMessage(params), rawOrNil(requires)
	j.Deadline, j.StartedAt, j.FinishedAt, j.CreatedAt = timeOrNil(deadline), timeOrNil(started), timeOrNil(finished), fromMS(created)
	_ = json.Unmarshal([]byte(events), &j.WebhookEvents) // our own rows: asJSON wrote them
	_ = json.Unmarshal([]byte(labels), &j.Labels)
	if hold.Valid {
		j.Hold = &Hold{Credits: credits.Int64, State: hold.String}
	}
	if key.Valid {
		j.Artifact = &Artifact{Key: key.String, Bytes: bytes.Int64, SHA256: sha.String, Media: rawOrNil(media), DeletedAt: timeOrNil(deleted)}
		_ = json.Unmarshal([]byte(warnings.String), &j.Artifact.Warnings)
	}
	return j, nil
}

// JobByID loads a job with its attempts, as they stood at one moment.
func (db *DB) JobByID(ctx context.Context, id string) (Job, error) {
	var j Job
	err := db.read(ctx, func(q querier) error {
		jobs, err := q.jobs(`WHERE j.id = ?`, id)
		if err != nil {
			return err
		}
		if len(jobs) == 0 {
			return notFound("job")
		}
		j = jobs[0]
		j.Attempts, err = q.attempts(id)
		return err
	})
	return j, err
}

// JobsByID loads jobs whole, in the order of their ids.
func (db *DB) JobsByID(ctx context.Context, ids []string) ([]Job, error) {
	var jobs []Job
	err := db.read(ctx, func(q querier) (err error) {
		jobs, err = q.jobs(`WHERE j.id IN (SELECT value FROM json_each(?)) ORDER BY j.id`, asJSON(ids))
		for i := range jobs {
			if err == nil {
				jobs[i].Attempts, err = q.attempts(jobs[i].ID)
			}
		}
		return err
	})
	return jobs, err
}

func (q querier) jobs(where string, args ...any) ([]Job, error) {
	var out []Job
	err := q.each(`SELECT `+jobColumns+jobTables+where, args, func(rows *sql.Rows) error {
		j, err := scanJob(rows)
		out = append(out, j)
		return err
	})
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(out))
	for i, j := range out {
		ids[i] = j.ID
	}
	inputs, err := q.inputsOf(ids)
	for i := range out {
		out[i].Inputs = inputs[out[i].ID]
	}
	return out, err
}
