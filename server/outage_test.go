package server

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/agentproto"
	"rendermac/api"
	"rendermac/artifact"
	"rendermac/fence"
	"rendermac/store"
)

// degraded fails the test unless the answer is /readyz's problem and names what
// is away.
func (r reply) degraded(away ...string) {
	r.Helper()
	r.is(503)
	got := into[struct {
		*api.Problem
		Health string   `json:"health"`
		Away   []string `json:"away"`
	}](r)
	if got.Status != 503 || got.Code != "store_unavailable" || got.Health != "degraded" || !slices.Equal(got.Away, away) ||
		!strings.Contains(got.Detail, away[0]) || r.Header.Get("Content-Type") != api.ProblemType {
		r.Fatalf("got %s, want %q away", r.body, away)
	}
}

// unmount takes the store's folder away; mount brings it back.
func (h *httpServer) unmount() (mount func()) {
	h.Helper()
	store := filepath.Join(h.dir, "artifacts")
	move := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			h.Fatal(err)
		}
	}
	move(store, store+".away")
	return func() {
		if _, err := os.Stat(store); err == nil {
			h.Error("something was made in the store's place")
		}
		move(store+".away", store)
	}
}

// lines counts the log's lines that say this.
func (h *httpServer) lines(what string) int { return strings.Count(h.log.String(), what) }

const (
	saysAway = "the artifact store is away"
	saysBack = "the artifact store is back"
)

// One line when it goes and one when it is back, however many were refused; and
// nobody was told 500.
func TestOutage_EveryRouteSaysTryAgain(t *testing.T) {
	inBubble(t, func(b *bubble) {
		film := clip(t).input
		done := b.mustUpload(b.submit, "film.mov", film)
		open := into[api.UploadCreated](b.post("/v1/uploads", b.submit, api.UploadRequest{Name: "a.mov", Bytes: int64(len(film))}).is(201))
		r := b.mustMac(1).mustRun()
		r.reach(fence.AttemptUploading)
		r.commit()
		hear[agentproto.CommitOK](r.mac)
		where := b.get("/v1/jobs/"+r.JobID+"/output", b.read).is(302).Header.Get("Location")

		mount := b.unmount()
		uploads := len(b.openUploads())
		for range 3 {
			for what, answer := range map[string]reply{
				"create":   b.post("/v1/uploads", b.submit, `{"name":"b.mov","bytes":5}`),
				"get":      b.get("/v1/uploads/"+open.ID, b.submit),
				"complete": b.post("/v1/uploads/"+open.ID+"/complete", b.submit, nil),
				"a part":   b.put(open.Parts[0], film),
				"an input": b.get(where, ""),
				"output":   b.get("/v1/jobs/"+r.JobID+"/output", b.read),
			} {
				if answer.StatusCode != 503 || answer.Header.Get("Retry-After") != "10" || strings.Contains(string(answer.body), b.dir) {
					t.Errorf("%s: %d, Retry-After %q: %s", what, answer.StatusCode, answer.Header.Get("Retry-After"), answer.body)
					continue
				}
				answer.refuses(503, "store_unavailable")
			}
			time.Sleep(time.Minute)
		}
		b.get("/healthz", "").is(200)
		b.get("/readyz", "").degraded("artifact store")
		b.metricIs("rendermac_store_up 0")
		if now := len(b.openUploads()); now != uploads {
			t.Errorf("%d uploads were made without a store", now-uploads)
		}
		b.get("/v1/uploads/"+done.ID, b.submit).is(200) // what is known without the store

		b.returns(mount)
		b.put(open.Parts[0], film).is(200)
		b.post("/v1/uploads/"+open.ID+"/complete", b.submit, nil).is(200)
		b.get(where, "").is(200)
		b.metricIs("rendermac_store_up 1")
		if b.lines(saysAway) != 1 || b.lines(saysBack) != 1 || b.lines("a request failed") != 0 || b.lines("not ready") != 0 {
			t.Errorf("the log:\n%s", b.log)
		}
	}, func(o *Options) { o.MetricsPublic = true })
}

// returns brings the store back, and has the server find out.
func (b *bubble) returns(mount func()) {
	b.Helper()
	mount()
	b.get("/readyz", "").is(200)
	b.quiet()
}

func (h *httpServer) metricIs(line string) {
	h.Helper()
	if text := string(h.get("/metrics", "").is(200).body); !strings.Contains(text, line+"\n") {
		h.Errorf("the metrics do not say %s", line)
	}
}

// openUploads are the rows that could be begun.
func (h *httpServer) openUploads() (ids []string) {
	h.Helper()
	found, err := h.files.Pending(h.Context())
	if err != nil {
		h.Fatal(err)
	}
	return found
}

