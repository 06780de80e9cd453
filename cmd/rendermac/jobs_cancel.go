package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"rendermac/api"
)

func jobsCancelCommand(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "cancel ID…",
		Short: "Cancel jobs",
		Long: "Cancels jobs. One that runs is cancelling until its device has stopped; it cannot succeed any more.\n" +
			"Every id is tried; the exit code is 1 if one could not be cancelled, as where it has already ended.",
		Example: "  rendermac jobs cancel job_01kbd3m8q5w9x2c7e4r6t8y0za",
		Args:    cobra.MatchAll(cobra.MinimumNArgs(1), jobIDs),
		RunE:    g.asking(cancelJobs),
	})
}

// cancelJobs tries every id; each that fails is a fault of its own.
func cancelJobs(cmd *cobra.Command, client *api.Client, ids []string) error {
	var failed faults
	for _, id := range ids {
		job, err := client.Cancel(cmd.Context(), id)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", id, err))
			continue
		}
		err = show(cmd, job, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s %s\n", clean(job.ID), clean(job.Status))
			return err
		})
		if err != nil {
			return err
		}
	}
	return failed.err()
}
