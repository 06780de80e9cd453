package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"rendermac/api"
)

// outcome is how far one file of a submit has come. Its fields are read once
// done is closed.
type outcome struct {
	file   string
	shared bool       // it is ROOT/FILE under a shared root
	others []*outcome // the files that are joined to it, which only have a name
	done   chan struct{}
	job    *api.Job // nil until it was submitted
	path   string   // where the result was written
	err    error
}

// label names the file, or those of one job, in a sentence.
func (o *outcome) label() string {
	names := []string{o.file}
	for _, other := range o.others {
		names = append(names, other.file)
	}
	return some(names)
}

// print writes the result to stdout: the path where there is one, else the id.
func (o *outcome) print(cmd *cobra.Command, s *submission) (err error) {
	w := cmd.OutOrStdout()
	switch {
	case asJSON(cmd):
		err = o.printJSON(w)
	case o.job == nil:
	case o.path != "":
		_, err = fmt.Fprintln(w, clean(o.path))
	case s.out == "":
		_, err = fmt.Fprintln(w, clean(o.job.ID))
	}
	return err
}

// printJSON is one line for each file, whatever became of it.
func (o *outcome) printJSON(w io.Writer) error {
	line := struct {
		*api.Job
		File  string  `json:"file"`
		Path  *string `json:"path"`
		Error *string `json:"error"`
	}{o.job, o.file, given(o.path), nil}
	if fault := o.fault(); fault != nil {
		line.Error = new(fault.Error())
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(line)
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
		return o.err
	case o.job.Status == api.JobFailed:
		return codedf(exitJobFailed, "%s (%s, job %s)", orDash(o.job.FailureMessage), orDash(o.job.FailureCode), o.job.ID)
	case o.job.Status == api.JobCancelled:
		return codedf(exitJobCancelled, "the job was cancelled (job %s)", o.job.ID)
	}
	return nil
}
