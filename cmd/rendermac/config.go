package main

import (
	"cmp"
	"io"

	"github.com/spf13/cobra"

	"rendermac/config"
)

func configCommand(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "config",
		Short: "Show the effective config with the source of each value",
		Long: "Shows every setting as it takes effect here, and whether a flag, the environment, a file or the\n" +
			"default says so; last, where client commands find their server. Secrets are masked.",
		Example: "  rendermac config\n  RENDERMAC_LEASE_TTL=2m rendermac config --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.config(nil)
			if err != nil {
				return err
			}
			server, err := config.FindServer(g.server, g.options())
			if err != nil {
				return err
			}
			values := append(c.Values, server.Values...)
			return show(cmd, values, func(w io.Writer) error {
				var rows [][]string
				for _, v := range values {
					rows = append(rows, []string{v.Name, cmp.Or(v.Text, "–"), v.Source})
				}
				return printTable(w, []string{"KEY", "VALUE", "SOURCE"}, rows)
			})
		},
	})
}
