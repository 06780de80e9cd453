package server

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/agentproto"
	"rendermac/api"
	"rendermac/fence"
	"rendermac/store/storetest"
)

// The rules F1–F13, each through a real WebSocket and a real SQLite file.

func TestF1_RetryIsANewAttempt(t *testing.T) {
	h := mustStudio(t)
	m := h.mustMac(1)
	first := m.mustRun()
	if got := first.fail(fence.DownloadFailed); !got.Requeued {
		t.Fatalf("fail_ok %+v, want requeued", got)
	}
	h.clock.Advance(storetest.Backoff)
	m.say(&agentproto.Ready{SlotsFree: 1})
	second := m.mustOffer()
	if second.JobID != first.JobID || second.AttemptID == first.AttemptID || second.token == first.token ||
		second.offer.AttemptNumber != 2 || second.LeaseEpoch != 1 {
		t.Fatalf("second offer %+v after %+v", second.offer, first.offer)
	}
	second.reach(fence.AttemptUploading)
	stale := second.commitMessage()
	stale.CommitToken = first.token
	m.say(stale)
	if got := hear[agentproto.CommitRejected](m); got.Code != fence.CodeCommitConflict {
		t.Fatalf("the first attempt's secret on the second: %+v", got)
	}
	second.stands(fence.JobActive, fence.AttemptUploading)
}

func TestF2_OneJobIsOfferedOnce(t *testing.T) {
	h := mustStudio(t)
	a, b := h.mustMac(4), h.mustMac(4)
	first := h.mustJob()
	second := h.mustJob()
	heard := make(chan string)
	for _, m := range []*mac{a, b} {
		go func() {
			for msg, err := m.next(); err == nil; msg, err = m.next() {
				heard <- msg.(*agentproto.LeaseOffer).JobID
			}
		}()
	}
	got := []string{<-heard, <-heard} // each came to one of the Macs, once
	slices.Sort(got)
	if !slices.Equal(got, []string{first.ID, second.ID}) {
		t.Fatalf("offered %v, want %v once each", got, []string{first.ID, second.ID})
	}
}

func TestF3_TheBestJobComesFirst(t *testing.T) {
	h := mustStudio(t)
	old := h.mustJob()
	h.mustJob(func(r *api.JobRequest) {
		r.Requires = &api.Requires{Tags: []string{"elsewhere"}}
		r.Priority = ptr(100)
	})
	urgent := h.mustJob(func(r *api.JobRequest) { r.Priority = ptr(7) })
	young := h.mustJob()
	m := h.mustMac(3)
	for _, want := range []string{urgent.ID, old.ID, young.ID} {
		r := m.mustOffer()
		if r.JobID != want {
			t.Fatalf("offered %s, want %s", r.JobID, want)
		}
		if key := "outputs/" + r.JobID + "/" + r.AttemptID + ".mp4"; r.offer.Output.Key != key {
			t.Errorf("output key %s, want %s", r.offer.Output.Key, key)
		}
	}
}

func TestF3_AMacThatEndedTheJobIsSkippedWhileAnotherIsOnline(t *testing.T) {
	h := mustStudio(t)
	a := h.mustMac(1)
	failed := a.mustRun()
	b := h.mustMac(1)
	failed.fail(fence.UploadFailed)
	a.say(&agentproto.Ready{SlotsFree: 1})
	h.clock.Advance(storetest.Backoff) // it no longer waits, and is skipped all the same
	if again := b.mustOffer(); again.JobID != failed.JobID {
		t.Fatalf("b was offered %s", again.JobID)
	}
}

