package store_test

import (
	"fmt"
	"testing"
	"time"

	"rendermac/store"
	"rendermac/store/storetest"
)

const movements = 300_000

// BenchmarkPricedSubmit compares submits to an account with a long journal and
// a limit with those to one that has none: the balance is read, not added up.
func BenchmarkPricedSubmit(b *testing.B) {
	empty, long := open(b), open(b)
	long.submit(b, costs(1))
	must(b, long.Close())
	db := rawAt(b, long.dir)
	for _, trigger := range column(b, db, `SELECT name FROM sqlite_schema WHERE type = 'trigger'`) {
		must(b, exec(db, "DROP TRIGGER "+trigger))
	}
	must(b, exec(db, fmt.Sprintf(`WITH RECURSIVE k (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM k WHERE n < %d)
		INSERT INTO journals SELECT n, at, account_id, job_id, kind, debit, credit, amount, n, 0 FROM k, journals`, movements)))
	must(b, db.Close())
	long.DB = storetest.MustOpen(b, storetest.Options(long.dir, long.clock))
	limit := new(int64(1_000_000_000))
	for _, f := range []*fixture{empty, long} {
		_, err := f.ChangeAccount(ctx, f.account, store.AccountChange{CreditLimit: &limit})
		must(b, err)
	}
	var spent [2]time.Duration
	rounds := 0
	for b.Loop() { // in turns, so that a busy moment hits both
		for i, f := range []*fixture{empty, long} {
			start := time.Now()
			f.submit(b, costs(1))
			spent[i] += time.Since(start)
		}
		rounds++
	}
	b.ReportMetric(float64(spent[0].Microseconds())/float64(rounds), "empty_µs/submit")
	b.ReportMetric(float64(spent[1].Microseconds())/float64(rounds), "long_µs/submit")
	b.ReportMetric(float64(spent[1])/float64(spent[0]), "long/empty")
}
