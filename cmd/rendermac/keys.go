package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"rendermac/api"
)

func keysCommand(g *globals) *cobra.Command {
	return listing(&cobra.Command{
		Use:   "keys",
		Short: "List, make and revoke API keys",
		Long: "A key belongs to an account and has a scope: read sees the account's jobs, submit also makes and\n" +
			"cancels them, admin may do everything in every account.",
		Example: "  rendermac keys\n  rendermac keys create ci --account acme --scope submit",
	}, keysListCommand(g), keysCreateCommand(g), keysRevokeCommand(g))
}

func keysListCommand(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:     "list",
		Short:   "List the keys, without their secrets",
		Example: "  rendermac keys list --json",
		Args:    cobra.NoArgs,
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, _ []string) error {
			keys, err := client.Keys(cmd.Context())
			if err != nil {
				return err
			}
			return show(cmd, api.List[api.Key]{Items: keys}, func(w io.Writer) error {
				names, err := accountNames(cmd.Context(), client)
				if err != nil {
					return err
				}
				return printKeys(w, keys, names)
			})
		}),
	})
}

func accountNames(ctx context.Context, client *api.Client) (map[string]string, error) {
	accounts, err := client.Accounts(ctx)
	names := map[string]string{}
	for _, a := range accounts {
		names[a.ID] = a.Name
	}
	return names, err
}

func printKeys(w io.Writer, keys []api.Key, names map[string]string) error {
	var rows [][]string
	for _, k := range keys {
		rows = append(rows, []string{k.ID, k.Name, names[k.AccountID], k.Scope, ago(time.Now(), &k.CreatedAt), ago(time.Now(), k.RevokedAt)})
	}
	return printTable(w, []string{"ID", "NAME", "ACCOUNT", "SCOPE", "MADE", "REVOKED"}, rows)
}

var scopes = []string{"read", "submit", "admin"}

func keysCreateCommand(g *globals) *cobra.Command {
	var account, scope string
	cmd := withJSON(&cobra.Command{
		Use:     "create NAME",
		Short:   "Make a key",
		Long:    "Makes a key and prints it, this once. NAME says what or who uses it.",
		Example: "  rendermac keys create ci --account acme --scope submit\n  RENDERMAC_API_KEY=$(rendermac keys create laptop --account studio --scope admin)",
		Args:    cobra.ExactArgs(1),
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, args []string) error {
			if !slices.Contains(scopes, scope) {
				return usagef("--scope must be read, submit or admin")
			}
			id, err := accountID(cmd.Context(), client, account)
			if err != nil {
				return err
			}
			key, err := client.CreateKey(cmd.Context(), api.KeyRequest{Name: args[0], AccountID: id, Scope: scope})
			if err != nil {
				return err
			}
			return show(cmd, key, func(w io.Writer) error {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s has the scope %s in %s. It is shown only now: keep it as a secret.\n", clean(key.ID), scope, clean(account))
				_, err := fmt.Fprintln(w, clean(key.Plaintext))
				return err
			})
		}),
	})
	cmd.Flags().StringVar(&account, "account", "studio", "the id or name of the account that it belongs to")
	cmd.Flags().StringVar(&scope, "scope", "submit", "what it may do: read, submit or admin")
	return cmd
}

func keysRevokeCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "End a key for good",
		Long: "Ends a key, and the dashboard's sessions that it has opened. Jobs that it has made go on.\n" +
			"The last admin key cannot be revoked: make another one first.",
		Example: "  rendermac keys revoke key_01kbd3m8q5w9x2c7e4r6t8y0za",
		Args:    cobra.ExactArgs(1),
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, args []string) error {
			if err := client.RevokeKey(cmd.Context(), args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.ErrOrStderr(), "%s is revoked.\n", clean(args[0]))
			return err
		}),
	}
}
