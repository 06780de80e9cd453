package main

import (
	"encoding/json"
	"fmt"
	"io"

	"rendermac/api"
)

// outcome is how far one file of a submit has come.
type outcome struct {
	file string
	job  *api.Job // nil until it was submitted
	path string   // where the result was written
	err  error
}

// print writes the result to stdout: the path where there is one, else the id.
func (o *outcome) print(w io.Writer, s *submission) (err error) {
	switch {
	case o.job == nil:
	case s.json:
		var text []byte
		if text, err = json.Marshal(o.job); err == nil {
			_, err = fmt.Fprintf(w, "%s\n", text)
		}
	case o.path != "":
		_, err = fmt.Fprintln(w, clean(o.path))
	case s.out == "":
		_, err = fmt.Fprintln(w, clean(o.job.ID))
	}
	return err
}

// summary is the last thing said of the file while it is worked on: where
// something is wrong only a word, for the command's end says the rest.
func (o *outcome) summary() string {
	switch {
	case o.path != "":
		return fmt.Sprintf("verified, %s: %s", size(o.job.Artifact.Bytes), o.path)
	case o.job == nil:
		return "not submitted"
	case o.job.Status == api.JobSucceeded && o.err != nil:
		return "succeeded, but not saved"
	case o.job.Ended():
		return o.job.Status
	case o.err != nil && codeOf(o.err) == exitJobCancelled:
		return api.JobCancelling
	case o.err != nil && o.job.Status == api.JobQueued:
		return "still queued"
	case o.err != nil:
		return "still running"
	}
	return "submitted as " + o.job.ID
}

// fault is what makes the command fail for this file, or nil.
func (o *outcome) fault() error {
	switch {
	case o.err != nil:
		return codedf(codeOf(o.err), "%s: %w", o.file, o.err)
	case o.job.Status == api.JobFailed:
		return codedf(exitJobFailed, "%s: %s (%s, job %s)", o.file, orDash(o.job.FailureMessage), orDash(o.job.FailureCode), o.job.ID)
	case o.job.Status == api.JobCancelled:
		return codedf(exitJobCancelled, "%s: the job was cancelled (job %s)", o.file, o.job.ID)
	}
	return nil
}

// verdict is how the command ends: every file's fault.
func verdict(outcomes []*outcome) error {
	var all faults
	for _, o := range outcomes {
		if fault := o.fault(); fault != nil {
			all = append(all, fault)
		}
	}
	return all.err()
}
