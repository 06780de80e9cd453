package store_test

import (
	"testing"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

func TestF10_AnotherInputThanTheOneWaitedForEnds(t *testing.T) {
	f := open(t)
	a, b := f.submit(t), f.submit(t)
	both := f.submit(t, func(j *store.NewJob) { j.Inputs = []store.NewInput{{JobID: a}, {JobID: b}} })
	_, err := f.Cancel(ctx, b)
	must(t, err)
	storetest.MustStatus(t, f.DB, both, fence.JobFailed, "")
}
