package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"rendermac/store"
	"rendermac/store/storetest"
)

// However long the stretches that are read at once, and whoever asks: the pages
// forward and the pages back are the same events.
func TestEvents_PagesAreWhole(t *testing.T) {
	db := storetest.MustOpen(t, storetest.Options(t.TempDir(), storetest.NewClock()))
	account := storetest.MustAccount(t, db)
	job := storetest.Job(account, storetest.MustUpload(t, db, account))
	var jobs []string
	for range 5 {
		jobs = append(jobs, storetest.MustSubmit(t, db, job))
		storetest.MustDevice(t, db) // two events of no account
	}
	if _, err := db.Cancel(context.Background(), jobs[1]); err != nil {
		t.Fatal(err)
	}
	defer store.SetEventStretch(store.SetEventStretch(3))
	for _, c := range []struct {
		of    store.EventFilter
		limit int
		want  int
	}{
		{store.EventFilter{}, 4, 16},
		{store.EventFilter{AccountID: account}, 4, 6},
		{store.EventFilter{AccountID: account}, 1, 6},
		{store.EventFilter{JobID: jobs[1]}, 1, 2},
		{store.EventFilter{AccountID: "acc_none"}, 4, 0},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			var forward, back []int64
			for after := int64(0); ; {
				list, upTo, err := db.EventsAfter(context.Background(), c.of, after, c.limit)
				if err != nil || len(list) > c.limit || upTo < after {
					t.Fatalf("after %d: %d events up to %d, %v", after, len(list), upTo, err)
				}
				for _, e := range list {
					forward = append(forward, e.ID)
				}
				if upTo == after {
					break
				}
				after = upTo
			}
			for before := int64(0); ; {
				list, left, err := db.EventsBefore(context.Background(), c.of, before, c.limit)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range list {
					back = append(back, e.ID)
				}
				if before = left; len(list) == c.limit {
					before = back[len(back)-1]
				}
				if before == 0 {
					break
				}
			}
			slices.Reverse(back)
			if len(forward) != c.want || !slices.IsSorted(forward) || !slices.Equal(forward, back) {
				t.Errorf("forward %v, back %v, want %d", forward, back, c.want)
			}
		})
	}
}

// The signal comes after the COMMIT of a batch with events, and after no other.
func TestEvents_AppendedIsSaidOnceTheyCanBeRead(t *testing.T) {
	db := storetest.MustOpen(t, storetest.Options(t.TempDir(), storetest.NewClock()))
	account := storetest.MustAccount(t, db)
	upload := storetest.MustUpload(t, db, account)
	said := func() bool {
		select {
		case <-db.Appended():
			return true
		default:
			return false
		}
	}
	for said() { // what the first steps have appended
	}
	if _, err := db.Cancel(context.Background(), "job_0"); err == nil || said() {
		t.Errorf("a refusal is an event: %v", err)
	}
	if err := db.Writable(context.Background()); err != nil || said() {
		t.Errorf("a batch without events says that there are some, %v", err)
	}
	_, before, err := db.EventIDs(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	id := storetest.MustSubmit(t, db, storetest.Job(account, upload))
	if !said() || said() {
		t.Error("a batch with events does not say so once")
	}
	list, newest, err := db.EventsAfter(context.Background(), store.EventFilter{}, before, 10)
	if err != nil || len(list) != 1 || list[0].ID != newest || *list[0].JobID != id {
		t.Errorf("events %+v up to %d, %v", list, newest, err)
	}
}
