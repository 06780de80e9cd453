package server

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"rendermac/agentproto"
	"rendermac/api"
	"rendermac/artifact"
	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"

	"github.com/coder/websocket"
)

// F14, F15, F16 and F18: sessions, absences and bytes.

func (r *run) entry() agentproto.ResumeEntry {
	return agentproto.ResumeEntry{IDs: r.IDs, CommitToken: r.token}
}

func TestF14_ResumeBumpsEpochAndSecret(t *testing.T) {
	h := mustStudio(t)
	r := h.mustMac(1).mustRun()
	r.reach(fence.AttemptUploading)
	stale := *r
	h.clock.Advance(storetest.TTL / 2)
	r.connect(1, r.entry())
	got := hear[agentproto.LeaseResumed](r.mac)
	if got.LeaseEpoch != 2 || got.CommitToken == "" || got.CommitToken == r.token || !got.LeaseExpiresAt.Equal(h.clock.Now().Add(storetest.TTL)) {
		t.Fatalf("lease_resumed %+v", got)
	}
	r.IDs, r.token = got.IDs, got.CommitToken
	stale.mac = r.mac
	r.say(stale.progress("uploading"))
	hear[agentproto.LeaseConflict](r.mac)
	for _, mixed := range []agentproto.Commit{
		{IDs: stale.IDs, CommitToken: stale.token}, {IDs: r.IDs, CommitToken: stale.token}, {IDs: stale.IDs, CommitToken: r.token},
	} {
		mixed.Bytes, mixed.SHA256 = int64(len(r.output)), sum(r.output)
		r.say(&mixed)
		if got := hear[agentproto.CommitRejected](r.mac); got.Code != fence.CodeCommitConflict {
			t.Fatalf("%+v was answered %+v", mixed.IDs, got)
		}
	}
	r.commit()
	hear[agentproto.CommitOK](r.mac)
	if j := r.stands(fence.JobSucceeded, fence.AttemptSucceeded); len(j.Attempts) != 1 || j.Attempts[0].LeaseEpoch != 2 {
		t.Fatalf("attempts %+v", j.Attempts)
	}
}

func TestF14_ALostAnswerMayBeAskedForAgain(t *testing.T) {
	h := mustStudio(t)
	r := h.mustMac(1).mustRun()
	r.connect(1, r.entry())
	hear[agentproto.LeaseResumed](r.mac) // and suppose it never arrived
	r.connect(1, r.entry())
	got := hear[agentproto.LeaseResumed](r.mac)
	if got.LeaseEpoch != 3 {
		t.Fatalf("epoch %d, want 3", got.LeaseEpoch)
	}
	before := r.entry()
	r.IDs, r.token = got.IDs, got.CommitToken
	r.reach(fence.AttemptRunning) // the first message under the new epoch
	r.connect(1, before)
	if got := hear[agentproto.LeaseRevoked](r.mac); got.Status != nil {
		t.Fatalf("a secret that was replaced for good learns %v", *got.Status)
	}
	r.stands(fence.JobQueued, fence.AttemptLost)
}

func TestF14_WhatIsNotListedIsLostAtOnce(t *testing.T) {
	h := mustStudio(t)
	m := h.mustMac(2)
	kept := m.mustRun()
	lost := m.mustRun()
	m.connect(2, kept.entry())
	hear[agentproto.LeaseResumed](m)
	kept.stands(fence.JobActive, fence.AttemptLeased)
	j := lost.stands(fence.JobQueued, fence.AttemptLost)
	if *j.Attempts[0].FailureCode != fence.ProviderOffline {
		t.Fatalf("attempt %+v", j.Attempts[0])
	}
	m.say(&agentproto.Ready{SlotsFree: 1}) // provider_offline makes nobody wait
	if again := m.mustOffer(); again.JobID != lost.JobID {
		t.Fatalf("offered %s", again.JobID)
	}
}

