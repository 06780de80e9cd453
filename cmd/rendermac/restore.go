package main

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"rendermac/store"
)

// restoredView is what restore prints as JSON.
type restoredView struct {
	Database string    `json:"database"`
	BackupOf time.Time `json:"backup_of"` // the last moment that the backup knows
	Aside    *string   `json:"aside"`     // where the database of before is
	Warning  *string   `json:"warning"`
}

func restoreCommand(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup in the place of the database of a stopped server",
		Long: "Checks the backup, then puts it in the place of the database, which is moved aside. A file that is\n" +
			"refused changes nothing. The first start afterwards ends every run that was live in the backup, and\n" +
			"tries it again; what was revoked since stays revoked. Files in the store are not touched.",
		Example: "  rendermac restore /Volumes/backup/rendermac-2026-12-02.db\n  rendermac restore backup.db --data /srv/rendermac --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.config(nil)
			if err != nil {
				return err
			}
			release, err := lockData(c.Data)
			if err != nil {
				return err
			}
			defer release()
			view := restoredView{Database: filepath.Join(c.Data, "rendermac.db")}
			done, err := store.Restore(cmd.Context(), args[0], view.Database, wallClock())
			if err != nil {
				return err
			}
			view.BackupOf = done.BackupOf
			if done.Aside != "" {
				view.Aside = &done.Aside
			}
			if done.Unread != nil {
				text := fmt.Sprintf("the database of before could not be read (%v): what was revoked since the backup is revoked only as far as the file revoked says so", done.Unread)
				view.Warning = &text
			}
			return show(cmd, view, view.print)
		},
	})
}

func (v restoredView) print(w io.Writer) error {
	fmt.Fprintf(w, "Restored: the database is as it was at %s.\n", v.BackupOf.Local().Format(time.RFC3339))
	if v.Aside != nil {
		fmt.Fprintf(w, "The one of before is in %s; remove it once all is well.\n", clean(*v.Aside))
	}
	if v.Warning != nil {
		fmt.Fprintf(w, "Note: %s.\n", clean(*v.Warning))
	}
	_, err := fmt.Fprintln(w, "Now start the server: rendermac serve. If the key in admin.key does not work with this backup, that start makes a new one.\nMacs that were paired after the backup pair again.")
	return err
}
