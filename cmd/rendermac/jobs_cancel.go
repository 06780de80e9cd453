package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"rendermac/api"
)

func jobsCancelCommand(g *globals) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "cancel ID…",
		Short: "Cancel jobs",
		Long: "Cancels jobs. One that runs is cancelling until its device has stopped; it cannot succeed any more.\n" +
			"Every id is tried; the exit code is 1 if one could not be cancelled, as where it has already ended.",
		Example: "  rendermac jobs cancel job_01kbd3m8q5w9x2c7e4r6t8y0za",
		Args:    cobra.MatchAll(cobra.MinimumNArgs(1), jobIDs),
		RunE: func(cmd *cobra.Command, ids []string) error {
			client, err := g.client()
			if err != nil {
				return err
			}
			return cancelJobs(cmd, client, ids, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// cancelJobs tries every id; each that fails is a fault of its own.
func cancelJobs(cmd *cobra.Command, client *api.Client, ids []string, asJSON bool) error {
	var failed faults
	for _, id := range ids {
		job, err := client.Cancel(cmd.Context(), id)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", id, err))
			continue
		}
		if asJSON {
			err = printJSON(cmd.OutOrStdout(), job)
		} else {
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", clean(job.ID), clean(job.Status))
		}
		if err != nil {
			return err
		}
	}
	return failed.err()
}
