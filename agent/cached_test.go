package agent

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rendermac/agentproto"
)

// reel is two and a half ranges of what is no film: a run that has fetched it
// fails as runner_failed.
var reel = sync.OnceValue(func() []byte { return bytes.Repeat([]byte("forty megabytes "), 40<<20/16) })

// oneRange is what package fetch keeps of bytes that were cut off: whole ranges.
const oneRange = 16 << 20

// fetched waits until the run of an attempt has its inputs.
func fetched(srv *fakeServer, attempt string) {
	srv.t.Helper()
	next(srv, 0, func(f *agentproto.Fail) bool {
		if f.AttemptID == attempt && f.FailureCode != "runner_failed" {
			srv.t.Fatalf("%s failed as %s: %s", attempt, f.FailureCode, f.Message)
		}
		return f.AttemptID == attempt
	})
}

func TestJobsOfOneMasterFetchItOnce(t *testing.T) {
	srv := newServer(t)
	srv.terms.Slots = 3
	content := mustClip(t)
	release := make(chan struct{})
	srv.blob = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Length", strconv.Itoa(len(content)))
			w.Write(content[:len(content)/2])
			w.(http.Flusher).Flush()
			<-release
			w.Write(content[len(content)/2:])
		}
		return r.Method == http.MethodGet
	}
	a := startAgent(t, srv)
	for i := range 3 {
		srv.offer(srv.session(1), fmt.Sprintf("att_%d", i), content, `{}`)
	}
	for i := range 3 { // the two that wait show how far it has come, too
		next(srv, 0, func(p *agentproto.Progress) bool {
			return p.AttemptID == fmt.Sprintf("att_%d", i) && p.Fraction != nil && *p.Fraction > 0.4 && *p.Fraction < 0.6
		})
	}
	close(release)
	for i := range 3 {
		next(srv, 0, func(c *agentproto.Commit) bool { return c.AttemptID == fmt.Sprintf("att_%d", i) })
	}
	srv.offer(srv.session(1), "att_later", content, `{}`)
	next(srv, 0, func(c *agentproto.Commit) bool { return c.AttemptID == "att_later" })
	a.over()
	if n := len(srv.ranges()); n != 1 {
		t.Errorf("fetched %d times", n)
	}
}

func TestCancelledRunLeavesItsBytesToTheNext(t *testing.T) {
	srv := newServer(t)
	srv.terms.Slots = 2
	srv.blob = hangAfter(t, srv, 1, 20<<20)
	a := startAgent(t, srv)
	first := srv.offer(srv.session(1), "att_1", reel(), `{}`)
	waitForRanges(t, a.WorkDir, 1)
	srv.offer(srv.session(1), "att_2", reel(), `{}`)
	next(srv, 0, func(p *agentproto.Progress) bool { return p.AttemptID == "att_2" })
	srv.session(1).send(&agentproto.Cancel{JobID: first.JobID, AttemptID: first.AttemptID})
	fetched(srv, "att_2")
	if got, want := srv.ranges(), []string{"", fmt.Sprintf("bytes=%d-", oneRange)}; !slices.Equal(got, want) {
		t.Errorf("asked for %q, want %q", got, want)
	}
	a.over()
}

func TestKilledAgentGoesOnWithWhatItHas(t *testing.T) {
	srv := newServer(t)
	srv.blob = hangAfter(t, srv, 1, 20<<20)
	dir := t.TempDir()
	cmd := agentProc(t, srv, dir, "ffmpeg")
	srv.offer(srv.session(1), "att_1", reel(), `{}`)
	waitForRanges(t, filepath.Join(dir, "work"), 1)
	kill9(cmd)
	a := startAgentIn(t, srv, dir)
	srv.offer(srv.session(2), "att_2", reel(), `{}`)
	fetched(srv, "att_2")
	if got, want := srv.ranges(), []string{"", fmt.Sprintf("bytes=%d-", oneRange)}; !slices.Equal(got, want) {
		t.Errorf("asked for %q, want %q", got, want)
	}
	a.over()
}

// hangAfter lets so many requests for inputs get no further than n bytes.
func hangAfter(t *testing.T, srv *fakeServer, requests, n int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || len(srv.ranges()) > requests {
			return false
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(reel())))
		w.Write(reel()[:n])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	}
}

// waitForRanges waits until so many ranges are on the disk for good.
func waitForRanges(t *testing.T, workDir string, n int) {
	t.Helper()
	waitFor(t, "ranges to be kept", func() bool {
		journals, _ := filepath.Glob(filepath.Join(workDir, cacheName, "*"+journalSuffix))
		if len(journals) == 0 {
			return false
		}
		text, _ := os.ReadFile(journals[0])
		return strings.Count(string(text), "\n") > n
	})
}

func TestRangesOfAnotherHostComeSeveralAtOnce(t *testing.T) {
	srv := newServer(t)
	var now atomic.Int32
	two := make(chan struct{})
	away := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if now.Add(1) == 2 {
			close(two)
		}
		<-two // a lone request waits here for ever
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(reel()))
	}))
	t.Cleanup(away.Close)
	a := startAgent(t, srv)
	o := &agentproto.LeaseOffer{
		IDs: agentproto.IDs{JobID: "job_1", AttemptID: "att_1", LeaseEpoch: 1}, CommitToken: "t", LeaseTTL: 60, Service: "ffmpeg.transcode",
		Inputs: []agentproto.Input{{URL: away.URL, Bytes: int64(len(reel())), SHA256: digest(reel())}},
	}
	srv.session(1).send(o)
	fetched(srv, "att_1")
	a.over()
}

func TestInputWithoutADigestIsNotKept(t *testing.T) {
	srv := newServer(t)
	a := startAgent(t, srv)
	content := []byte("no film")
	for i, sum := range []string{"", "", strings.ToUpper(digest(content)), digest(content)} {
		attempt := fmt.Sprintf("att_%d", i)
		srv.change(func() { srv.inputs["/v1/blobs/x"] = content })
		srv.session(1).send(&agentproto.LeaseOffer{
			IDs: agentproto.IDs{JobID: "job_1", AttemptID: attempt, LeaseEpoch: 1}, CommitToken: "t", LeaseTTL: 60, Service: "ffmpeg.transcode",
			Inputs: []agentproto.Input{{URL: "/v1/blobs/x", Bytes: int64(len(content)), SHA256: sum}},
		})
		fetched(srv, attempt)
	}
	a.over()
	if n := len(srv.ranges()); n != 3 {
		t.Errorf("fetched %d times, want 3", n)
	}
	if left := names(t, filepath.Join(a.WorkDir, cacheName)); !slices.Equal(left, []string{digest(content)}) {
		t.Errorf("kept: %v", left)
	}
}

func TestDigestThatIsNoneNamesNoFile(t *testing.T) {
	srv := newServer(t)
	a := startAgent(t, srv)
	content := []byte("no film")
	srv.change(func() { srv.inputs["/v1/blobs/x"] = content })
	srv.session(1).send(&agentproto.LeaseOffer{
		IDs: agentproto.IDs{JobID: "job_1", AttemptID: "att_1", LeaseEpoch: 1}, CommitToken: "t", LeaseTTL: 60, Service: "ffmpeg.transcode",
		Inputs: []agentproto.Input{{URL: "/v1/blobs/x", Bytes: int64(len(content)), SHA256: "../../data/agent.json"}},
	})
	failsWith(t, srv, a, "download_failed")
}