func TestF4_WrongIdentitiesAreRefusedAndChangeNothing(t *testing.T) {
	h := mustStudio(t)
	m, other := h.mustMac(1), h.mustMac(0)
	r := m.mustRun()
	r.reach(fence.AttemptUploading)
	for name, change := range map[string]func(*agentproto.IDs) *mac{
		"device":  func(*agentproto.IDs) *mac { return other },
		"job":     func(ids *agentproto.IDs) *mac { ids.JobID = "job_none"; return m },
		"attempt": func(ids *agentproto.IDs) *mac { ids.AttemptID = "att_none"; return m },
		"epoch":   func(ids *agentproto.IDs) *mac { ids.LeaseEpoch = 2; return m },
	} {
		t.Run(name, func(t *testing.T) {
			wrong := *r
			speaker := change(&wrong.IDs)
			wrong.mac = speaker
			for _, msg := range []agentproto.Message{wrong.progress("running"), &agentproto.Inputs{IDs: wrong.IDs}, wrong.uploadMessage()} {
				speaker.say(msg)
				if got := hear[agentproto.LeaseConflict](speaker); got.IDs != wrong.IDs {
					t.Errorf("%s: lease_conflict %+v, want the ids as sent", msg.Type(), got)
				}
			}
			speaker.say(&agentproto.Log{IDs: wrong.IDs, Lines: []string{"stray"}})
			speaker.say(wrong.commitMessage())
			if got := hear[agentproto.CommitRejected](speaker); got.Code != fence.CodeCommitConflict {
				t.Errorf("commit: %+v", got)
			}
			speaker.say(wrong.failMessage(fence.RunnerFailed))
			if got := hear[agentproto.Error](speaker); got.Code != fence.CodeCommitConflict {
				t.Errorf("fail: %+v", got)
			}
		})
	}
	wrong := *r
	wrong.token = "x"
	m.say(wrong.commitMessage())
	if got := hear[agentproto.CommitRejected](m); got.Code != fence.CodeCommitConflict {
		t.Errorf("token: %+v", got)
	}
	if log := h.get("/v1/jobs/"+r.JobID+"/attempts/1/log", h.admin); strings.Contains(string(log.body), "stray") {
		t.Error("a stray log was kept")
	}
	r.stands(fence.JobActive, fence.AttemptUploading)
	r.commit()
}

func TestF4_AnExpiredLeaseIsExpiredFromItsInstant(t *testing.T) {
	h := mustServe(t) // without a sweeper
	h.srv.matcherOnly(t)
	r := h.mustMac(1).mustRun()
	h.clock.Advance(storetest.TTL)
	r.say(r.progress("running"))
	hear[agentproto.LeaseConflict](r.mac)
	r.stands(fence.JobActive, fence.AttemptLeased) // nobody has swept
}

func TestF5_ProgressRenewsAndNeverGoesBack(t *testing.T) {
	h := mustStudio(t)
	r := h.mustMac(1).mustRun()
	r.reach(fence.AttemptRunning)
	h.clock.Advance(storetest.TTL / 2)
	behind := r.progress("downloading")
	behind.Fraction = ptr(0.1)
	r.say(behind)
	ok := hear[agentproto.ProgressOK](r.mac)
	if want := h.clock.Now().Add(storetest.TTL); !ok.LeaseExpiresAt.Equal(want) || ok.LeaseTTL != 60 || ok.LeaseEpoch != 1 {
		t.Fatalf("progress_ok %+v, want a full lease until %v", ok, want)
	}
	if a := r.stands(fence.JobActive, fence.AttemptRunning).Attempts[0]; *a.Phase != "running" || *a.Fraction != 0.5 {
		t.Fatalf("a heartbeat changed what is shown: %+v", a)
	}
}

func TestF5_HeartbeatWhileCommittingChangesNothing(t *testing.T) {
	h := mustServe(t) // its verifier does not run yet
	h.srv.matcherOnly(t)
	r := h.mustMac(1).mustRun()
	r.reach(fence.AttemptUploading)
	r.commit()
	h.clock.Advance(10 * storetest.TTL)
	r.say(r.progress("uploading"))
	hear[agentproto.ProgressOK](r.mac)
	r.stands(fence.JobVerifying, fence.AttemptCommitting)
}

// matcherOnly runs the matcher alone, so that a test holds verification back.
func (s *Server) matcherOnly(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s.loops.Go(func() { s.matcher.loop(ctx) })
	t.Cleanup(func() { s.hub.closeAll(); cancel(); s.loops.Wait() })
}

func TestF5_CancellingAnswersCancelAndRenewsNothing(t *testing.T) {
	h := mustStudio(t)
	r := h.mustMac(1).mustRun()
	r.cancel()
	hear[agentproto.Cancel](r.mac)
	for range 3 { // an agent that ignores it keeps no lease alive
		h.clock.Advance(storetest.TTL / 4)
		r.say(r.progress("running"))
		hear[agentproto.Cancel](r.mac)
	}
	h.clock.Advance(storetest.TTL / 4)
	h.srv.sweeper.runOnce(context.Background())
	r.stands(fence.JobCancelled, fence.AttemptCancelled)
}

func TestF6_CommitAfterExpiryIsRefused(t *testing.T) {
	h := mustServe(t) // without a sweeper
	h.srv.matcherOnly(t)
	r := h.mustMac(1).mustRun()
	r.reach(fence.AttemptUploading)
	h.clock.Advance(storetest.TTL)
	r.say(r.commitMessage())
	if got := hear[agentproto.CommitRejected](r.mac); got.Code != fence.CodeCommitConflict {
		t.Fatalf("%+v", got)
	}
	r.stands(fence.JobActive, fence.AttemptUploading)
}

