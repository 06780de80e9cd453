package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"rendermac/api"
)

func gcCommand(g *globals) *cobra.Command {
	var dry bool
	cmd := withJSON(&cobra.Command{
		Use:   "gc",
		Short: "Remove what is older, or more, than is to be kept",
		Long: "Removes what the keys under `retention` in the server's config no longer want to keep, the oldest first, and\n" +
			"says what that was. The server does so by itself every hour. What a live job needs stays, however old.\n" +
			"Needs an admin key.",
		Example: "  rendermac gc --dry-run\n  rendermac gc --json",
		Args:    cobra.NoArgs,
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, _ []string) error {
			report, err := client.GC(cmd.Context(), dry)
			if err != nil {
				return err
			}
			return show(cmd, report, func(w io.Writer) error { return printGC(w, report) })
		}),
	})
	cmd.Flags().BoolVar(&dry, "dry-run", false, "remove nothing, only say what would go")
	return cmd
}

func printGC(w io.Writer, r *api.GC) error {
	files := func(name string, f api.Freed, rules string) []string {
		return []string{name, strconv.FormatInt(f.Count, 10), size(f.Bytes), rules}
	}
	rows := func(name string, n int64, rule string) []string {
		return []string{name, strconv.FormatInt(n, 10), "–", rule}
	}
	head := "REMOVED"
	if r.DryRun {
		head = "WOULD GO"
	}
	err := printTable(w, []string{head, "COUNT", "BYTES", "BY"}, [][]string{
		files("outputs", r.Outputs, "retention.outputs, retention.outputs_max_bytes"),
		files("uploads", r.Uploads, "retention.uploads, retention.uploads_max_bytes"),
		files("open uploads", r.OpenUploads, "retention.uploads"),
		rows("logs", r.Logs, "retention.logs"),
		rows("events", r.Events, "retention.events"),
		rows("deliveries", r.Deliveries, "retention.deliveries"),
	})
	if err != nil {
		return err
	}
	total := r.Outputs.Bytes + r.Uploads.Bytes + r.OpenUploads.Bytes
	if r.DryRun {
		_, err = fmt.Fprintf(w, "\n%s would be freed. Nothing was removed.\n", size(total))
	} else {
		_, err = fmt.Fprintf(w, "\n%s were freed.\n", size(total))
	}
	return err
}
