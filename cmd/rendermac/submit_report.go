package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rendermac/api"
)

// report prints each result as soon as it and those before it are there, or at
// the end where bars are on the screen. Then it says how to go on.
func (s *submission) report(cmd *cobra.Command, outcomes []*outcome) error {
	if s.board.bars != nil {
		for _, o := range outcomes {
			<-o.done
		}
		s.board.close()
	}
	for _, o := range outcomes {
		<-o.done
		if err := o.print(cmd, s); err != nil {
			return err
		}
	}
	if ctx := cmd.Context(); ctx.Err() != nil && s.cancelOnInterrupt {
		for _, o := range outcomes {
			if !s.wait && o.job != nil { // where it waits, each was cancelled as the wait ended
				o.err = s.cancel(ctx, o)
			}
		}
	}
	s.sum(cmd.ErrOrStderr(), outcomes)
	return verdict(outcomes)
}

// sum says what became of several files, and what can be done about the rest.
func (s *submission) sum(out io.Writer, outcomes []*outcome) {
	if len(outcomes) > 1 && s.wait {
		printOutcomes(out, outcomes)
	}
	for _, o := range outcomes {
		if o.path != "" {
			noteExtension(out, o.job, o.path)
		}
	}
	var goOn, left []string
	for _, o := range outcomes {
		switch {
		case o.err == errGoesOn:
			goOn = append(goOn, o.job.ID)
		case o.job == nil:
			left = append(left, o.argument())
		}
	}
	if len(goOn) > 0 {
		id, what, into := "ID", "them", ""
		if len(goOn) == 1 {
			id, what = goOn[0], "it"
		}
		if s.out != "" {
			into = " -o " + shellWord(s.out)
		}
		fmt.Fprintf(out, "Get %s later: rendermac jobs download %s%s; stop %s: rendermac jobs cancel %s\n", what, id, clean(into), what, strings.Join(goOn, " "))
	}
	if len(left) > 0 && len(outcomes) > 1 {
		fmt.Fprintf(out, "To submit what is left, with the same flags: rendermac submit %s\n", clean(strings.Join(left, " ")))
	}
}

// printOutcomes is a table of what became of each file.
func printOutcomes(out io.Writer, outcomes []*outcome) {
	rows := [][]string{{"FILE", "STATUS", "TOOK", "SIZE", "JOB"}}
	tally := map[string]int{}
	for _, o := range outcomes {
		row := []string{o.label(), o.word(), "–", "–", "–"}
		if o.job != nil {
			row[4] = o.job.ID
			if o.job.FinishedAt != nil {
				row[2] = duration(o.job.FinishedAt.Sub(o.job.CreatedAt))
			}
			if o.job.Artifact != nil {
				row[3] = size(o.job.Artifact.Bytes)
			}
		}
		tally[row[1]]++
		rows = append(rows, row)
	}
	fit(rows, 0, len(rows[0]), widthOf(out))
	_ = printTable(out, rows[0], rows[1:]) // what cannot be said on stderr is lost
	var parts []string
	for word, n := range tally {
		parts = append(parts, fmt.Sprintf("%d %s", n, word))
	}
	slices.Sort(parts)
	fmt.Fprintf(out, "%s: %s\n", count(len(outcomes), "file"), strings.Join(parts, ", "))
}

// verdict is how the command ends: every file's fault, those of one reason in
// one line.
func verdict(outcomes []*outcome) error {
	var all faults
	files := map[string][]string{}
	for _, o := range outcomes {
		fault := o.fault()
		if fault == nil {
			continue
		}
		reason := fault.Error()
		if files[reason] = append(files[reason], o.label()); len(files[reason]) == 1 {
			all = append(all, fault)
		}
	}
	for i, fault := range all {
		all[i] = codedf(codeOf(fault), "%s: %w", some(files[fault.Error()]), fault)
	}
	return all.err()
}

// argument is what names the file on a command line.
func (o *outcome) argument() string {
	if o.shared {
		return "--path " + shellWord(o.file)
	}
	return shellWord(o.file)
}

// word is what became of the file, in one word or two.
func (o *outcome) word() string {
	switch {
	case o.job == nil:
		return "not submitted"
	case o.job.Status == api.JobSucceeded && o.err != nil:
		return "not saved"
	case o.err != nil && codeOf(o.err) == exitJobCancelled:
		return api.JobCancelling
	}
	return o.job.Status
}