func TestF6_CommitBeforeUploadIsRefused(t *testing.T) {
	h := mustStudio(t)
	r := h.mustMac(1).mustRun()
	r.reach(fence.AttemptRunning)
	r.say(r.commitMessage())
	if got := hear[agentproto.CommitRejected](r.mac); got.Code != fence.CodeCommitConflict {
		t.Fatalf("%+v", got)
	}
	r.stands(fence.JobActive, fence.AttemptRunning)
}

func TestF6_TheSameCommitAgainIsAcceptedAgain(t *testing.T) {
	h := mustServe(t)
	h.srv.matcherOnly(t)
	r := h.mustMac(1).mustRun()
	r.reach(fence.AttemptUploading)
	r.commit()
	r.commit()
	other := r.commitMessage()
	other.Bytes++
	r.say(other)
	if got := hear[agentproto.CommitRejected](r.mac); got.Code != fence.CodeCommitConflict {
		t.Fatalf("another claim while committing: %+v", got)
	}
	r.stands(fence.JobVerifying, fence.AttemptCommitting)
}

func TestF7_TheServerChecksBytesDigestAndMedia(t *testing.T) {
	h := mustStudio(t)
	for name, c := range map[string]struct {
		output func(good []byte) []byte
		claim  func(*agentproto.Commit)
		want   string
	}{
		"wrong bytes":  {claim: func(c *agentproto.Commit) { c.Bytes-- }, want: "bytes"},
		"wrong digest": {claim: func(c *agentproto.Commit) { c.SHA256 = sum([]byte("another")) }, want: "SHA-256"},
		"text":         {output: func([]byte) []byte { return []byte("this is not a movie\n") }},
		"half a file":  {output: func(good []byte) []byte { return good[:len(good)/2] }},
		"empty":        {output: func([]byte) []byte { return nil }},
		"the input":    {output: func([]byte) []byte { return clip(t).input }},
	} {
		t.Run(name, func(t *testing.T) {
			r := h.mustMac(1).mustRun()
			if c.output != nil {
				r.output = c.output(r.output)
			}
			r.upload()
			commit := r.commitMessage()
			if c.claim != nil {
				c.claim(commit)
			}
			r.say(commit)
			hear[agentproto.CommitAccepted](r.mac)
			got := hear[agentproto.CommitRejected](r.mac)
			if got.Code != fence.VerificationFailed || !strings.Contains(got.Message, c.want) || got.Message == "" {
				t.Fatalf("commit_rejected %+v", got)
			}
			j := r.stands(fence.JobFailed, fence.AttemptFailed)
			if j.Artifact != nil || *j.FailureCode != fence.VerificationFailed || *j.FailureMessage != got.Message {
				t.Fatalf("job %+v", j)
			}
			h.get("/v1/jobs/"+r.JobID+"/output", h.admin).refuses(409, "job_not_succeeded")
			t.Log(got.Message)
		})
	}
}

func TestF7_PartsThatNeverCameAreNoResult(t *testing.T) {
	h := mustStudio(t)
	r := h.mustMac(1).mustRun()
	r.say(r.uploadMessage())
	hear[agentproto.UploadGrant](r.mac)
	r.commit()
	if got := hear[agentproto.CommitRejected](r.mac); got.Code != fence.VerificationFailed {
		t.Fatalf("%+v", got)
	}
}

func TestF8_VerifiedIsPublished(t *testing.T) {
	h := mustStudio(t)
	r := h.mustMac(1).mustRun()
	r.reach(fence.AttemptUploading)
	r.commit()
	hear[agentproto.CommitOK](r.mac)
	j := r.stands(fence.JobSucceeded, fence.AttemptSucceeded)
	if j.Artifact == nil || j.Artifact.SHA256 != sum(r.output) || j.Artifact.Name != "clip.mp4" || j.Artifact.ContentType != "video/mp4" {
		t.Fatalf("artifact %+v", j.Artifact)
	}
	out := h.get("/v1/jobs/"+r.JobID+"/output", h.admin).is(302)
	where := out.Header.Get("Location")
	if got := h.do("GET", where, "", nil).is(200); sum(got.body) != sum(r.output) {
		t.Fatal("the published bytes are not the committed ones")
	}
	if got := h.do("GET", where, "", nil, "Range", "bytes=4-7").is(206); string(got.body) != "ftyp" {
		t.Fatalf("bytes 4 to 7 are %q", got.body)
	}
	h.do("GET", where, "", nil, "Range", "bytes=99999999-").refuses(416, "range_not_satisfiable")
}

