package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rendermac/fence"
	"rendermac/store/storetest"
)

const schemaOf = `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY sql`

// A database of every released schema becomes what a fresh one is, with a copy
// of itself as it was beside it.
func TestEveryReleasedSchemaIsUpgraded(t *testing.T) {
	steps, err := filepath.Glob("schema/0*.sql")
	must(t, err)
	want := column(t, open(t).raw(t), schemaOf)
	for version := 1; version < len(steps); version++ {
		f := &fixture{clock: storetest.NewClock(), dir: t.TempDir()}
		db := rawAt(t, f.dir)
		for _, step := range steps[:version] {
			text, err := os.ReadFile(step)
			must(t, err)
			must(t, exec(db, string(text)))
		}
		must(t, exec(db, fmt.Sprintf("PRAGMA user_version = %d", version)))
		must(t, exec(db, "INSERT INTO accounts (id, name, webhook_secret, created_at) VALUES ('acc_1', 'before', 'whsec_', 1)"))
		must(t, db.Close())
		f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
		f.account = storetest.MustAccount(t, f.DB)
		f.upload = storetest.MustUpload(t, f.DB, f.account)
		f.mac = storetest.MustDevice(t, f.DB)
		f.committing(t)
		if got := column(t, f.raw(t), schemaOf); !slices.Equal(got, want) {
			t.Errorf("from version %d: %q, want %q", version, got, want)
		}
		copied := rawFile(t, filepath.Join(f.dir, fmt.Sprintf("rendermac.db.before-v%d", version+1)))
		if v := column(t, copied, "PRAGMA user_version"); v[0] != fmt.Sprint(version) {
			t.Errorf("the copy is of version %s, want %d", v[0], version)
		}
	}
}

// Version 1 forgot what it had not discarded: the upgrade notes all of it.
func TestF16_TheUpgradeNotesWhatVersion1LeftBehind(t *testing.T) {
	f := open(t)
	failed, live := f.uploading(t), f.uploading(t)
	_, err := f.Fail(ctx, failed, fence.RunnerFailed, "")
	must(t, err)
	want, err := f.Discards(ctx, "", 10)
	must(t, err)
	db := f.raw(t)
	for _, query := range []string{"DROP TABLE discards", "DROP TABLE settlements", "PRAGMA user_version = 1"} {
		must(t, exec(db, query))
	}
	must(t, db.Close())
	f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
	got, err := f.Discards(ctx, "", 10)
	must(t, err)
	if len(got) != 1 || !slices.Equal(got, want) {
		t.Errorf("to discard: %v, want %v and not %s's", got, want, live.AttemptID)
	}
}