func TestF14_OnlyTheNewestSessionActs(t *testing.T) {
	h := mustStudio(t)
	r := h.mustMac(1).mustRun()
	old := *r.mac
	r.connect(1, r.entry())
	got := hear[agentproto.LeaseResumed](r.mac)
	old.closed(agentproto.CloseReplaced)
	r.IDs, r.token = got.IDs, got.CommitToken
	r.reach(fence.AttemptRunning)
	r.stands(fence.JobActive, fence.AttemptRunning)
}

func TestF14_AnswersComeInTheListsOrder(t *testing.T) {
	h := mustStudio(t)
	m := h.mustMac(3)
	done := m.mustRun()
	done.reach(fence.AttemptUploading)
	done.commit()
	hear[agentproto.CommitOK](m)
	m.say(&agentproto.Ready{SlotsFree: 3})
	cancelled, live := m.mustRun(), m.mustRun()
	cancelled.cancel()
	hear[agentproto.Cancel](m)
	wrong := live.entry()
	wrong.AttemptID, wrong.CommitToken = cancelled.AttemptID, "guess"
	guessed := live.entry()
	guessed.CommitToken = "guess"
	m.connect(3, done.entry(), cancelled.entry(), guessed, live.entry(), wrong)
	first, second := hear[agentproto.LeaseRevoked](m), hear[agentproto.LeaseRevoked](m)
	if first.AttemptID != done.AttemptID || *first.Status != "succeeded" || second.AttemptID != cancelled.AttemptID || *second.Status != "cancelled" {
		t.Fatalf("answers %+v %+v", first, second)
	}
	if got := hear[agentproto.LeaseRevoked](m); got.AttemptID != live.AttemptID || got.Status != nil {
		t.Fatalf("a guess of a run that is resumed: %+v", got)
	}
	if third := hear[agentproto.LeaseResumed](m); third.AttemptID != live.AttemptID {
		t.Fatalf("third answer %+v", third)
	}
	if fourth := hear[agentproto.LeaseRevoked](m); fourth.Status != nil {
		t.Fatalf("a wrong secret learns %q", *fourth.Status)
	}
	cancelled.stands(fence.JobCancelled, fence.AttemptCancelled)
}

func TestF14_CommittingIsAnsweredOnTheNewSession(t *testing.T) {
	h := mustServe(t)
	stop := h.srv.matcherOnlyUntil()
	r := h.mustMac(1).mustRun()
	r.reach(fence.AttemptUploading)
	r.commit()
	r.connect(1, r.entry())
	if got := hear[agentproto.LeaseRevoked](r.mac); *got.Status != "committing" {
		t.Fatalf("%+v", got)
	}
	h.mustJob()
	stop()
	h.mustStart()
	if got := hear[agentproto.CommitOK](r.mac); got.AttemptID != r.AttemptID {
		t.Fatalf("%+v", got)
	}
}

func TestF14_WithoutResumeAReconnectMeansANewAttempt(t *testing.T) {
	h := mustStudioOf(t, func(o *store.Options) { o.Resume = false }, func(o *Options) { o.Resume = false })
	r := h.mustMac(1).mustRun()
	r.connect(1, r.entry())
	if r.hello.Resume {
		t.Fatal("hello_ok says that resuming is on")
	}
	if got := hear[agentproto.LeaseRevoked](r.mac); *got.Status != "lost" {
		t.Fatalf("%+v", got)
	}
	r.stands(fence.JobQueued, fence.AttemptLost)
}

func TestF14_ByeEndsWhatIsNotKept(t *testing.T) {
	h := mustStudio(t)
	m := h.mustMac(2)
	kept, left := m.mustRun(), m.mustRun()
	m.say(&agentproto.Bye{Reason: "update", Keep: []agentproto.IDs{kept.IDs}})
	m.say(kept.progress("running")) // answered after the bye: it has acted
	hear[agentproto.ProgressOK](m)
	kept.stands(fence.JobActive, fence.AttemptRunning)
	left.stands(fence.JobQueued, fence.AttemptLost)
}

