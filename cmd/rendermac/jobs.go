package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"rendermac/api"
)

func jobsCommand(g *globals) *cobra.Command {
	return listing(&cobra.Command{
		Use:     "jobs",
		Short:   "List, show, watch, cancel, retry and download jobs",
		Example: "  rendermac jobs\n  rendermac jobs show job_01kbd3m8q5w9x2c7e4r6t8y0za",
	}, jobsListCommand(g), jobsShowCommand(g), jobsWatchCommand(g), jobsLogCommand(g), jobsCancelCommand(g), jobsRetryCommand(g), jobsPriorityCommand(g), jobsDownloadCommand(g))
}

func jobsShowCommand(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:     "show ID",
		Short:   "Show a job with its attempts",
		Example: "  rendermac jobs show job_01kbd3m8q5w9x2c7e4r6t8y0za",
		Args:    cobra.MatchAll(cobra.ExactArgs(1), jobIDs),
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, args []string) error {
			job, err := client.Job(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return show(cmd, job, func(w io.Writer) error {
				return printJob(w, job, waitsFor(cmd.Context(), client, &job.JobItem))
			})
		}),
	})
}

// jobIDs finds arguments that cannot be ids.
func jobIDs(_ *cobra.Command, args []string) error {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "job_") {
			return fmt.Errorf("%q is no job id", arg)
		}
	}
	return nil
}
