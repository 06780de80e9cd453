package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"rendermac/api"
)

func jobsRetryCommand(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "retry ID…",
		Short: "Submit jobs that have ended once more",
		Long: "Submits the request of each job once more, without its deadline. The new jobs' ids go to stdout.\n" +
			"Every id is tried; the exit code is 1 if one could not be retried, as where it has not ended.",
		Example: "  rendermac jobs retry job_01kbd3m8q5w9x2c7e4r6t8y0za",
		Args:    cobra.MatchAll(cobra.MinimumNArgs(1), jobIDs),
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, ids []string) error {
			return eachJob(cmd, ids, func(id string) (*api.Job, error) { return client.Retry(cmd.Context(), id) },
				func(job *api.Job) string { return job.ID })
		}),
	})
}

func jobsPriorityCommand(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:     "priority ID N",
		Short:   "Change the priority of a queued job",
		Long:    "Changes the priority of a queued job, -100 to 100; higher goes first. Write -- before a negative one.",
		Example: "  rendermac jobs priority job_01kbd3m8q5w9x2c7e4r6t8y0za 50\n  rendermac jobs priority -- job_01kbd3m8q5w9x2c7e4r6t8y0za -50",
		Args:    cobra.MatchAll(cobra.ExactArgs(2), func(cmd *cobra.Command, args []string) error { return jobIDs(cmd, args[:1]) }),
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, args []string) error {
			priority, err := strconv.Atoi(args[1])
			if err != nil || priority < -100 || priority > 100 {
				return usagef("the priority must be -100 to 100")
			}
			return eachJob(cmd, args[:1], func(id string) (*api.Job, error) { return client.Prioritize(cmd.Context(), id, priority) },
				func(job *api.Job) string { return fmt.Sprintf("%s priority %d", job.ID, job.Priority) })
		}),
	})
}

func jobsLogCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:     "log ID [N]",
		Short:   "Print what is kept of an attempt's log",
		Long:    "Prints the kept tail, at most 64 KiB, of the log of a job's attempt N; of its newest one without N.",
		Example: "  rendermac jobs log job_01kbd3m8q5w9x2c7e4r6t8y0za\n  rendermac jobs log job_01kbd3m8q5w9x2c7e4r6t8y0za 1",
		Args:    cobra.MatchAll(cobra.RangeArgs(1, 2), func(cmd *cobra.Command, args []string) error { return jobIDs(cmd, args[:1]) }),
		RunE:    g.asking(printLog),
	}
}

func printLog(cmd *cobra.Command, client *api.Client, args []string) error {
	attempt := 0
	if len(args) > 1 {
		var err error
		if attempt, err = strconv.Atoi(args[1]); err != nil || attempt < 1 {
			return usagef("the attempt must be a number from 1")
		}
	} else {
		job, err := client.Job(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		if attempt = len(job.Attempts); attempt == 0 {
			return fmt.Errorf("job %s has no attempt yet: it is %s", job.ID, job.Status)
		}
	}
	text, err := client.Log(cmd.Context(), args[0], attempt)
	if err != nil {
		return err
	}
	return printLines(cmd.OutOrStdout(), string(text))
}

// eachJob tries every id; each that fails is a fault of its own.
func eachJob(cmd *cobra.Command, ids []string, do func(id string) (*api.Job, error), line func(*api.Job) string) error {
	var failed faults
	for _, id := range ids {
		job, err := do(id)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", id, err))
			continue
		}
		err = show(cmd, job, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, clean(line(job)))
			return err
		})
		if err != nil {
			return err
		}
	}
	return failed.err()
}
