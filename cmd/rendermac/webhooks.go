package main

import (
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"rendermac/api"
)

func webhooksCommand(g *globals) *cobra.Command {
	return listing(&cobra.Command{
		Use:     "webhooks",
		Short:   "List webhooks and send them again",
		Example: "  rendermac webhooks --state failed\n  rendermac webhooks redeliver whd_01kbd3m8q5w9x2c7e4r6t8y0za",
	}, webhooksListCommand(g), webhooksRedeliverCommand(g))
}

func webhooksListCommand(g *globals) *cobra.Command {
	var state string
	var limit int
	cmd := withJSON(&cobra.Command{
		Use:     "list",
		Short:   "List webhooks, newest first",
		Example: "  rendermac webhooks list --state pending\n  rendermac webhooks list --json",
		Args:    cobra.NoArgs,
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, _ []string) error {
			if limit < 1 || limit > 500 {
				return usagef("--limit must be 1 to 500")
			}
			page, err := client.Deliveries(cmd.Context(), state, limit)
			if err != nil {
				return err
			}
			return show(cmd, page, func(w io.Writer) error {
				if page.NextCursor != nil {
					fmt.Fprintf(cmd.ErrOrStderr(), "These are the newest %d; more with --limit.\n", len(page.Items))
				}
				return printDeliveries(w, page.Items)
			})
		}),
	})
	cmd.Flags().StringVar(&state, "state", "", "only those pending, delivered or failed")
	cmd.Flags().IntVar(&limit, "limit", 50, "how many, at most 500")
	return cmd
}

func printDeliveries(w io.Writer, list []api.Delivery) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "No such webhooks. A job asks for them with: rendermac submit FILE --webhook URL")
		return err
	}
	var rows [][]string
	for _, d := range list {
		last := "–"
		switch {
		case d.LastError != nil:
			last = *d.LastError
		case d.LastStatus != nil:
			last = strconv.Itoa(*d.LastStatus)
		}
		rows = append(rows, []string{d.ID, d.Type, d.JobID, receiver(d.URL), d.State, strconv.Itoa(d.Tries), ago(time.Now(), &d.CreatedAt), last})
	}
	return printTable(w, []string{"ID", "TYPE", "JOB", "RECEIVER", "STATE", "TRIES", "QUEUED", "LAST ANSWER"}, rows)
}

// receiver is a webhook's host: the rest of its URL may hold a secret.
func receiver(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "–"
	}
	return u.Host
}

func webhooksRedeliverCommand(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:     "redeliver ID",
		Short:   "Send a webhook again",
		Long:    "Sends a webhook again, whatever has come of it so far: with the same id and body, ten tries, the first one now.",
		Example: "  rendermac webhooks redeliver whd_01kbd3m8q5w9x2c7e4r6t8y0za",
		Args:    cobra.ExactArgs(1),
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, args []string) error {
			d, err := client.Redeliver(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return show(cmd, d, func(io.Writer) error {
				_, err := fmt.Fprintf(cmd.ErrOrStderr(), "%s goes to %s again.\n", clean(d.ID), clean(receiver(d.URL)))
				return err
			})
		}),
	})
}