func TestF8_CancelWhileVerifyingWins(t *testing.T) {
	h := mustServe(t)
	stop := h.srv.matcherOnlyUntil()
	r := h.mustMac(1).mustRun()
	r.reach(fence.AttemptUploading)
	r.commit()
	r.cancel() // finalized at once, beside the workers, of which there is none yet
	stop()
	h.mustStart()
	if got := hear[agentproto.CommitRejected](r.mac); got.Code != fence.BuyerCancelled {
		t.Fatalf("%+v", got)
	}
	r.stands(fence.JobCancelled, fence.AttemptCancelled)
}

// matcherOnlyUntil runs the matcher alone until the answer is called.
func (s *Server) matcherOnlyUntil() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { s.matcher.loop(ctx); close(done) }()
	return func() { cancel(); <-done }
}

func TestF9_TerminalIsFinal(t *testing.T) {
	h := mustStudio(t)
	r := h.mustMac(1).mustRun()
	grant := r.upload()
	r.commit()
	hear[agentproto.CommitOK](r.mac)
	r.say(r.commitMessage())
	if got := hear[agentproto.CommitRejected](r.mac); got.Code != fence.CodeCommitConflict {
		t.Errorf("second commit: %+v", got)
	}
	r.say(r.failMessage(fence.RunnerFailed))
	if got := hear[agentproto.Error](r.mac); got.Code != fence.CodeCommitConflict {
		t.Errorf("late fail: %+v", got)
	}
	for _, msg := range []agentproto.Message{r.progress("running"), r.uploadMessage()} {
		r.say(msg)
		hear[agentproto.LeaseConflict](r.mac)
	}
	if got := r.putPart(grant.Parts[0]); got.StatusCode < 400 {
		t.Errorf("late PUT: %d", got.StatusCode)
	}
	h.post("/v1/jobs/"+r.JobID+"/cancel", h.admin, nil).refuses(409, "job_terminal")
	r.stands(fence.JobSucceeded, fence.AttemptSucceeded)
}

func TestF10_CancelInEachPhase(t *testing.T) {
	h := mustStudio(t)
	for _, phase := range []fence.AttemptStatus{fence.AttemptLeased, fence.AttemptDownloading, fence.AttemptRunning, fence.AttemptUploading} {
		t.Run(string(phase), func(t *testing.T) {
			r := h.mustMac(1).mustRun()
			r.reach(phase)
			r.cancel()
			if got := hear[agentproto.Cancel](r.mac); got.JobID != r.JobID || got.AttemptID != r.AttemptID {
				t.Fatalf("cancel %+v", got)
			}
			r.stands(fence.JobCancelling, phase)
			r.cancel() // harmless
			hear[agentproto.Cancel](r.mac)
			if got := r.fail(fence.BuyerCancelled); got.Requeued {
				t.Fatal("a cancelled job was requeued")
			}
			r.stands(fence.JobCancelled, fence.AttemptCancelled)
		})
		t.Run(string(phase)+", losing commit", func(t *testing.T) {
			r := h.mustMac(1).mustRun()
			r.reach(fence.AttemptUploading)
			r.cancel()
			hear[agentproto.Cancel](r.mac)
			r.say(r.commitMessage())
			if got := hear[agentproto.CommitRejected](r.mac); got.Code != fence.BuyerCancelled {
				t.Fatalf("%+v", got)
			}
			r.stands(fence.JobCancelled, fence.AttemptCancelled)
		})
	}
}

func TestF10_CancelOfAQueuedJobEndsItAtOnce(t *testing.T) {
	h := mustStudio(t)
	j := h.mustJob()
	got := into[api.Job](h.post("/v1/jobs/"+j.ID+"/cancel", h.admin, nil).is(202))
	if got.Status != api.JobCancelled || len(got.Attempts) != 0 || *got.FailureCode != fence.BuyerCancelled {
		t.Fatalf("job %+v", got)
	}
}

func TestF11_TheTerminalMessageComesBeforeTheNextOffer(t *testing.T) {
	h := mustStudio(t)
	m := h.mustMac(1)
	r := m.mustRun()
	h.mustJob() // waits for the slot
	m.say(&agentproto.Ready{SlotsFree: 1})
	wrong := *r
	wrong.token = "x"
	r.reach(fence.AttemptUploading)
	m.say(wrong.commitMessage())
	hear[agentproto.CommitRejected](m) // releases nothing: no offer follows it
	r.cancel()
	hear[agentproto.Cancel](m)
	m.say(r.commitMessage())
	if got := hear[agentproto.CommitRejected](m); got.Code != fence.BuyerCancelled {
		t.Fatalf("%+v", got)
	}
	m.mustOffer()
}