func TestF14_ByeActsThoughTheSocketEndsWithIt(t *testing.T) {
	h := mustStudio(t)
	for range 10 {
		r := h.mustMac(1).mustRun()
		r.say(&agentproto.Bye{Reason: "going home"})
		r.conn.Close(websocket.StatusNormalClosure, "bye")
		h.eventually(func() bool { return into[api.Device](h.get("/v1/devices/"+r.id, h.admin)).State == "offline" })
		r.stands(fence.JobQueued, fence.AttemptLost)
		h.post("/v1/jobs/"+r.JobID+"/cancel", h.admin, nil).is(202)
	}
}

func TestF15_VerificationIsTakenUpAfterARestart(t *testing.T) {
	h := mustServe(t)
	stop := h.srv.matcherOnlyUntil()
	r := h.mustMac(1).mustRun()
	r.reach(fence.AttemptUploading)
	r.commit()
	stop()
	again, err := New(h.srv.o) // a new server over the same rows and bytes
	if err != nil {
		t.Fatal(err)
	}
	h.srv.hub.closeAll()
	h.srv = again
	h.mustStart()
	h.eventually(func() bool { return into[api.Job](h.get("/v1/jobs/"+r.JobID, h.admin)).Status == api.JobSucceeded })
}

// eventually asks until it is so; there is no signal to wait for from outside.
func (h *httpServer) eventually(so func() bool) {
	h.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hearing)
	defer cancel()
	for !so() {
		if ctx.Err() != nil {
			h.Fatal("it never came to be")
		}
	}
}

func TestF16_StaleURLsChangeNothing(t *testing.T) {
	h := mustStudio(t)
	r := h.mustMac(1).mustRun()
	r.say(r.uploadMessage())
	grant := hear[agentproto.UploadGrant](r.mac)
	other := *r
	other.output = append([]byte("X"), r.output[1:]...)
	if got := other.putPart(grant.Parts[0]); got.StatusCode != 422 {
		t.Fatalf("other bytes of the same length: %d, want 422", got.StatusCode)
	}
	r.putPart(grant.Parts[0]).is(200)
	r.putPart(grant.Parts[0]).refuses(409, "part_held")
	r.commit()
	hear[agentproto.CommitOK](r.mac)
	if got := r.putPart(grant.Parts[0]); got.StatusCode != 403 && got.StatusCode != 409 {
		t.Fatalf("after F6: %d", got.StatusCode)
	}
	r.stands(fence.JobSucceeded, fence.AttemptSucceeded)
}

func TestF16_ALostAttemptsURLsDie(t *testing.T) {
	h := mustStudio(t)
	m := h.mustMac(1)
	r := m.mustRun()
	r.say(r.uploadMessage())
	grant := hear[agentproto.UploadGrant](m)
	h.clock.Advance(storetest.TTL)
	h.srv.sweeper.runOnce(context.Background())
	h.eventually(func() bool {
		keys, err := h.files.Pending(context.Background())
		return err == nil && len(keys) == 0
	})
	r.putPart(grant.Parts[0]).refuses(403, "bad_signature")
}

