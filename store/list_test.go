package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

// pages gathers a list page by page, and says how many pages there were.
func (f *fixture) pages(t *testing.T, filter store.JobFilter) (ids []string, n int) {
	t.Helper()
	for n = 1; ; n++ {
		page, err := f.Jobs(ctx, filter)
		must(t, err)
		for _, j := range page.Jobs {
			ids = append(ids, j.ID)
		}
		if page.Next == "" {
			return ids, n
		}
		if filter.Before != "" && page.Next >= filter.Before {
			t.Fatalf("%+v: after %s comes %s", filter, filter.Before, page.Next)
		}
		filter.Before = page.Next
	}
}

// A page that would have to look through too much is short, and no job is
// missing or there twice once all pages have been seen.
func TestList_ShortPagesMissNothing(t *testing.T) {
	f := open(t)
	db := f.raw(t)
	must(t, exec(db, "INSERT INTO accounts (id, name, webhook_secret, created_at) VALUES ('acc_b', 'b', 'whsec_', 1)"))
	f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
	f.mac = storetest.MustDevice(t, f.DB)
	theirs := storetest.MustUpload(t, f.DB, "acc_b")
	job := func(account, service string, n int) store.NewJob {
		j := storetest.Job(account, map[string]string{f.account: f.upload, "acc_b": theirs}[account])
		j.Service, j.Labels = service, map[string]string{"n": fmt.Sprint(n)}
		return j
	}
	var jobs []store.NewJob
	add := func(n int, account, service string) {
		for range n {
			jobs = append(jobs, job(account, service, len(jobs)))
		}
	}
	add(1, "acc_b", "x")
	add(2100, f.account, "x")
	add(2100, "acc_b", "y")
	ids, err := f.Submit(ctx, jobs...)
	must(t, err)
	for _, i := range []int{5, 3000} {
		_, err := f.Cancel(ctx, ids[i])
		must(t, err)
	}
	offer := storetest.MustLease(t, f.DB, f.mac)
	pick := func(fits func(i int) bool) (want []string) {
		for i := range ids {
			if fits(i) {
				want = append(want, ids[i])
			}
		}
		slices.Reverse(want)
		return want
	}
	for _, c := range []struct {
		filter store.JobFilter
		fits   func(i int) bool
		pages  int
	}{
		{store.JobFilter{Limit: 500}, func(int) bool { return true }, 9},
		{store.JobFilter{Limit: 50, Service: "x", AccountID: "acc_b"}, func(i int) bool { return i == 0 }, 2},
		{store.JobFilter{Limit: 50, Service: "x", AccountID: f.account, Labels: [][2]string{{"n", "17"}}}, func(i int) bool { return i == 17 }, 3},
		{store.JobFilter{Limit: 50, Labels: [][2]string{{"n", "0"}}}, func(i int) bool { return i == 0 }, 5},
		{store.JobFilter{Limit: 50, Query: "nothing like it"}, func(int) bool { return false }, 5},
		{store.JobFilter{Limit: 50, AccountID: "acc_b", Query: "2999"}, func(i int) bool { return i == 2999 }, 3},
		{store.JobFilter{Limit: 50, Statuses: []string{"cancelled"}}, func(i int) bool { return i == 5 || i == 3000 }, 1},
		{store.JobFilter{Limit: 50, Statuses: []string{"cancelled", "failed"}, AccountID: "acc_b"}, func(i int) bool { return i == 3000 }, 1},
		{store.JobFilter{Limit: 500, Statuses: []string{"queued", "cancelled"}, Service: "y"}, func(i int) bool { return i > 2100 }, 5},
		{store.JobFilter{Limit: 50, DeviceID: f.mac.DeviceID}, func(i int) bool { return ids[i] == offer.JobID }, 1},
		{store.JobFilter{Limit: 50, Statuses: []string{"active"}}, func(i int) bool { return ids[i] == offer.JobID }, 1},
		{store.JobFilter{Limit: 50, Statuses: []string{"succeeded"}}, func(int) bool { return false }, 5},
	} {
		got, n := f.pages(t, c.filter)
		if want := pick(c.fits); !slices.Equal(got, want) || n != c.pages {
			t.Errorf("%+v lists %d jobs on %d pages, want %d on %d", c.filter, len(got), n, len(want), c.pages)
		}
	}
	// A cursor names no job of another account.
	page, err := f.Jobs(ctx, store.JobFilter{Limit: 50, Service: "x", AccountID: "acc_b"})
	must(t, err)
	if len(page.Jobs) != 0 || strings.TrimSuffix(page.Next, "0") != ids[0] {
		t.Errorf("the page has %d jobs and goes on at %s, want at %s", len(page.Jobs), page.Next, ids[0])
	}
}

