package main

import (
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
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, ids []string) error {
			return eachJob(cmd, ids, func(id string) (*api.Job, error) { return client.Cancel(cmd.Context(), id) },
				func(job *api.Job) string { return job.ID + " " + job.Status })
		}),
	})
}
