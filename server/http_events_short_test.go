package server

import (
	"database/sql"
	"slices"
	"testing"

	"rendermac/api"
	"rendermac/store"
)

// An account's few events, with a long history of another's between them: pages come short, or
// empty, and lead on until all are there.
func TestEvents_ShortPagesLeadOn(t *testing.T) {
	h := mustServeOf(t, func(o *store.Options) {
		raw, err := sql.Open("sqlite", o.Path)
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close()
		for _, query := range []string{
			`INSERT INTO events (id, at, type, account_id, data) SELECT 1000 + value, 0, 'job.queued', (SELECT id FROM accounts WHERE name = 'studio'), '{}' FROM json_each('[1, 2, 3]')`,
			`WITH RECURSIVE k (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < 20)
				INSERT INTO events (id, at, type, account_id, data) SELECT 2000 + n * 100000, 0, 'job.queued', 'acc_other', '{}' FROM k`, // each is further than one read looks
		} {
			if _, err := raw.Exec(query); err != nil {
				t.Fatal(err)
			}
		}
	})
	h.mustSubmit(h.submit) // its event is the newest
	var ids []int64
	short := 0
	for cursor := ""; ; {
		page := into[api.List[api.Event]](h.get("/v1/events?limit=2"+cursor, h.read).is(200))
		for _, e := range page.Items {
			ids = append(ids, *e.ID)
		}
		if page.NextCursor == nil {
			break
		}
		if len(page.Items) < 2 {
			short++
		}
		if short > 9 {
			t.Fatalf("%d pages led on, and nothing came: %v", short, ids)
		}
		cursor = "&cursor=" + *page.NextCursor
	}
	if len(ids) != 4 || !slices.Equal(ids[1:], []int64{1003, 1002, 1001}) || short == 0 {
		t.Errorf("the account's events are %v, after %d short pages", ids, short)
	}
}
