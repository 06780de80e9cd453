package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"rendermac/api"
)

func accountsJournalCommand(g *globals) *cobra.Command {
	var limit int
	cmd := withJSON(&cobra.Command{
		Use:     "journal ACCOUNT",
		Short:   "Show an account's movements of credits",
		Long:    "Shows the movements of the account with this id or name, newest first, and what it holds, has spent and may still use.",
		Example: "  rendermac accounts journal acme\n  rendermac accounts journal acc_01kbd3m8q5w9x2c7e4r6t8y0za --json",
		Args:    cobra.ExactArgs(1),
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, args []string) error {
			if limit < 1 || limit > 500 {
				return usagef("--limit must be 1 to 500")
			}
			id, err := accountID(cmd.Context(), client, args[0])
			if err != nil {
				return err
			}
			j, err := client.Journal(cmd.Context(), id, limit, "")
			if err != nil {
				return err
			}
			return show(cmd, j, func(w io.Writer) error {
				if j.NextCursor != nil {
					fmt.Fprintf(cmd.ErrOrStderr(), "These are the newest %d; more with --limit.\n", len(j.Items))
				}
				return printJournal(w, j)
			})
		}),
	})
	cmd.Flags().IntVar(&limit, "limit", 50, "how many, at most 500")
	return cmd
}

func printJournal(w io.Writer, j *api.Journal) error {
	left := "without limit"
	if n := j.Balances.Available; n != nil {
		left = credits(*n)
	}
	fmt.Fprintf(w, "held       %s\nspent      %s\navailable  %s\n", credits(j.Balances.Held), credits(j.Balances.Spent), left)
	if len(j.Items) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	var rows [][]string
	for _, m := range j.Items {
		rows = append(rows, []string{stamp(&m.At), m.Kind, credits(m.Amount), m.Debit + " → " + m.Credit, credits(m.Held), credits(m.Spent), orDash(m.JobID)})
	}
	return printTable(w, []string{"AT", "KIND", "CREDITS", "MOVED", "HELD", "SPENT", "JOB"}, rows)
}
