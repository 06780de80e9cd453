package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"rendermac/api"
	"rendermac/config"
)

func dashboardCommand(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "dashboard",
		Short: "Print a link that signs you in to the dashboard",
		Long: "Prints a link that opens the dashboard in a browser, signed in as the key that this command uses.\n" +
			"It works once, for 15 minutes; the browser stays signed in for 30 days.",
		Example: "  rendermac dashboard\n  open \"$(rendermac dashboard)\"",
		Args:    cobra.NoArgs,
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, _ []string) error {
			link, err := client.CreateSignIn(cmd.Context())
			if err != nil {
				return err
			}
			return show(cmd, link, func(w io.Writer) error {
				fmt.Fprintf(cmd.ErrOrStderr(), "Open this in a browser. It signs in once, until %s.\n", link.ExpiresAt.Local().Format("15:04"))
				_, err := fmt.Fprintln(w, clean(link.URL))
				return err
			})
		}),
	})
}

// signIn is a link to the dashboard that signs in as the admin key which this start
// has made.
func (p *plant) signIn(ctx context.Context, c *config.Config) (string, error) {
	key, err := p.db.KeyByPlaintext(ctx, p.adminKey)
	if err != nil {
		return "", err
	}
	link, err := p.db.CreateSignIn(ctx, key.ID)
	if err != nil {
		return "", err
	}
	base := p.url
	if c.PublicURL != "" {
		base = strings.TrimSuffix(c.PublicURL, "/")
	}
	return base + "/sign-in#" + link.Token, nil
}
