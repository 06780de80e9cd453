package store_test

import (
	"database/sql"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

const everyMovement = `SELECT account_id || ' ' || id || ' ' || kind || ' ' || amount || ' ' || held || ' ' || spent FROM journals ORDER BY id`

// ask reads a column as a tool does, while the store is open.
func (f *fixture) ask(t *testing.T, query string) []string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(f.dir, "rendermac.db")+"?mode=ro")
	must(t, err)
	defer db.Close()
	return column(t, db, query)
}

func costs(credits int64) func(*store.NewJob) {
	return func(j *store.NewJob) { j.Credits = credits }
}

// histories are a job of each end in two accounts, and one that is still held.
func histories(t *testing.T, f *fixture) (other string) {
	t.Helper()
	f.submit(t, costs(3))
	c := f.commits(t, storetest.Claim(f.mac, storetest.MustLease(t, f.DB, f.mac)))
	_, err := f.FinishCommit(ctx, c.AttemptID, fence.Verdict{Verified: true}, "", nil)
	must(t, err)
	_, err = f.Cancel(ctx, f.submit(t, costs(5)))
	must(t, err)
	f.submit(t, costs(0))
	a, _, err := f.CreateAccount(ctx, "other", nil)
	must(t, err)
	upload := storetest.MustUpload(t, f.DB, a.ID)
	storetest.MustSubmit(t, f.DB, storetest.Job(a.ID, upload))
	j := storetest.Job(a.ID, upload)
	j.Credits = 7
	storetest.MustSubmit(t, f.DB, j)
	f.submit(t, costs(11))
	return a.ID
}

func balance(t *testing.T, f *fixture, account string) store.Balance {
	t.Helper()
	a, _, err := f.Journal(ctx, account, math.MaxInt64, 1)
	must(t, err)
	return a.Balance
}

func TestJournal_TellsEachMovementAndTheBalance(t *testing.T) {
	f := open(t)
	other := histories(t, f)
	a, list, err := f.Journal(ctx, f.account, math.MaxInt64, 10)
	must(t, err)
	var kinds []string
	for _, m := range list {
		kinds = append(kinds, m.Kind)
		if m.JobID == nil || m.At.IsZero() {
			t.Errorf("movement %+v", m)
		}
	}
	if !slices.Equal(kinds, []string{"hold", "release", "hold", "capture", "hold"}) {
		t.Errorf("the newest first: %v", kinds)
	}
	if want := (store.Balance{Held: 11, Spent: 3}); a.Balance != want || list[0].Balance != want {
		t.Errorf("the balance is %+v, after the newest movement %+v, want %+v", a.Balance, list[0].Balance, want)
	}
	if got := balance(t, f, other); got != (store.Balance{Held: 7}) {
		t.Errorf("the other account's is %+v", got)
	}
	_, rest, err := f.Journal(ctx, f.account, list[1].ID, 2)
	must(t, err)
	if len(rest) != 2 || rest[0].ID != list[2].ID || rest[1].ID != list[3].ID {
		t.Errorf("the page before is %+v, want %+v", rest, list[2:4])
	}
	_, _, err = f.Journal(ctx, "acc_0", math.MaxInt64, 1)
	refused(t, err, fence.CodeNotFound)
	for _, job := range []int{0, 1, len(list) - 1} { // one that is held, one released, one captured
		of, err := f.JobMovements(ctx, *list[job].JobID)
		must(t, err)
		want := slices.DeleteFunc(slices.Clone(list), func(m store.Movement) bool { return *m.JobID != *list[job].JobID })
		slices.Reverse(want)
		if !reflect.DeepEqual(of, want) {
			t.Errorf("of %s's movements %+v are told, want %+v", *list[job].JobID, of, want)
		}
	}
}

// The credits that jobs hold or have spent never pass the limit; what a job that
// ended otherwise held may be used again.
func TestCredits_HoldToTheLimit(t *testing.T) {
	f := open(t)
	limit := func(n int64) {
		t.Helper()
		_, err := f.ChangeAccount(ctx, f.account, store.AccountChange{CreditLimit: new(&n)})
		must(t, err)
	}
	short := func(credits int64) {
		t.Helper()
		j := storetest.Job(f.account, f.upload)
		j.Credits = credits
		_, err := f.Submit(ctx, j)
		refused(t, err, store.CodeCreditExceeded)
	}
	limit(10)
	f.submit(t, costs(4))
	held := f.submit(t, costs(6))
	short(1)
	f.submit(t, costs(0))
	_, err := f.Cancel(ctx, held)
	must(t, err)
	short(7)
	f.submit(t, costs(6))
	limit(3) // below what is used: what runs goes on
	short(1)
	c := f.commits(t, storetest.Claim(f.mac, storetest.MustLease(t, f.DB, f.mac)))
	_, err = f.FinishCommit(ctx, c.AttemptID, fence.Verdict{Verified: true}, "", nil)
	must(t, err)
	if got := balance(t, f, f.account); got != (store.Balance{Held: 6, Spent: 4}) {
		t.Errorf("the balance is %+v", got)
	}
	limit(11)
	short(2)
	_, err = f.ChangeAccount(ctx, f.account, store.AccountChange{CreditLimit: new(*int64)})
	must(t, err)
	f.submit(t, costs(1_000_000_000))
}

func TestCredits_TooFewForAllOfABatchStoreNone(t *testing.T) {
	f := open(t)
	_, err := f.ChangeAccount(ctx, f.account, store.AccountChange{CreditLimit: new(new(int64(5)))})
	must(t, err)
	j := storetest.Job(f.account, f.upload)
	j.Credits = 2
	_, err = f.Submit(ctx, j, j, j)
	refused(t, err, store.CodeCreditExceeded)
	page, err := f.Jobs(ctx, store.JobFilter{Limit: 10})
	must(t, err)
	if got := balance(t, f, f.account); len(page.Jobs) > 0 || got != (store.Balance{}) {
		t.Errorf("%d jobs are there and the balance is %+v", len(page.Jobs), got)
	}
	_, err = f.Submit(ctx, j, j)
	must(t, err)
}

// Of many submits at once just as many pass as the limit covers.
func TestCredits_RacingSubmitsPassNoLimit(t *testing.T) {
	f := open(t)
	_, err := f.ChangeAccount(ctx, f.account, store.AccountChange{CreditLimit: new(new(int64(10)))})
	must(t, err)
	j := storetest.Job(f.account, f.upload)
	j.Credits = 3
	answers := make(chan error, 20)
	for range cap(answers) {
		go func() {
			_, err := f.Submit(ctx, j)
			answers <- err
		}()
	}
	codes := map[string]int{}
	for range cap(answers) {
		codes[fence.CodeOf(<-answers)]++
	}
	if codes[""] != 3 || codes[store.CodeCreditExceeded] != 17 {
		t.Errorf("answers by code: %v", codes)
	}
	if got := balance(t, f, f.account); got != (store.Balance{Held: 9}) {
		t.Errorf("the balance is %+v", got)
	}
}
