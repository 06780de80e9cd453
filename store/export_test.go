package store

import (
	"context"
	"errors"
	"slices"
	"time"
)

// LoseABatch runs a batch whose transaction is lost.
func LoseABatch(db *DB) error {
	return db.w.do(context.Background(), func(t *tx) error { return t.failed(errors.New("the disk went away")) })
}

// CommitEachAlone makes the writer commit every closure by itself: what group
// commit is measured against.
func CommitEachAlone(db *DB) { db.w.limit = 1 }

// OutboxQueries are what the deliverer asks all the time.
var OutboxQueries = []string{outgoingQuery, lanesQuery, firstOfQuery, firstIntoLane}

// Query is how a list of deliveries is asked for.
func (f DeliveryFilter) Query() (string, []any) {
	where, args := f.query()
	return "SELECT id FROM webhook_deliveries " + where, args
}

// Submit is SubmitOnce for a request that comes once.
func (db *DB) Submit(ctx context.Context, jobs ...NewJob) ([]string, error) {
	made, err := db.SubmitOnce(ctx, Once{}, jobs...)
	return made.IDs, err
}

// CreateUpload is CreateUploadOnce for a request that comes once.
func (db *DB) CreateUpload(ctx context.Context, n NewUpload) (Upload, error) {
	u, _, err := db.CreateUploadOnce(ctx, Once{}, n)
	return u, err
}

// Triggers is the SQL of the database's own guard.
func Triggers() string {
	text, err := schema.ReadFile("schema/triggers.sql")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// SetEventStretch changes how many ids one read looks at, and gives back how
// many it was.
func SetEventStretch(n int64) (before int64) {
	before, eventStretch = eventStretch, n
	return before
}

// FirstJobID is where the ids of an instant begin.
func FirstJobID(at time.Time) string { return firstID(ms(at)) }

// RetentionQueries are all that retention asks.
func RetentionQueries() (all []string) {
	for _, k := range []FileKind{Outputs, Uploads, OpenUploads} {
		all = append(all, k.page, k.users, k.remove, k.total)
	}
	for _, k := range []RowKind{Logs, Events, Deliveries} {
		all = append(all, k.page, k.remove)
	}
	return slices.DeleteFunc(all, func(q string) bool { return q == "" })
}

// LatelyQuery is Lately's.
func LatelyQuery() string { return latelyQuery }

// OverviewQueries are all that the overview asks of jobs and their runs.
var OverviewQueries = []string{
	liveRunsQuery, placesQuery, readingQuery, waitingQuery, queuedQuery, queuedOfQuery, endedQuery, workedQuery, workedOfQuery, typicalQuery,
}

// Ways are what a page of a list may be asked for by: for each index that fits, how
// far its window reaches, and what of the window fits the whole filter.
func (f JobFilter) Ways() (queries []string, args [][]any) {
	l := listing{f: f, low: "job_", high: "job_~"}
	for _, w := range l.walks() {
		l.walk = w
		window, ids := w.between(l.low, l.high)
		page, more := l.query()
		queries, args = append(queries, window+" LIMIT 1 OFFSET 999", page), append(args, ids, more)
	}
	return queries, args
}
