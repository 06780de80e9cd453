package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"rendermac/api"
)

func accountsSetCommand(g *globals) *cobra.Command {
	var name, limit string
	cmd := withJSON(&cobra.Command{
		Use:     "set ACCOUNT",
		Short:   "Change an account's name or credit limit",
		Long:    "Changes what its flags name, of the account with this id or name. A limit below what is held and spent only stops new work.",
		Example: "  rendermac accounts set acme --credit-limit 800\n  rendermac accounts set acme --credit-limit none --name acme-ltd",
		Args:    cobra.ExactArgs(1),
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, args []string) error {
			var change api.AccountChange
			if cmd.Flags().Changed("name") {
				change.Name = &name
			}
			if cmd.Flags().Changed("credit-limit") {
				creditLimit, err := parseLimit(limit)
				if err != nil {
					return err
				}
				change.CreditLimit = &creditLimit
			}
			if change == (api.AccountChange{}) {
				return usagef("say what to change: --name, --credit-limit")
			}
			id, err := accountID(cmd.Context(), client, args[0])
			if err != nil {
				return err
			}
			a, err := client.ChangeAccount(cmd.Context(), id, change)
			if err != nil {
				return err
			}
			return show(cmd, a, func(w io.Writer) error { return printAccounts(w, *a) })
		}),
	})
	cmd.Flags().StringVar(&name, "name", "", "its new name")
	cmd.Flags().StringVar(&limit, "credit-limit", "", "how many credits its jobs may hold and spend, or none")
	return cmd
}

func accountsSecretCommand(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:     "webhook-secret ACCOUNT",
		Short:   "Make a new webhook secret",
		Long:    "Makes a new secret for the webhooks of the account with this id or name. For 24 h the one before signs beside it.",
		Example: "  rendermac accounts webhook-secret acme",
		Args:    cobra.ExactArgs(1),
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, args []string) error {
			id, err := accountID(cmd.Context(), client, args[0])
			if err != nil {
				return err
			}
			a, err := client.ReplaceWebhookSecret(cmd.Context(), id)
			if err != nil {
				return err
			}
			return show(cmd, a, func(w io.Writer) error {
				fmt.Fprintln(cmd.ErrOrStderr(), "This secret is shown only now. For 24 h the one before signs beside it: bring the receivers over meanwhile.")
				_, err := fmt.Fprintln(w, clean(a.WebhookSecret))
				return err
			})
		}),
	})
}
