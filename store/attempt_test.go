package store_test

import (
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store/storetest"
)

// Of each job the newest attempt is told, whatever came before it.
func TestNewestAttempts_AreThoseOfManyJobsAtOnce(t *testing.T) {
	f := open(t)
	again := f.uploading(t)
	_, err := f.Fail(ctx, again, fence.UploadFailed, "")
	must(t, err)
	f.clock.Advance(time.Hour) // its device waits before it may take the job again
	second := storetest.Claim(f.mac, storetest.MustLease(t, f.DB, f.mac))
	once, never := f.uploading(t), f.submit(t)
	newest, err := f.NewestAttempts(ctx, []string{again.JobID, once.JobID, never, "job_0"})
	must(t, err)
	if len(newest) != 2 || newest[again.JobID].ID != second.AttemptID || newest[once.JobID].ID != once.AttemptID {
		t.Errorf("the newest are %+v, want %s and %s", newest, second.AttemptID, once.AttemptID)
	}
	if a := newest[again.JobID]; a.Number != 2 || a.Status != fence.AttemptLeased || a.DeviceID != f.mac.DeviceID || a.DeviceName == "" || a.LeasedAt.IsZero() {
		t.Errorf("the second of a job is %+v", a)
	}
}
