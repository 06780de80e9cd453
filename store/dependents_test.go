package store_test

import (
	"testing"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

const (
	many    = 3000
	maxTold = 200 // of one transaction
)

// fan submits jobs that all need the first one's output.
func (f *fixture) fan(t *testing.T, n int) []string {
	t.Helper()
	ids := []string{f.submit(t)}
	batch := make([]store.NewJob, n-1)
	for i := range batch {
		batch[i] = storetest.Job(f.account, "")
		batch[i].Inputs, batch[i].Credits = []store.NewInput{{JobID: ids[0]}}, 1
	}
	rest, err := f.Submit(ctx, batch...)
	must(t, err)
	return append(ids, rest...)
}

// chain submits jobs of which each needs the output of the one before: a fan,
// tied anew past the store, for it would take a transaction a job.
func (f *fixture) chain(t *testing.T, n int) []string {
	t.Helper()
	ids := f.fan(t, n)
	db := f.raw(t)
	for _, query := range []string{
		`DROP TRIGGER job_inputs_same`,
		`UPDATE job_inputs SET input_job_id = (SELECT max(id) FROM jobs WHERE id < job_id) WHERE input_job_id IS NOT NULL`,
		`UPDATE jobs SET waiting_on = (SELECT input_job_id FROM job_inputs WHERE job_id = id)`,
	} {
		must(t, exec(db, query))
	}
	must(t, db.Close())
	f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
	return ids
}

// count is how many of the jobs are in a status.
func (f *fixture) count(t *testing.T, status fence.JobStatus) int {
	t.Helper()
	n := 0
	for filter := (store.JobFilter{Statuses: []string{string(status)}, Limit: many}); ; {
		page, err := f.Jobs(ctx, filter)
		must(t, err)
		if n += len(page.Jobs); page.Next == "" {
			return n
		}
		filter.Before = page.Next
	}
}

// more says whether the store has said that there is more to tell.
func (f *fixture) more() bool {
	select {
	case <-f.Unsettled():
		return true
	default:
		return false
	}
}

// One transaction tells a bounded number of dependents, whoever needs the
// writer has it in between, and a restart goes on.
func TestF10_ManyDependentsAreToldInManyTransactions(t *testing.T) {
	for name, submit := range map[string]func(*fixture, *testing.T, int) []string{"chain": (*fixture).chain, "fan": (*fixture).fan} {
		t.Run(name, func(t *testing.T) {
			f := open(t)
			c := f.lease(t)
			ids := submit(f, t, many)
			_, err := f.Cancel(ctx, ids[0])
			must(t, err)
			told := maxTold // by the cancel
			for sweeps := 0; f.more(); sweeps++ {
				must(t, f.progress(c, fence.AttemptRunning))
				if sweeps == 3 {
					f.reopen(t, 0)
				}
				if out, err := f.Lease(ctx, f.mac, 1); err != nil || out.Offer != nil {
					t.Fatalf("a job without its input was leased: %+v, %v", out, err)
				}
				out, err := f.Sweep(ctx)
				must(t, err)
				if out.Told == 0 || out.Told > maxTold {
					t.Fatalf("a sweep told %d", out.Told)
				}
				told += out.Told
			}
			if failed := f.count(t, fence.JobFailed); failed != told || told != many-1 {
				t.Fatalf("%d were told and %d have failed, of %d", told, failed, many-1)
			}
			for _, id := range []string{ids[1], ids[many/2], ids[many-1]} {
				j := storetest.MustStatus(t, f.DB, id, fence.JobFailed, "")
				if *j.FailureCode != fence.InputFailed || j.Hold.State != "released" {
					t.Errorf("job %s: %s, hold %s", id, *j.FailureCode, j.Hold.State)
				}
			}
			out, err := f.Sweep(ctx)
			must(t, err)
			db := f.raw(t)
			if left := column(t, db, `SELECT job_id FROM settlements`); len(left) > 0 || out.Told > 0 {
				t.Errorf("left to tell: %v, and %d were told again", left, out.Told)
			}
			if ends := column(t, db, `SELECT count(*) FROM events WHERE type = 'job.failed'`); ends[0] != "2999" {
				t.Errorf("%s events for %d ends", ends[0], many-1)
			}
		})
	}
}

// A wide fan is let go in the same steps when its input has succeeded, and
// those of another input go on waiting for that.
func TestF3_AWideFanIsLetGoInSteps(t *testing.T) {
	f := open(t)
	head := f.submit(t)
	c := f.commits(t, storetest.Claim(f.mac, storetest.MustLease(t, f.DB, f.mac)))
	other := f.submit(t, func(j *store.NewJob) { j.Priority = -1 })
	var jobs []store.NewJob
	for i := range 2*maxTold + 1 {
		j := storetest.Job(f.account, "")
		j.Inputs = []store.NewInput{{JobID: head}}
		if i%2 == 1 {
			j.Inputs = append(j.Inputs, store.NewInput{JobID: other})
		}
		jobs = append(jobs, j)
	}
	_, err := f.Submit(ctx, jobs...)
	must(t, err)
	_, err = f.FinishCommit(ctx, c.AttemptID, fence.Verdict{Verified: true}, "", nil)
	must(t, err)
	if !f.more() {
		t.Fatal("nobody is told to go on")
	}
	_, err = f.Cancel(ctx, other) // while some that need both still wait for the first
	must(t, err)
	for f.more() {
		_, err := f.Sweep(ctx)
		must(t, err)
	}
	if failed, queued := f.count(t, fence.JobFailed), f.count(t, fence.JobQueued); failed != maxTold || queued != maxTold+1 {
		t.Errorf("%d failed and %d queued", failed, queued)
	}
	leased := 0
	for out, err := f.Lease(ctx, f.mac, 1); out.Offer != nil; out, err = f.Lease(ctx, f.mac, 1) {
		must(t, err)
		leased++
	}
	if leased != maxTold+1 {
		t.Errorf("%d of %d can be leased", leased, maxTold+1)
	}
}

// What is told of a cancel counts those that wait further on, and no more than anyone
// would read.
func TestCountDependents_CountsThoseThatWouldFail(t *testing.T) {
	for name, c := range map[string]struct {
		make func(*fixture, *testing.T, int) []string
		jobs int
		n    int
		more bool
	}{
		"none":        {(*fixture).fan, 1, 0, false},
		"a fan":       {(*fixture).fan, 6, 5, false},
		"a chain":     {(*fixture).chain, 6, 5, false},
		"exactly all": {(*fixture).fan, 1001, 1000, false},
		"many":        {(*fixture).chain, 1002, 1000, true},
	} {
		f := open(t)
		ids := c.make(f, t, c.jobs)
		n, more, err := f.CountDependents(ctx, ids[0])
		must(t, err)
		if n != c.n || more != c.more {
			t.Errorf("%s: %d wait, more %t", name, n, more)
		}
		if c.jobs < 2 {
			continue
		}
		_, err = f.Cancel(ctx, ids[len(ids)-1])
		must(t, err)
		if now, _, err := f.CountDependents(ctx, ids[0]); err != nil || c.jobs < 1000 && now != n-1 {
			t.Errorf("%s: %d wait after one was cancelled (%v)", name, now, err)
		}
	}
}
