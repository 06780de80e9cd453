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

	"rendermac/failpoint"
)

//go:embed schema/*.sql
var schema embed.FS

// migrate brings the file to this build's version, one transaction a step. The
// version is SQLite's own user_version: the number of the last step.
func migrate(ctx context.Context, c *conn, path string) error {
	steps := schemaSteps()
	version, err := versionOf(ctx, c, path)
	if err != nil {
		return err
	}
	if version < len(steps) {
		if err := copyBeside(ctx, c, path, version); err != nil {
			return fmt.Errorf("back up the database before its migration: %w", err)
		}
	}
	for n := version; n < len(steps); n++ {
		if err := step(ctx, c, steps[n], n+1); err != nil {
			return fmt.Errorf("migrate the database to version %d: %w", n+1, err)
		}
	}
	if err := within(ctx, c, guard); err != nil {
		return fmt.Errorf("guard the database: %w", err)
	}
	return nil
}

// schemaSteps are the files, in order: as many as there are versions.
func schemaSteps() []string {
	steps, err := fs.Glob(schema, "schema/0*.sql")
	if err != nil { // only a wrong pattern gets here
		panic(err)
	}
	slices.Sort(steps)
	return steps
}

// copyBeside keeps the file as it was before a migration, unless it holds
// nothing yet: a first start that was cut off leaves such a one.
func copyBeside(ctx context.Context, c *conn, path string, version int) error {
	holds := "SELECT EXISTS (SELECT 1 FROM accounts)"
	if version == 0 {
		holds = "SELECT EXISTS (SELECT 1 FROM sqlite_schema)"
	}
	var something bool
	if err := c.QueryRowContext(ctx, holds).Scan(&something); err != nil || !something {
		return err
	}
	target := fmt.Sprintf("%s.before-v%d", path, version+1)
	if err := os.Remove(target); err != nil && !os.IsNotExist(err) {
		return err
	}
	ClearPartial(filepath.Dir(path), func(name string) bool { return name == filepath.Base(target) }) // of a start that was cut off here
	_, err := Backup(ctx, path, target)
	return err
}

// step applies one file. Foreign keys are off while tables are rebuilt, and
// checked whole before the COMMIT; the triggers do not watch over it.
func step(ctx context.Context, c *conn, file string, version int) error {
	if err := c.exec(ctx, "PRAGMA foreign_keys=OFF"); err != nil {
		return err
	}
	defer c.exec(ctx, "PRAGMA foreign_keys=ON")
	return within(ctx, c, func(ctx context.Context, c *conn) error {
		if err := dropTriggers(ctx, c); err != nil {
			return err
		}
		if err := c.execFile(ctx, file); err != nil {
			return err
		}
		if err := foreignKeysHold(ctx, c); err != nil {
			return err
		}
		return c.exec(ctx, fmt.Sprintf("PRAGMA user_version=%d", version))
	})
}

// guard makes the triggers anew, so that each start has those of its build.
func guard(ctx context.Context, c *conn) error {
	if err := dropTriggers(ctx, c); err != nil {
		return err
	}
	return c.execFile(ctx, "schema/triggers.sql")
}

func within(ctx context.Context, c *conn, fn func(context.Context, *conn) error) error {
	if err := c.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := fn(ctx, c)
	if err == nil {
		failpoint.At("store.migrate.commit.before")
		err = c.exec(ctx, "COMMIT")
		failpoint.At("store.migrate.commit.after")
	}
	if err != nil {
		_ = c.exec(ctx, "ROLLBACK")
	}
	return err
}

func (c *conn) exec(ctx context.Context, query string) error {
	_, err := c.ExecContext(ctx, query)
	return err
}

func (c *conn) execFile(ctx context.Context, name string) error {
	text, err := schema.ReadFile(name)
	if err != nil {
		return err
	}
	if err := c.exec(ctx, string(text)); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return nil
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
	return c.exec(ctx, drop.String())
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