func TestF11_SlotsBoundTheOffers(t *testing.T) {
	h := mustStudio(t)
	for range 3 {
		h.mustJob()
	}
	m := h.mustMac(2)
	first := m.mustOffer()
	m.mustOffer()
	m.say(&agentproto.Ready{SlotsFree: 2}) // it says so, but two attempts count here
	first.reach(fence.AttemptRunning)      // the next message is the answer, no third offer
	first.fail(fence.RunnerFailed)
	m.mustOffer()
}

func TestF12_TheServerDecidesWhatIsTriedAgain(t *testing.T) {
	h := mustStudio(t)
	for code, requeued := range map[string]bool{
		fence.NoCapacity: true, fence.DownloadFailed: true, fence.UploadFailed: true, fence.InternalError: true,
		fence.RunnerFailed: false, fence.BuyerCancelled: false, "gremlins": false,
	} {
		t.Run(code, func(t *testing.T) {
			m := h.mustMac(1)
			r := m.mustRun()
			if got := r.fail(code); got.Requeued != requeued {
				t.Fatalf("requeued %v, want %v", got.Requeued, requeued)
			}
			want := fence.JobFailed
			if requeued {
				want = fence.JobQueued
				h.post("/v1/jobs/"+r.JobID+"/cancel", h.admin, nil).is(202)
				want = fence.JobCancelled
			}
			j := r.stands(want, fence.AttemptFailed)
			if a := j.Attempts[0]; *a.FailureCode != code || *a.FailureMessage != "it broke" {
				t.Fatalf("attempt %+v", a)
			}
			m.conn.CloseNow()
		})
	}
}

func TestF12_OnlyTheMacThatFailedWaits(t *testing.T) {
	h := mustStudio(t)
	a := h.mustMac(1)
	r := a.mustRun()
	r.fail(fence.InternalError)
	b := h.mustMac(1)
	if again := b.mustOffer(); again.JobID != r.JobID || again.offer.AttemptNumber != 2 {
		t.Fatalf("offer %+v", again.offer)
	}
}

func TestF13_ExpiredLeasesAreLostAndRequeued(t *testing.T) {
	h := mustStudio(t)
	a := h.mustMac(1)
	r := a.mustRun()
	h.clock.Advance(storetest.TTL)
	h.srv.sweeper.runOnce(context.Background())
	a.say(&agentproto.Ready{SlotsFree: 1}) // lease_expired makes nobody wait
	again := a.mustOffer()
	if again.JobID != r.JobID || again.offer.AttemptNumber != 2 {
		t.Fatalf("offer %+v", again.offer)
	}
	j := again.stands(fence.JobActive, fence.AttemptLeased)
	if first := j.Attempts[0]; first.Status != string(fence.AttemptLost) || *first.FailureCode != fence.LeaseExpired {
		t.Fatalf("first attempt %+v", first)
	}
}

func TestF13_AdmissionDeadline(t *testing.T) {
	h := mustStudio(t)
	deadline := h.clock.Now().Add(time.Minute)
	j := h.mustJob(func(r *api.JobRequest) { r.AdmissionDeadline = &deadline })
	h.clock.Advance(time.Minute)
	h.srv.sweeper.runOnce(context.Background())
	got := into[api.Job](h.get("/v1/jobs/"+j.ID, h.admin).is(200))
	if got.Status != api.JobFailed || *got.FailureCode != fence.NoCapacity {
		t.Fatalf("job %+v", got)
	}
}

func TestF13_SilentDevicesGoOffline(t *testing.T) {
	h := mustStudio(t)
	m := h.mustMac(1)
	h.srv.sweeper.mu.Lock()
	next := h.srv.sweeper.next
	h.srv.sweeper.mu.Unlock()
	if want := h.clock.Now().Add(90 * time.Second); !next.Equal(want) {
		t.Fatalf("the sweeper looks again at %v, want %v", next, want)
	}
	h.clock.Advance(90 * time.Second)
	h.srv.sweeper.runOnce(context.Background())
	if got := into[api.Device](h.get("/v1/devices/"+m.id, h.admin).is(200)); got.State != "offline" {
		t.Fatalf("device %+v", got)
	}
}
