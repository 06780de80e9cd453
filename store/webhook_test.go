package store_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

// told ends a job whose end url is told of, and answers the webhook's id.
func (f *fixture) told(t *testing.T, url string) string {
	t.Helper()
	job := f.submit(t, func(j *store.NewJob) { j.WebhookURL, j.WebhookEvents = url, []string{"job.cancelled"} })
	_, err := f.Cancel(ctx, job)
	must(t, err)
	return f.delivery(t, store.DeliveryFilter{JobID: job}).ID
}

func (f *fixture) delivery(t *testing.T, filter store.DeliveryFilter) store.DeliveryRow {
	t.Helper()
	filter.Limit = 2
	list, err := f.Deliveries(ctx, filter)
	must(t, err)
	if len(list) != 1 {
		t.Fatalf("%d deliveries", len(list))
	}
	return list[0]
}

func (f *fixture) laneNames(t *testing.T) (names []string) {
	t.Helper()
	lanes, err := f.Lanes(ctx, f.account, 10)
	must(t, err)
	outgoing, err := f.Outgoing(ctx)
	must(t, err)
	if len(lanes) > 0 && (len(outgoing) != 1 || outgoing[0] != store.Outgoing{AccountID: f.account, Due: lanes[0].Due}) || len(lanes) == 0 && len(outgoing) > 0 {
		t.Errorf("outgoing %v, lanes %v", outgoing, lanes)
	}
	for _, l := range lanes {
		first, err := f.FirstOf(ctx, l.Name, 1)
		must(t, err)
		if len(first) != 1 || !first[0].Due.Equal(l.Due) {
			t.Errorf("lane %v begins with %v", l, first)
		}
		names = append(names, l.Name[len(f.account)+1:])
	}
	return names
}

func (f *fixture) tried(t *testing.T, r store.Tried) store.TriedOutcome {
	t.Helper()
	out, err := f.RecordTry(ctx, r)
	must(t, err)
	return out
}

func TestWebhooksOfOneHostStandInOneLane(t *testing.T) {
	f := open(t)
	for _, url := range []string{
		"https://a.test/x", "http://A.test/y?z=/", "http://a.test?to=//b.test/", "http://a.test#part", "http://a.test",
		"http://a.test:8080/", "http://[::1]:80/x", "http://b.test/", "http://b.test/",
	} {
		f.told(t, url)
		f.clock.Advance(time.Second)
	}
	want := []string{"a.test", "a.test:8080", "[::1]:80", "b.test"} // the most urgent first
	if got := f.laneNames(t); !slices.Equal(got, want) {
		t.Errorf("lanes %q, want %q", got, want)
	}
	first, err := f.FirstOf(ctx, f.account+" a.test", 3)
	must(t, err)
	if len(first) != 3 || first[0].URL != "https://a.test/x" || first[2].URL != "http://a.test?to=//b.test/" {
		t.Errorf("the first of a lane are %+v", first)
	}
	for _, d := range first {
		f.tried(t, store.Tried{ID: d.ID})
	}
	if got := f.laneNames(t); !slices.Equal(got, want) {
		t.Errorf("with two left: %q", got)
	}
}

// However much waits, and for however many hosts, the deliverer looks at the
// first rows of its indexes only.
func TestWebhooksThatWaitCostTheOthersNothing(t *testing.T) {
	f := open(t)
	f.told(t, "http://a.test/")
	db := f.raw(t)
	for _, query := range store.OutboxQueries {
		looks := 0
		for _, step := range plan(t, db, query, make([]any, strings.Count(query, "?"))...) {
			switch {
			case strings.HasPrefix(step, "SEARCH") && (strings.Contains(step, "webhook_lanes_due") || strings.Contains(step, "webhook_deliveries_due")):
				looks++
			case step == "SEARCH webhook_lanes USING COVERING INDEX webhook_lanes_due" || strings.Contains(step, "sqlite_autoindex_webhook_deliveries_1 (id=?)"):
			case strings.Contains(step, " w ") || strings.Contains(step, "webhook_") || strings.Contains(step, "RIGHT PART"):
				t.Errorf("not one look: %s\n%s", step, query)
			}
		}
		if looks == 0 {
			t.Errorf("the index is not used: %s", query)
		}
	}
}