// The agent's upload waits through an outage of hours with its lease kept by
// progress, its commit is verified at once when the store is back, and nothing
// is tried twice.
func TestOutage_ARunWaitsForHours(t *testing.T) {
	inBubble(t, func(b *bubble) {
		r := b.mustMac(1).mustRun()
		r.say(r.progress("running"))
		hear[agentproto.ProgressOK](r.mac)
		mount := b.unmount()
		for range 5 {
			r.say(r.uploadMessage())
			busy := hear[agentproto.Error](r.mac)
			if busy.Code != "busy" || busy.RetryAfterS == nil || busy.RetryAfterS.Duration() < 8*time.Second || busy.RetryAfterS.Duration() > 12*time.Second || strings.Contains(busy.Message, b.dir) {
				t.Fatalf("%+v", busy)
			}
			r.say(&agentproto.Inputs{IDs: r.IDs})
			if busy := hear[agentproto.Error](r.mac); busy.Code != "busy" {
				t.Fatalf("%+v", busy)
			}
			r.beats(time.Hour)
			r.stands(fence.JobActive, fence.AttemptUploading)
		}
		b.returns(mount)
		r.reach(fence.AttemptUploading)
		mount = b.unmount()
		r.commit()
		time.Sleep(time.Hour)
		r.stands(fence.JobVerifying, fence.AttemptCommitting)
		mount()
		back := time.Now()
		hear[agentproto.CommitOK](r.mac)
		if waited := time.Since(back); waited > 20*time.Second {
			t.Errorf("verified %v after the store was back", waited)
		}
		if j := b.job(r.JobID); j.Status != api.JobSucceeded || len(j.Attempts) != 1 {
			t.Errorf("%+v", j)
		}
		if b.lines(saysAway) != 2 || b.lines("put off") != 0 {
			t.Errorf("the log:\n%s", b.log)
		}
	})
}

// A cancel needs no store. What the run had written is removed when it is back.
func TestOutage_ACancelEndsWithoutTheStore(t *testing.T) {
	inBubble(t, func(b *bubble) {
		uploading, verifying := b.mustMac(1).mustRun(), b.mustMac(1).mustRun()
		uploading.reach(fence.AttemptUploading)
		verifying.reach(fence.AttemptUploading)
		mount := b.unmount()
		uploading.cancel()
		hear[agentproto.Cancel](uploading.mac)
		uploading.fail(fence.BuyerCancelled)
		verifying.commit()
		time.Sleep(time.Hour)
		verifying.cancel()
		if got := hear[agentproto.CommitRejected](verifying.mac); got.Code != fence.BuyerCancelled {
			t.Fatalf("%+v", got)
		}
		for _, r := range []*run{uploading, verifying} {
			r.stands(fence.JobCancelled, fence.AttemptCancelled)
		}
		b.quiet()
		if owed := b.owed(); len(owed) != 2 {
			t.Errorf("%q are owed", owed)
		}
		b.returns(mount)
		if owed, left := b.owed(), b.openUploads(); len(owed) > 0 || len(left) > 0 {
			t.Errorf("%q are owed and %q left", owed, left)
		}
		if b.lines("could not discard") > 0 {
			t.Errorf("the log:\n%s", b.log)
		}
	})
}

// A server that is started while its store is away is degraded, aborts what is
// stale when the store comes, and verifies what waits.
func TestOutage_AStartWithoutTheStore(t *testing.T) {
	inBubbleOf(t, func(*store.Options) {}, func(b *bubble) {
		if err := b.files.Begin(b.Context(), "outputs/job_gone/att_gone.mp4", 10, 10); err != nil {
			t.Fatal(err)
		}
		mount := b.unmount()
		late, err := artifact.AwaitDir(filepath.Join(b.dir, "artifacts"), b.files.ID(), []byte(strings.Repeat("s", 32)), b.srv.o.Now)
		if err != nil {
			t.Fatal(err)
		}
		b.files, b.srv.o.Artifacts = late, late
		b.mustStart()
		time.Sleep(time.Hour)
		b.get("/readyz", "").degraded("artifact store")
		b.get("/healthz", "").is(200)
		mount()
		time.Sleep(20 * time.Second) // nobody has to tell it
		b.quiet()
		if left := b.openUploads(); len(left) > 0 {
			t.Errorf("%q are left", left)
		}
		if b.lines(saysAway) != 1 || b.lines("stale upload aborted") != 1 || b.lines(saysBack) != 1 {
			t.Errorf("the log:\n%s", b.log)
		}
	})
}

// One object that cannot be read is no outage: the store itself is asked first.
func TestOutage_OneBadObjectIsNone(t *testing.T) {
	inBubble(t, func(b *bubble) {
		for range 3 {
			b.srv.outage.met(artifact.ErrUnavailable)
			time.Sleep(time.Minute)
			b.get("/readyz", "").is(http.StatusOK)
		}
		if b.lines(saysAway) != 0 || b.lines("failed, though it takes writes") != 3 {
			t.Errorf("the log:\n%s", b.log)
		}
	})
}
