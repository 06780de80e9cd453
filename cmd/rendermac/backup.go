package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"rendermac/server"
	"rendermac/store"
)

func backupCommand(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the database while the server runs",
		Long: "Writes a consistent copy of the database of the server on this machine, running or not, and checks it\n" +
			"whole. A folder gets a file named by the time. The copy holds signing keys: keep it as safe as\n" +
			"admin.key. The media are not in it: they are in the store. `rendermac restore` puts it back;\n" +
			"backup.every in the config makes copies on a schedule.",
		Example: "  rendermac backup /Volumes/Safe/rendermac.db\n  rendermac backup /Volumes/Safe",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.config(nil)
			if err != nil {
				return err
			}
			target, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if info, err := os.Stat(target); err == nil && info.IsDir() {
				target = filepath.Join(target, server.BackupFile(time.Now()))
			}
			bytes, err := store.Backup(cmd.Context(), filepath.Join(c.Data, "rendermac.db"), target)
			if err != nil {
				return err
			}
			made := struct {
				File  string `json:"file"`
				Bytes int64  `json:"bytes"`
			}{target, bytes}
			return show(cmd, made, func(w io.Writer) error {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s, checked.\n", size(bytes))
				_, err := fmt.Fprintln(w, target)
				return err
			})
		},
	})
}
