package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"rendermac/api"
)

func accountsCommand(g *globals) *cobra.Command {
	return listing(&cobra.Command{
		Use:   "accounts",
		Short: "List and make accounts, and see what they have spent",
		Long: "An account owns jobs, uploads and keys. What a job costs is held while it runs, spent once it has\n" +
			"succeeded, and free again if it ends otherwise; held and spent together never pass the credit limit.",
		Example: "  rendermac accounts\n  rendermac accounts create acme --credit-limit 500\n  rendermac accounts journal acme",
	}, accountsListCommand(g), accountsCreateCommand(g), accountsSetCommand(g), accountsSecretCommand(g), accountsJournalCommand(g))
}

func accountsListCommand(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:     "list",
		Short:   "List the accounts",
		Example: "  rendermac accounts list --json",
		Args:    cobra.NoArgs,
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, _ []string) error {
			accounts, err := client.Accounts(cmd.Context())
			if err != nil {
				return err
			}
			return show(cmd, api.List[api.Account]{Items: accounts}, func(w io.Writer) error { return printAccounts(w, accounts...) })
		}),
	})
}

func printAccounts(w io.Writer, accounts ...api.Account) error {
	var rows [][]string
	for _, a := range accounts {
		rows = append(rows, []string{a.ID, a.Name, credits(a.Held), credits(a.Spent), limitOf(a.CreditLimit)})
	}
	return printTable(w, []string{"ID", "NAME", "HELD", "SPENT", "LIMIT"}, rows)
}

func credits(n int64) string { return strconv.FormatInt(n, 10) }

const noLimit = "none"

func limitOf(limit *int64) string {
	if limit == nil {
		return noLimit
	}
	return credits(*limit)
}

// parseLimit reads --credit-limit; nil is no limit.
func parseLimit(text string) (*int64, error) {
	if text == noLimit {
		return nil, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return nil, usagef("--credit-limit must be a whole number of credits, or none")
	}
	return &n, nil
}

func accountsCreateCommand(g *globals) *cobra.Command {
	var limit string
	cmd := withJSON(&cobra.Command{
		Use:     "create NAME",
		Short:   "Make an account",
		Long:    "Makes an account. It has no key yet: make one with rendermac keys create.",
		Example: "  rendermac accounts create acme --credit-limit 500",
		Args:    cobra.ExactArgs(1),
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, args []string) error {
			creditLimit, err := parseLimit(limit)
			if err != nil {
				return err
			}
			a, err := client.CreateAccount(cmd.Context(), api.AccountRequest{Name: args[0], CreditLimit: creditLimit})
			if err != nil {
				return err
			}
			return show(cmd, a, func(w io.Writer) error {
				fmt.Fprintln(cmd.ErrOrStderr(), "The webhook secret is shown only now; whoever receives this account's webhooks needs it. Make a key next: rendermac keys create.")
				_, err := fmt.Fprintf(w, "id              %s\nwebhook secret  %s\n", clean(a.ID), clean(a.WebhookSecret))
				return err
			})
		}),
	})
	cmd.Flags().StringVar(&limit, "credit-limit", noLimit, "how many credits its jobs may hold and spend, or none")
	return cmd
}

// accountID takes an account by its id, or asks an admin's server which has the name.
func accountID(ctx context.Context, client *api.Client, idOrName string) (string, error) {
	if strings.HasPrefix(idOrName, "acc_") {
		return idOrName, nil
	}
	accounts, err := client.Accounts(ctx)
	if err != nil {
		return "", err
	}
	for _, a := range accounts {
		if a.Name == idOrName {
			return a.ID, nil
		}
	}
	return "", fmt.Errorf("there is no account %s: rendermac accounts lists them", cmp.Or(idOrName, "without a name"))
}