func TestF16_PartsHeldStayHeldWhereTheyAreTheSame(t *testing.T) {
	h := mustStudio(t, func(o *Options) { o.PartBytes = 16 << 10 })
	r := h.mustMac(1).mustRun()
	r.say(r.uploadMessage())
	first := hear[agentproto.UploadGrant](r.mac)
	if len(first.Parts) < 3 {
		t.Fatalf("%d parts, want some", len(first.Parts))
	}
	for _, p := range first.Parts[:2] {
		r.putPart(p).is(200)
	}
	r.output = append([]byte("X"), r.output[1:]...) // part 1 is another now
	r.say(r.uploadMessage())
	second := hear[agentproto.UploadGrant](r.mac)
	if len(second.Parts) != len(first.Parts)-1 || second.Parts[0].Number != 1 || second.Parts[1].Number != 3 {
		t.Fatalf("second grant names %d parts, from %d and %d", len(second.Parts), second.Parts[0].Number, second.Parts[1].Number)
	}
	from := r.uploadMessage()
	from.FromPart = 3
	r.say(from)
	if third := hear[agentproto.UploadGrant](r.mac); third.Parts[0].Number != 3 {
		t.Fatalf("from_part 3 begins with %d", third.Parts[0].Number)
	}
	bad := r.uploadMessage()
	bad.Parts = bad.Parts[1:]
	r.say(bad)
	if got := hear[agentproto.Error](r.mac); got.Code != "bad_message" || got.AttemptID != r.AttemptID {
		t.Fatalf("parts that do not add up: %+v", got)
	}
}

func TestF18_RevokeClosesTheSessionAndEndsItsRuns(t *testing.T) {
	h := mustStudio(t)
	m := h.mustMac(1)
	r := m.mustRun()
	h.do("DELETE", "/v1/devices/"+m.id, h.admin, nil).is(204)
	m.closed(agentproto.CloseRevoked)
	j := r.stands(fence.JobQueued, fence.AttemptLost)
	if *j.Attempts[0].FailureCode != fence.ProviderOffline {
		t.Fatalf("attempt %+v", j.Attempts[0])
	}
	_, answer, err := websocket.Dial(context.Background(), m.url+"/v1/provider/ws", &websocket.DialOptions{
		Subprotocols: []string{agentproto.Subprotocol}, HTTPHeader: http.Header{"Authorization": {"Bearer " + m.token}},
	})
	if err == nil || answer == nil || answer.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(answer.Header.Get("Content-Type"), "application/problem+json") {
		t.Fatalf("a revoked token: %v, %+v", err, answer)
	}
	if got := into[api.Device](h.get("/v1/devices/"+m.id, h.admin).is(200)); got.State != "revoked" {
		t.Fatalf("device %+v", got)
	}
}

func TestF18_RevokeLeavesWhatPassedCommit(t *testing.T) {
	h := mustServe(t)
	stop := h.srv.matcherOnlyUntil()
	r := h.mustMac(1).mustRun()
	r.reach(fence.AttemptUploading)
	r.commit()
	h.do("DELETE", "/v1/devices/"+r.id, h.admin, nil).is(204)
	r.stands(fence.JobVerifying, fence.AttemptCommitting)
	stop()
	h.mustStart()
	h.eventually(func() bool { return into[api.Job](h.get("/v1/jobs/"+r.JobID, h.admin)).Status == api.JobSucceeded })
}

func TestF16_WhatACrashLeftIsClearedAtStart(t *testing.T) {
	h := mustServe(t)
	stop := h.srv.matcherOnlyUntil()
	ctx := context.Background()
	refused, open := h.mustMac(1).mustRun(), h.mustMac(1).mustRun()
	refused.reach(fence.AttemptUploading)
	refused.commit()
	if _, err := h.files.Complete(ctx, refused.offer.Output.Key); err != nil {
		t.Fatal(err)
	}
	if _, err := h.db.FinishCommit(ctx, refused.AttemptID, fence.Verdict{Code: fence.VerificationFailed}, "no", nil); err != nil {
		t.Fatal(err)
	}
	open.say(open.uploadMessage())
	hear[agentproto.UploadGrant](open.mac)
	if _, err := h.db.Revoke(ctx, open.id); err != nil { // and nobody was there to abort its upload
		t.Fatal(err)
	}
	stop()
	h.mustStart()
	h.eventually(func() bool {
		_, _, err := h.files.Open(ctx, refused.offer.Output.Key)
		return errors.Is(err, artifact.ErrNotFound)
	})
	if keys, err := h.files.Pending(ctx); err != nil || len(keys) > 0 {
		t.Errorf("open writes: %v, %v", keys, err)
	}
}