// Whatever narrows a list, it is walked in the order of its ids by an index that
// begins with what narrows it: nothing is sorted, and no table is read through.
func TestList_GoesByIndexes(t *testing.T) {
	f := open(t)
	db := f.raw(t)
	live, lost := []string{"queued", "active", "verifying", "cancelling"}, []string{"failed", "cancelled"}
	now := f.clock.Now()
	for _, c := range []struct {
		filter store.JobFilter
		lead   []string // the indexes that may be walked, and by what
	}{
		{store.JobFilter{}, nil},
		{store.JobFilter{Before: "job_1"}, nil},
		{store.JobFilter{Statuses: []string{"succeeded"}}, nil},
		{store.JobFilter{Statuses: []string{"active"}}, []string{"jobs_live (status=? AND id>? AND id<?)"}},
		{store.JobFilter{Statuses: slices.Concat(live, lost)}, []string{"jobs_live (status=? AND id>? AND id<?)", "jobs_lost (status=? AND id>? AND id<?)"}},
		{store.JobFilter{Statuses: lost, AccountID: "a"}, []string{"jobs_account (account_id=? AND id>? AND id<?)", "jobs_lost_of (account_id=? AND status=? AND id>? AND id<?)"}},
		{store.JobFilter{AccountID: "a"}, []string{"jobs_account (account_id=? AND id>? AND id<?)"}},
		{store.JobFilter{Service: "s"}, []string{"jobs_service (service=? AND id>? AND id<?)"}},
		{store.JobFilter{DeviceID: "d"}, []string{"job_attempts_device (device_id=? AND job_id>? AND job_id<?)"}},
		{store.JobFilter{Query: "interview", Labels: [][2]string{{"client", "acme"}}}, nil},
		{
			store.JobFilter{AccountID: "a", Service: "s", DeviceID: "d", Statuses: live, Query: "x", Labels: [][2]string{{"a", "b"}}, Since: now, Until: now},
			[]string{"jobs_account (account_id=? AND id>? AND id<?)", "jobs_service (service=? AND id>? AND id<?)", "job_attempts_device (device_id=? AND job_id>? AND job_id<?)", "jobs_live (status=? AND id>? AND id<?)"},
		},
	} {
		var walked []string
		queries, args := c.filter.Ways()
		for i, query := range queries {
			steps := plan(t, db, query, args[i]...)
			for _, step := range steps {
				scan := strings.HasPrefix(step, "SCAN ") && !strings.Contains(step, "VIRTUAL TABLE") && !strings.HasPrefix(step, "SCAN c") && step != "SCAN CONSTANT ROW"
				if scan || strings.Contains(step, "TEMP B-TREE") || strings.Contains(step, "AUTOMATIC") {
					t.Errorf("%+v: %s: %q", c.filter, query, steps)
				}
				walked = append(walked, step)
			}
		}
		for _, lead := range append(c.lead, "sqlite_autoindex_jobs_1 (id>? AND id<?)") {
			if !slices.ContainsFunc(walked, func(step string) bool { return strings.HasSuffix(step, lead) }) {
				t.Errorf("%+v is not walked by %s: %q", c.filter, lead, walked)
			}
		}
	}
}

// The upgrade measures how far ids have been ahead already.
func TestList_TheUpgradeLooksAtTheIDsThereAre(t *testing.T) {
	f := open(t)
	storetest.MustSubmit(t, f.DB, storetest.Job(f.account, f.upload))
	f.clock.Jump(-time.Hour)
	back := storetest.MustSubmit(t, f.DB, storetest.Job(f.account, f.upload))
	j, err := f.JobByID(ctx, back)
	must(t, err)
	before := f.ask(t, `SELECT value FROM settings WHERE name = 'ids_ahead'`)
	f.downgrade(t, 2)
	f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
	if got, _ := f.pages(t, store.JobFilter{Limit: 5, Until: j.CreatedAt.Add(time.Millisecond)}); !slices.Equal(got, []string{back}) {
		t.Errorf("until then there are %v, want %s", got, back)
	}
	if after := f.ask(t, `SELECT value FROM settings WHERE name = 'ids_ahead'`); len(before) != 1 || !slices.Equal(before, after) {
		t.Errorf("ids were ahead by %v, and after the upgrade by %v", before, after)
	}
}

func TestPriority_IsAnEventAndAPlaceInTheQueue(t *testing.T) {
	f := open(t)
	first, second := storetest.MustSubmit(t, f.DB, storetest.Job(f.account, f.upload)), storetest.MustSubmit(t, f.DB, storetest.Job(f.account, f.upload))
	refused(t, f.Prioritize(ctx, "acc_other", second, 3), fence.CodeNotFound)
	for range 2 { // the second changes nothing
		must(t, f.Prioritize(ctx, f.account, second, 3))
	}
	if o := storetest.MustLease(t, f.DB, f.mac); o.JobID != second {
		t.Errorf("%s went before %s", o.JobID, second)
	}
	refused(t, f.Prioritize(ctx, "", second, 4), store.CodeJobNotQueued)
	must(t, f.Prioritize(ctx, "", first, -100))
	want := []string{second + `{"priority":3,"was":0}`, first + `{"priority":-100,"was":0}`}
	if got := column(t, f.raw(t), `SELECT job_id || data FROM events WHERE type = 'job.priority' ORDER BY id`); !slices.Equal(got, want) {
		t.Errorf("the events are %v", got)
	}
}
