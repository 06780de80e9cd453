package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rendermac/api"
)

func jobsCommand(g *globals) *cobra.Command {
	list := jobsListCommand(g)
	cmd := &cobra.Command{
		Use:     "jobs",
		Short:   "List, show, cancel and download jobs",
		Example: "  rendermac jobs\n  rendermac jobs show job_01kbd3m8q5w9x2c7e4r6t8y0za",
		Args:    cobra.NoArgs,
		RunE:    list.RunE,
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, jobsShowCommand(g), jobsCancelCommand(g), jobsDownloadCommand(g))
	return cmd
}

func jobsListCommand(g *globals) *cobra.Command {
	var status string
	var limit int
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List jobs, newest first",
		Example: "  rendermac jobs list --status queued,active\n  rendermac jobs list --json",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&status, "status", "", "only these, with commas between: queued, active, verifying, cancelling, succeeded, failed, cancelled")
	cmd.Flags().IntVar(&limit, "limit", 50, "how many, at most 500")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if limit < 1 || limit > 500 {
			return usagef("--limit must be 1 to 500")
		}
		client, err := g.client()
		if err != nil {
			return err
		}
		page, err := client.Jobs(cmd.Context(), status, limit, "")
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), page)
		}
		if page.NextCursor != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "These are the newest %d; more with --limit.\n", len(page.Items))
		}
		return printJobs(cmd.OutOrStdout(), page.Items, status)
	}
	return cmd
}

func jobsShowCommand(g *globals) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "Show a job with its attempts",
		Example: "  rendermac jobs show job_01kbd3m8q5w9x2c7e4r6t8y0za",
		Args:    cobra.MatchAll(cobra.ExactArgs(1), jobIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, job, err := g.job(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), job)
			}
			if note := idleNote(cmd.Context(), client, &job.JobItem); note != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "Queued%s.\n", note)
			}
			return printJob(cmd.OutOrStdout(), job)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// job asks the server for one job.
func (g *globals) job(ctx context.Context, id string) (*api.Client, *api.Job, error) {
	client, err := g.client()
	if err != nil {
		return nil, nil, err
	}
	job, err := client.Job(ctx, id)
	return client, job, err
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
