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

// summary is the last thing said of the file while it is worked on.
func (o *outcome) summary() string {
	switch {
	case o.err != nil:
		return o.err.Error()
	case o.path != "":
		return fmt.Sprintf("verified, %s: %s", size(o.job.Artifact.Bytes), o.path)
	case o.job.FailureMessage != nil:
		return o.job.Status + ": " + *o.job.FailureMessage
	case !o.job.Ended():
		return "submitted as " + o.job.ID
	}
	return o.job.Status
}

// fault is what makes the command fail for this file, or nil.
func (o *outcome) fault() error {
	switch {
	case o.err != nil:
		return o.err
	case o.job.Status == api.JobFailed:
		return codedf(exitJobFailed, "job %s failed: %s: %s", o.job.ID, orDash(o.job.FailureCode), orDash(o.job.FailureMessage))
	case o.job.Status == api.JobCancelled:
		return codedf(exitJobCancelled, "job %s was cancelled", o.job.ID)
	}
	return nil
}

// verdict is how the command ends: what broke on the way weighs more than a
// failed job, and that more than a cancelled one.
func verdict(outcomes []*outcome) error {
	worst, faults := error(nil), 0
	for _, o := range outcomes {
		fault := o.fault()
		if fault == nil {
			continue
		}
		faults++
		if worst == nil || codeOf(fault) < codeOf(worst) {
			worst = fault
		}
	}
	if faults < 2 {
		return worst
	}
	return codedf(codeOf(worst), "%d of %d files did not make it, one because %w", faults, len(outcomes), worst)
}
