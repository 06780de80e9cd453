package server

import (
	"database/sql"
	"fmt"
	"testing"

	"rendermac/store"
)

// mustOwe is a server with an account, besides its own, that has n webhooks to
// send, each to a host of its own where nobody listens.
func mustOwe(t testing.TB, n int) *httpServer {
	t.Helper()
	return mustServeOf(t, func(o *store.Options) {
		raw, err := sql.Open("sqlite", "file:"+o.Path+"?_pragma=synchronous(off)")
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close()
		raw.SetMaxOpenConns(1)
		for _, query := range []string{
			`INSERT INTO accounts (id, name, webhook_secret, created_at) VALUES ('acc_hog', 'hog', 'whsec_aGVsbG8gaGVsbG8gaGVsbG8gaGVsbG8=', 0)`,
			fmt.Sprintf(`WITH RECURSIVE k (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < %d)
				INSERT INTO webhook_deliveries (id, account_id, job_id, url, type, body, state, next_try_at, created_at)
				SELECT 'whd_' || printf('%%09d', n), 'acc_hog', 'job_', printf('http://127.%%d.%%d.%%d:1/', 1 + (n >> 16), n >> 8 & 255, n & 255), 'job.failed', '{}', 'pending', n, 0 FROM k`, n),
			`INSERT INTO webhook_lanes SELECT lane, account_id, min(next_try_at) FROM webhook_deliveries WHERE state = 'pending' GROUP BY lane`,
		} {
			if _, err := raw.Exec(query); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
		}
	}, private)
}

// A buyer who has named more hosts than anybody could look through in time costs
// the others nothing: one look, a few rows, and they are told.
func TestWebhook_HowManyHostsABuyerNamesIsNobodyElsesMatter(t *testing.T) {
	h := mustOwe(t, 200_000)
	lanes, err := h.db.Lanes(t.Context(), "acc_hog", lanesAtOnce)
	if err != nil || len(lanes) != lanesAtOnce {
		t.Fatalf("%d lanes, %v", len(lanes), err)
	}
	r := mustReceive(t, nil)
	j := h.mustTell(r.url)
	h.deliver()
	r.hears(1)
	if d := h.delivery(j.ID); d.State != "delivered" {
		t.Errorf("the delivery is %+v", d)
	}
	first, err := h.db.FirstOf(t.Context(), lanes[0].Name, 1)
	if err != nil || len(first) != 1 || first[0].Tries != 1 {
		t.Errorf("the hog's first is %+v, %v", first, err)
	}
}

// A place that falls free is for whoever has the fewest: accounts that would fill
// all of them for ever leave the others theirs.
func TestWebhook_APlaceThatFallsFreeIsNotTheHogsAgain(t *testing.T) {
	h := mustOwe(t, 100)
	d := h.srv.deliverer
	for i := range triesAtOnce - triesAtOnceAccount { // of accounts that are as many
		d.flying[fmt.Sprint(i)] = true
	}
	d.accounts["acc_hog"] = triesAtOnceAccount - 1
	for i := range triesAtOnceAccount - 1 {
		d.flying[fmt.Sprint("hog", i)] = true
	}
	r := mustReceive(t, nil) // one place is left, and the hog has waited for longer
	h.mustTell(r.url)
	h.deliver()
	r.hears(1)
	if first, err := h.db.FirstOf(t.Context(), "acc_hog 127.1.0.1:1", 1); err != nil || len(first) != 1 || first[0].Tries != 0 {
		t.Errorf("the hog's first is %+v, %v", first, err)
	}
}

// BenchmarkLook is one look for webhooks that are due while one account has them
// pending for ever more hosts.
func BenchmarkLook(b *testing.B) {
	for _, n := range []int{1, 1_000, 300_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			h := mustOwe(b, n)
			d := h.srv.deliverer
			d.accounts["acc_hog"] = triesAtOnceAccount - 1 // one place, that is never taken: the row is under way already
			lanes, err := h.db.Lanes(b.Context(), "acc_hog", lanesAtOnce)
			if err != nil {
				b.Fatal(err)
			}
			for _, l := range lanes {
				d.lanes[l.Name] = triesAtOnceLane
			}
			for b.Loop() {
				if _, err := d.look(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
