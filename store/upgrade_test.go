package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"
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
	f.downgrade(t, 1)
	f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
	got, err := f.Discards(ctx, "", 10)
	must(t, err)
	if len(got) != 1 || !slices.Equal(got, want) {
		t.Errorf("to discard: %v, want %v and not %s's", got, want, live.AttemptID)
	}
}

// downgrade makes of the fixture's database what an earlier build would have
// left: its schema, with the rows that have a place in it.
func (f *fixture) downgrade(t *testing.T, version int) {
	t.Helper()
	must(t, f.Close())
	newer := filepath.Join(f.dir, "rendermac.db")
	must(t, os.Rename(newer, newer+".newer"))
	db := rawAt(t, f.dir)
	steps, err := filepath.Glob("schema/0*.sql")
	must(t, err)
	for _, step := range steps[:version] {
		text, err := os.ReadFile(step)
		must(t, err)
		must(t, exec(db, string(text)))
	}
	must(t, exec(db, fmt.Sprintf("PRAGMA user_version = %d; PRAGMA foreign_keys = OFF; ATTACH '%s.newer' AS newer", version, newer)))
	for _, table := range column(t, db, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`) {
		columns := strings.Join(column(t, db, `SELECT name FROM pragma_table_info('`+table+`')`), ", ")
		must(t, exec(db, fmt.Sprintf("DELETE FROM %s; INSERT INTO %s (%s) SELECT %s FROM newer.%s", table, table, columns, columns, table)))
	}
	must(t, db.Close())
	must(t, os.Remove(newer+".newer"))
}

// What was held and spent before balances were kept is found out once.
func TestTheUpgradeFindsTheBalances(t *testing.T) {
	f := open(t)
	histories(t, f)
	want := f.ask(t, everyMovement)
	f.downgrade(t, 2)
	f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
	if got := f.ask(t, everyMovement); !slices.Equal(got, want) || len(got) < 6 {
		t.Errorf("after the upgrade the journal is %q, want %q", got, want)
	}
	f.submit(t, func(j *store.NewJob) { j.Credits = 1 })
}

// What was to be sent before lanes had rows of their own stands in them.
func TestTheUpgradeFindsTheLanes(t *testing.T) {
	f := open(t)
	for _, url := range []string{"http://a.test/", "http://b.test/", "http://a.test/x"} {
		f.told(t, url)
		f.clock.Advance(time.Second)
	}
	f.tried(t, store.Tried{ID: f.told(t, "http://done.test/")})
	want := f.laneNames(t)
	f.downgrade(t, 3)
	f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
	if got := f.laneNames(t); !slices.Equal(got, want) || len(got) != 2 {
		t.Errorf("after the upgrade the lanes are %q, want %q", got, want)
	}
}