// No list walks over what another account's deliveries, or another state's, have
// added to the file.
func TestAListOfDeliveriesWalksOverNobodyElses(t *testing.T) {
	f := open(t)
	db := f.raw(t)
	must(t, exec(db, "ANALYZE"))
	for _, c := range []struct {
		filter store.DeliveryFilter
		index  string
	}{
		{store.DeliveryFilter{State: "pending"}, "SCAN webhook_deliveries USING %s webhook_deliveries_pending"},
		{store.DeliveryFilter{State: "failed"}, "SCAN webhook_deliveries USING %s webhook_deliveries_failed"},
		{store.DeliveryFilter{State: "pending", AccountID: "a"}, "SEARCH webhook_deliveries USING %s webhook_deliveries_pending_of (account_id=?)"},
		{store.DeliveryFilter{State: "failed", AccountID: "a"}, "SEARCH webhook_deliveries USING %s webhook_deliveries_failed_of (account_id=?)"},
		{store.DeliveryFilter{State: "pending", AccountID: "a", Before: "w"}, "SEARCH webhook_deliveries USING %s webhook_deliveries_pending_of (account_id=? AND id<?)"},
		{store.DeliveryFilter{State: "delivered", AccountID: "a", Before: "w"}, "SEARCH webhook_deliveries USING %s webhook_deliveries_account (account_id=? AND id<?)"},
		{store.DeliveryFilter{State: "pending", AccountID: "a", JobID: "j"}, "SEARCH webhook_deliveries USING %s webhook_deliveries_job (job_id=?)"},
	} {
		query, args := c.filter.Query()
		got := plan(t, db, query, args...)
		if len(got) != 1 || got[0] != fmt.Sprintf(c.index, "INDEX") && got[0] != fmt.Sprintf(c.index, "COVERING INDEX") {
			t.Errorf("%+v: %q, want %q", c.filter, got, c.index)
		}
	}
}

// plan is what SQLite means to do, step by step.
func plan(t *testing.T, db *sql.DB, query string, args ...any) (steps []string) {
	t.Helper()
	rows, err := db.Query("EXPLAIN QUERY PLAN "+query, args...)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		must(t, rows.Scan(&id, &parent, &unused, &step))
		steps = append(steps, step)
	}
	must(t, rows.Err())
	return steps
}

func TestATryIsNotedOnce(t *testing.T) {
	f := open(t)
	id := f.told(t, "http://a.test/")
	out := f.tried(t, store.Tried{ID: id, Status: 500, Error: "no"})
	if wait := out.Next.Sub(f.clock.Now()); out.State != "pending" || wait < 4500*time.Millisecond || wait > 5500*time.Millisecond {
		t.Fatalf("after the first try: %+v", out)
	}
	if again := f.tried(t, store.Tried{ID: id}); again.State != "" {
		t.Errorf("the same try was noted twice: %+v", again)
	}
	if d := f.delivery(t, store.DeliveryFilter{State: "pending"}); d.Tries != 1 || *d.LastStatus != 500 || *d.LastError != "no" || !d.NextTryAt.Equal(out.Next) {
		t.Errorf("the delivery is %+v", d)
	}
	if done := f.tried(t, store.Tried{ID: id, Tries: 1, Status: 204}); done.State != "delivered" || !done.Next.IsZero() {
		t.Errorf("taken: %+v", done)
	}
	for tries := range 3 {
		if late := f.tried(t, store.Tried{ID: id, Tries: tries, Error: "no"}); late.State != "" {
			t.Errorf("what is delivered was tried: %+v", late)
		}
	}
	if d := f.delivery(t, store.DeliveryFilter{State: "delivered"}); d.Tries != 2 || *d.LastStatus != 204 || d.LastError != nil || d.NextTryAt != nil || d.DeliveredAt == nil {
		t.Errorf("the delivery is %+v", d)
	}
	_, err := f.Redeliver(ctx, "whd_0")
	refused(t, err, fence.CodeNotFound)
}

