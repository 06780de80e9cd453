package main

import (
	"io"

	"github.com/spf13/cobra"

	"rendermac/api"
)

// asking is the work of a command that begins with a client of the server.
func (g *globals) asking(work func(cmd *cobra.Command, client *api.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		client, err := g.client()
		if err != nil {
			return err
		}
		return work(cmd, client, args)
	}
}

// withJSON gives a command that prints data its flag for it.
func withJSON(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().Bool("json", false, "print JSON")
	return cmd
}

// asJSON tells whether the user wants JSON.
func asJSON(cmd *cobra.Command) bool {
	yes, _ := cmd.Flags().GetBool("json") // a command without the flag prints none
	return yes
}

// show prints data: as JSON where that is asked for, else as people read it.
func show(cmd *cobra.Command, data any, people func(io.Writer) error) error {
	if asJSON(cmd) {
		return printJSON(cmd.OutOrStdout(), data)
	}
	return people(cmd.OutOrStdout())
}

// listing is a command that lists when it is given nothing else to do.
func listing(cmd, list *cobra.Command, others ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.RunE = list.Args, list.RunE
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(append([]*cobra.Command{list}, others...)...)
	return cmd
}
