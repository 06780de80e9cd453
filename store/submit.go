package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"time"

	"rendermac/fence"
)

// NewInput is one input of a submitted job: an upload, another job's output, or
// a file under a shared root.
type NewInput struct{ UploadID, JobID, Path string }

// NewJob is a job as the server has checked it; what only the database knows is
// checked by Submit.
type NewJob struct {
	AccountID     string
	Service       string
	Params        json.RawMessage // as sent, or null
	Resolved      json.RawMessage // with preset and defaults
	Needs         fence.Needs
	Requires      json.RawMessage // as sent, or null
	Inputs        []NewInput
	Priority      int
	MaxAttempts   int
	Deadline      time.Time
	WebhookURL    string
	WebhookEvents []string
	OutputName    string // empty: made from the first input's name
	OutputExt     string
	ContentType   string
	Labels        map[string]string
	Credits       int64
	RetryOf       string // the job, of the same account, that this one repeats
	At            string // what stands before the locations of its faults: "jobs[3]."
}

// SubmitOnce stores all jobs or none, for a request that may come more than once,
// and answers with their ids. Every fault of every job is listed.
func (db *DB) SubmitOnce(ctx context.Context, once Once, jobs ...NewJob) (made Made, err error) {
	err = db.w.do(ctx, func(t *tx) error {
		made, err = t.once(once, func() ([]string, error) { return t.submitAll(jobs) })
		return err
	})
	return made, err
}

func (t *tx) submitAll(jobs []NewJob) ([]string, error) {
	var ids []string
	var faults []fence.Fault
	for _, j := range jobs {
		id, wrong, err := t.submit(j)
		if err != nil {
			return nil, err
		}
		for _, f := range wrong {
			faults = append(faults, fence.Fault{Location: j.At + f.Location, Message: f.Message})
		}
		ids = append(ids, id)
	}
	if len(faults) > 0 {
		return nil, &fence.Error{Code: fence.CodeInvalid, Message: "nothing was stored: mend what is listed and send it again", Faults: faults}
	}
	return ids, nil
}

func (t *tx) submit(j NewJob) (string, []fence.Fault, error) {
	if err := t.checkRetry(j); err != nil {
		return "", nil, err
	}
	in, faults, err := t.checkInputs(j)
	if err != nil || len(faults) > 0 {
		return "", faults, err
	}
	if j.OutputName == "" {
		j.OutputName = outputName(in.name, j.OutputExt)
	}
	if !j.Deadline.IsZero() && !t.now.Before(j.Deadline) {
		return "", []fence.Fault{{Location: "admission_deadline", Message: "is in the past"}}, nil
	}
	id, err := t.id("job")
	if err != nil {
		return "", nil, err
	}
	err = t.exec(`INSERT INTO jobs (id, account_id, status, service, params, resolved, needs, priority, max_attempts, admission_deadline, requires,
			webhook_url, webhook_events, output_name, output_ext, content_type, labels, retry_of, waiting_on, reading, created_at)
		VALUES (?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, j.AccountID, j.Service, rawOr(j.Params, "{}"), string(j.Resolved), asJSON(j.Needs), j.Priority, j.MaxAttempts, msOrNull(j.Deadline), rawOrNull(j.Requires),
		orNull(j.WebhookURL), asJSON(j.WebhookEvents), j.OutputName, j.OutputExt, j.ContentType, asJSON(j.Labels), orNull(j.RetryOf), orNull(in.waitingOn), in.unread, ms(t.now))
	if err != nil {
		return "", nil, err
	}
	if err := t.noteAhead(); err != nil {
		return "", nil, err
	}
	for i, input := range j.Inputs {
		err := t.exec(`INSERT INTO job_inputs (job_id, position, upload_id, input_job_id, path) VALUES (?, ?, ?, ?, ?)`,
			id, i, orNull(input.UploadID), orNull(input.JobID), orNull(input.Path))
		if err != nil {
			return "", nil, err
		}
	}
	if err := t.placeHold(j.AccountID, id, j.Credits); err != nil {
		return "", nil, err
	}
	return id, nil, t.event("job.queued", ref{account: j.AccountID, job: id}, "{}")
}

// foundInputs is what the database knows of a job's inputs.
type foundInputs struct {
	name      string // the first input's
	waitingOn string // the first job that has not succeeded yet
	unread    int    // files under shared roots
}

func (t *tx) checkInputs(j NewJob) (foundInputs, []fence.Fault, error) {
	var found foundInputs
	var faults []fence.Fault
	for i, in := range j.Inputs {
		name, waits, fault, err := t.checkInput(j.AccountID, in)
		if err != nil {
			return found, nil, err
		}
		if fault != nil {
			fault.Location = fmt.Sprintf("inputs[%d].%s", i, fault.Location)
			faults = append(faults, *fault)
		}
		if i == 0 {
			found.name = name
		}
		if waits && found.waitingOn == "" {
			found.waitingOn = in.JobID
		}
		if in.Path != "" {
			found.unread++
		}
	}
	return found, faults, nil
}

// checkInput refuses another account's upload or job in the same words as one
// that does not exist. Of a path it knows nothing: the server has looked there.
func (q querier) checkInput(account string, in NewInput) (name string, waits bool, fault *fence.Fault, err error) {
	if in.Path != "" {
		return path.Base(in.Path), false, nil, nil
	}
	var removed bool
	if in.UploadID != "" {
		var status string
		err := q.one(`SELECT name, status, deleted_at IS NOT NULL FROM uploads WHERE id = ? AND account_id = ?`, []any{in.UploadID, account}, &name, &status, &removed)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return "", false, &fence.Fault{Location: "upload_id", Message: "there is no such upload"}, nil
		case removed:
			fault = &fence.Fault{Location: "upload_id", Message: "the upload has been deleted by retention: upload the file again"}
		case err == nil && status != "complete":
			fault = &fence.Fault{Location: "upload_id", Message: "the upload is not complete: send the missing parts and complete it"}
		}
		return name, false, fault, err
	}
	var status fence.JobStatus
	err = q.one(`SELECT j.output_name, j.status, f.deleted_at IS NOT NULL FROM jobs j LEFT JOIN artifacts f ON f.job_id = j.id
		WHERE j.id = ? AND j.account_id = ?`, []any{in.JobID, account}, &name, &status, &removed)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", false, &fence.Fault{Location: "job_id", Message: "there is no such job"}, nil
	case status == fence.JobFailed || status == fence.JobCancelled || status == fence.JobCancelling:
		fault = &fence.Fault{Location: "job_id", Message: "that job has no output: it is " + string(status)}
	case removed:
		fault = &fence.Fault{Location: "job_id", Message: "that job's output has been deleted by retention: run that job again"}
	}
	return name, status != fence.JobSucceeded, fault, err
}

func rawOr(raw json.RawMessage, otherwise string) string {
	if len(raw) == 0 || string(raw) == "null" {
		return otherwise
	}
	return string(raw)
}

func rawOrNull(raw json.RawMessage) any {
	return orNull(rawOr(raw, ""))
}