// The outbox says that there is something, once the transaction has committed
// that says so, whichever verb it was.
func TestTheOutboxSaysSo(t *testing.T) {
	f := open(t)
	said := func(want bool, what string) {
		t.Helper()
		select {
		case <-f.Outbox():
			if !want {
				t.Errorf("%s: it says so", what)
			}
		default:
			if want {
				t.Errorf("%s: it does not say so", what)
			}
		}
	}
	said(false, "nothing yet")
	f.submit(t)
	said(false, "a submit")
	id := f.told(t, "http://a.test/")
	said(true, "a cancel")
	f.tried(t, store.Tried{ID: id, Error: "no"})
	said(false, "a try")
	_, err := f.Redeliver(ctx, id)
	must(t, err)
	said(true, "a redelivery")
	f.clock.Jump(time.Hour)
	f.submit(t)
	said(true, "a clock that was set")
	deadline := f.clock.Now().Add(time.Minute)
	f.submit(t, func(j *store.NewJob) {
		j.Deadline, j.WebhookURL, j.WebhookEvents = deadline, "http://a.test/", []string{"job.failed"}
	})
	f.clock.Advance(time.Minute)
	_, err = f.Sweep(ctx)
	must(t, err)
	said(true, "a sweep")
}

// F15: a clock that was set moves the next tries with it, also while the server
// was away.
func TestF15_WebhooksMoveWithTheClock(t *testing.T) {
	f := open(t)
	id := f.told(t, "http://a.test/")
	next := f.tried(t, store.Tried{ID: id, Error: "no", RetryAfter: time.Minute}).Next
	f.clock.Jump(-time.Hour)
	f.submit(t)
	if got := f.delivery(t, store.DeliveryFilter{State: "pending"}).NextTryAt; !got.Equal(next.Add(-time.Hour)) {
		t.Errorf("an hour back it is due at %v, want %v", got, next.Add(-time.Hour))
	}
	f.laneNames(t)
	must(t, f.Close())
	f.clock.Jump(-48 * time.Hour)
	f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
	if wait := f.delivery(t, store.DeliveryFilter{State: "pending"}).NextTryAt.Sub(f.clock.Now()); wait > 11*time.Hour {
		t.Errorf("after an absence it waits for %v", wait)
	}
	f.laneNames(t)
}

func TestRetryAfterIsBounded(t *testing.T) {
	f := open(t)
	for asked, want := range map[time.Duration]time.Duration{0: 5 * time.Second, time.Second: 5 * time.Second, 10 * time.Minute: 10 * time.Minute, 1000 * time.Hour: time.Hour} {
		out := f.tried(t, store.Tried{ID: f.told(t, "http://a.test/"), Error: "no", RetryAfter: asked})
		if wait := out.Next.Sub(f.clock.Now()); wait < want*9/10 || wait > want*11/10 {
			t.Errorf("asked for %v it waits %v, want %v", asked, wait, want)
		}
	}
}

func TestTenTriesAndNoMore(t *testing.T) {
	f := open(t)
	id := f.told(t, "http://a.test/")
	var total time.Duration
	for tries := range 10 {
		out := f.tried(t, store.Tried{ID: id, Tries: tries, Error: fmt.Sprint("no ", tries)})
		if last := tries == 9; last != (out.State == "failed") || last != out.Next.IsZero() {
			t.Fatalf("after try %d: %+v", tries+1, out)
		}
		if !out.Next.IsZero() {
			total += out.Next.Sub(f.clock.Now())
		}
	}
	if total < 21*time.Hour || total > 27*time.Hour {
		t.Errorf("ten tries take %v, want about a day", total)
	}
	if got := f.laneNames(t); got != nil {
		t.Errorf("lanes of what has failed: %q", got)
	}
	gone := f.told(t, "http://a.test/")
	if out := f.tried(t, store.Tried{ID: gone, Status: 410, Error: "gone", Gone: true}); out.State != "failed" {
		t.Errorf("gone: %+v", out)
	}
}
