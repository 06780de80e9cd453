package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rendermac/fence"
)

//go:embed schema/*.sql
var schema embed.FS

// migrate brings the file to this build's version, one transaction a step. The
// version is SQLite's own user_version: the number of the last step.
func migrate(ctx context.Context, c *conn, path string, fresh bool) error {
	steps, err := fs.Glob(schema, "schema/0*.sql")
	if err != nil {
		return err
	}
	slices.Sort(steps)
	var version int
	if err := c.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("read the version of the database %s: %w", path, err)
	}
	if version > len(steps) {
		return &fence.Error{Code: CodeNewerDatabase, Message: fmt.Sprintf(
			"the database %s is of version %d and this build knows %d: install the newer RenderMac that made it, or restore a backup of this one", path, version, len(steps))}
	}
	if version == len(steps) {
		return nil
	}
	if !fresh {
		if err := copyBeside(ctx, c, path, version); err != nil {
			return err
		}
	}
	for n := version; n < len(steps); n++ {
		if err := step(ctx, c, steps[n], n+1); err != nil {
			return fmt.Errorf("migrate the database to version %d: %w", n+1, err)
		}
	}
	return nil
}

// copyBeside keeps the file as it was before a migration.
func copyBeside(ctx context.Context, c *conn, path string, version int) error {
	target := fmt.Sprintf("%s.before-v%d", path, version+1)
	if err := os.Remove(target); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("back up the database before its migration: %w", err)
	}
	if _, err := c.ExecContext(ctx, "VACUUM INTO ?", target); err != nil {
		return fmt.Errorf("back up the database before its migration: %w", err)
	}
	return os.Chmod(target, 0o600)
}

// step applies one file. Foreign keys are off while tables are rebuilt, and
// checked whole before the COMMIT; triggers are made anew.
func step(ctx context.Context, c *conn, file string, version int) (err error) {
	exec := func(query string) error { _, err := c.ExecContext(ctx, query); return err }
	if err := exec("PRAGMA foreign_keys=OFF"); err != nil {
		return err
	}
	defer exec("PRAGMA foreign_keys=ON")
	if err := exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = exec("ROLLBACK")
		}
	}()
	if err := dropTriggers(ctx, c); err != nil {
		return err
	}
	for _, name := range []string{file, "schema/triggers.sql"} {
		text, err := schema.ReadFile(name)
		if err != nil {
			return err
		}
		if err := exec(string(text)); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
	}
	if err := foreignKeysHold(ctx, c); err != nil {
		return err
	}
	if err := exec(fmt.Sprintf("PRAGMA user_version=%d", version)); err != nil {
		return err
	}
	return exec("COMMIT")
}

func dropTriggers(ctx context.Context, c *conn) error {
	rows, err := c.QueryContext(ctx, "SELECT name FROM sqlite_schema WHERE type = 'trigger'")
	if err != nil {
		return err
	}
	defer rows.Close()
	var drop strings.Builder
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		fmt.Fprintf(&drop, "DROP TRIGGER %q;", name)
	}
	if err := rows.Err(); err != nil || drop.Len() == 0 {
		return err
	}
	rows.Close()
	_, err = c.ExecContext(ctx, drop.String())
	return err
}

func foreignKeysHold(ctx context.Context, c *conn) error {
	rows, err := c.QueryContext(ctx, "PRAGMA foreign_key_check")
	if err != nil {
		return err
	}
	defer rows.Close()
	if rows.Next() {
		return fmt.Errorf("a row points at nothing")
	}
	return rows.Err()
}
