package server

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"rendermac/agentproto"
	"rendermac/api"
	"rendermac/fence"
)

// unreadable puts a file where the folder of a job's digests should go: its
// output can be neither published nor read, until mend.
func (r *run) unreadable() (mend func()) {
	r.Helper()
	digests := filepath.Join(r.dir, "artifacts", "digests", "outputs")
	if err := os.MkdirAll(digests, 0o700); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(digests, r.JobID), nil, 0o600); err != nil {
		r.Fatal(err)
	}
	return func() {
		if err := os.Remove(filepath.Join(digests, r.JobID)); err != nil {
			r.Fatal(err)
		}
	}
}

// longestWait is the longest backoff, with its jitter, and a moment to work in.
const longestWait = fence.MaxBackoff*6/5 + time.Second

func TestF8_AnOutageOfHoursIsNoFailedVerification(t *testing.T) {
	inBubble(t, func(b *bubble) {
		r := b.mustMac(1).mustRun()
		r.reach(fence.AttemptUploading)
		mend := r.unreadable()
		r.commit()
		for range 5 {
			time.Sleep(time.Hour)
			r.say(r.progress("uploading"))
			hear[agentproto.ProgressOK](r.mac)
			r.stands(fence.JobVerifying, fence.AttemptCommitting)
		}
		mend()
		mended := time.Now()
		hear[agentproto.CommitOK](r.mac)
		if waited := time.Since(mended); waited > longestWait {
			b.Fatalf("tried again after %v", waited)
		}
		r.stands(fence.JobSucceeded, fence.AttemptSucceeded)
	}, func(o *Options) { o.Heartbeat = 10 * time.Minute })
}

func TestF8_AnOutageOfADayIsAnInternalError(t *testing.T) {
	inBubble(t, func(b *bubble) {
		r := b.mustMac(1).mustRun()
		r.reach(fence.AttemptUploading)
		r.unreadable()
		r.commit()
		committed := time.Now()
		time.Sleep(24 * time.Hour)
		r.stands(fence.JobVerifying, fence.AttemptCommitting)
		got := hear[agentproto.CommitRejected](r.mac)
		if waited := time.Since(committed); got.Code != fence.InternalError || waited > 24*time.Hour+longestWait {
			b.Fatalf("%+v after %v", got, waited)
		}
		if j := b.job(r.JobID); j.Status != api.JobFailed || *j.FailureCode != fence.InternalError || *j.Attempts[0].FailureCode != fence.InternalError {
			b.Fatalf("job %+v", j)
		}
		r.stands(fence.JobFailed, fence.AttemptFailed)
	}, func(o *Options) { o.Heartbeat = 10 * time.Minute })
}

func TestF10_ACancelEndsAnOutageAtOnce(t *testing.T) {
	inBubble(t, func(b *bubble) {
		r := b.mustMac(1).mustRun()
		r.reach(fence.AttemptUploading)
		r.unreadable()
		r.commit()
		time.Sleep(time.Hour)
		asked := time.Now()
		r.cancel()
		if got := hear[agentproto.CommitRejected](r.mac); got.Code != fence.BuyerCancelled {
			b.Fatalf("%+v", got)
		}
		b.after(asked, 0)
		r.stands(fence.JobCancelled, fence.AttemptCancelled)
	})
}
