package agent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rendermac/agentproto"
)

// cutOff answers a request for an input with half of what it asked for, once.
func cutOff(input []byte) func(http.ResponseWriter, *http.Request) bool {
	var done atomic.Bool
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || !done.CompareAndSwap(false, true) {
			return false
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(input)))
		w.Write(input[:len(input)/2])
		panic(http.ErrAbortHandler)
	}
}

func TestInterruptedDownloadGoesOnWhereItWas(t *testing.T) {
	srv := newServer(t)
	input := mustClip(t)
	srv.blob = cutOff(input)
	startAgent(t, srv)
	srv.offer(srv.session(1), "att_1", input, `{}`)
	next[*agentproto.Commit](srv, 0, nil)
	want := "bytes=" + strconv.Itoa(len(input)/2) + "-"
	if got := srv.ranges(); len(got) != 2 || got[0] != "" || got[1] != want {
		t.Errorf("ranges asked for: %q, want %q", got, want)
	}
}

func TestStoreWithoutRangesIsReadAnew(t *testing.T) {
	srv := newServer(t)
	input := mustClip(t)
	cut := cutOff(input)
	srv.blob = func(w http.ResponseWriter, r *http.Request) bool {
		r.Header.Del("Range")
		return cut(w, r)
	}
	startAgent(t, srv)
	srv.offer(srv.session(1), "att_1", input, `{}`)
	next[*agentproto.Commit](srv, 0, nil)
}

func TestExpiredInputURLIsAskedForAnew(t *testing.T) {
	srv := newServer(t)
	input := mustClip(t)
	srv.blob = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet && r.URL.Query().Get("fresh") == "" {
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return false
	}
	srv.reply = func(f *fakeSession, m agentproto.Message) bool {
		ask, ok := m.(*agentproto.Inputs)
		if ok {
			// A directory store's URL may come without the server's address.
			f.send(&agentproto.InputsOK{IDs: ask.IDs, Inputs: []agentproto.Input{{
				URL: "/v1/blobs/inputs/att_1?fresh=1", Bytes: int64(len(input)), SHA256: digest(input),
			}}})
		}
		return ok
	}
	startAgent(t, srv)
	srv.offer(srv.session(1), "att_1", input, `{}`)
	next[*agentproto.Commit](srv, 0, nil)
}

// failsWith runs an offer that must fail, and returns the report.
func failsWith(t *testing.T, srv *fakeServer, a *testAgent, code string) *agentproto.Fail {
	t.Helper()
	fail := next[*agentproto.Fail](srv, 0, nil)
	if fail.FailureCode != code {
		t.Errorf("the run failed as %s: %s, want %s", fail.FailureCode, fail.Message, code)
	}
	a.over()
	return fail
}

func TestInputOfWrongBytesFailsTheDownload(t *testing.T) {
	srv := newServer(t)
	input := mustClip(t)
	srv.blob = func(w http.ResponseWriter, r *http.Request) bool {
		wrong := bytes.Clone(input)
		wrong[100] ^= 1
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(wrong))
		return true
	}
	a := startAgent(t, srv)
	srv.offer(srv.session(1), "att_1", input, `{}`)
	failsWith(t, srv, a, "download_failed")
	if n := len(srv.ranges()); n != 3 {
		t.Errorf("fetched %d times, want 3", n)
	}
}

func TestInputThatIsGoneFailsTheDownloadAtOnce(t *testing.T) {
	srv := newServer(t)
	srv.blob = func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusNotFound)
		return true
	}
	a := startAgent(t, srv)
	srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	failsWith(t, srv, a, "download_failed")
}

func TestStoreThatStaysAwayFailsTheTransferWhenPatienceEnds(t *testing.T) {
	srv := newServer(t)
	srv.blob = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return r.Method == http.MethodPut
	}
	a := startAgent(t, srv, func(a *agent) { a.patience = 50 * time.Millisecond })
	srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	failsWith(t, srv, a, "upload_failed")
}

func TestConnectionThatStandsStillIsGivenUpAndTriedAgain(t *testing.T) {
	srv := newServer(t)
	var hung atomic.Bool
	srv.blob = func(w http.ResponseWriter, r *http.Request) bool {
		return hung.CompareAndSwap(false, true) && hang(http.MethodGet)(w, r)
	}
	startAgent(t, srv, func(a *agent) { a.patience = time.Second })
	srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	next[*agentproto.Commit](srv, 0, nil)
}

func TestF16_HeldPartCountsAsDone(t *testing.T) {
	srv := newServer(t)
	srv.blob = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, "/2") {
			return false
		}
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusConflict)
		io.WriteString(w, `{"code":"part_held"}`)
		return true
	}
	startAgent(t, srv)
	srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	next[*agentproto.Commit](srv, 0, nil)
}

func TestExpiredPartURLIsAskedForAnewFromThatPart(t *testing.T) {
	srv := newServer(t)
	var expired atomic.Bool
	srv.blob = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, "/3") || !expired.CompareAndSwap(false, true) {
			return false
		}
		w.WriteHeader(http.StatusForbidden)
		return true
	}
	startAgent(t, srv)
	srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	commit := next[*agentproto.Commit](srv, 0, nil)
	next(srv, 0, func(u *agentproto.Upload) bool { return u.FromPart == 3 && len(u.Parts) > 3 })
	if digest(srv.uploaded("att_1")) != commit.SHA256 {
		t.Error("the result is not whole")
	}
}

func TestGrantsArePages(t *testing.T) {
	srv := newServer(t)
	srv.reply = func(f *fakeSession, m agentproto.Message) bool {
		u, ok := m.(*agentproto.Upload)
		if ok {
			f.send(f.grant(u, 2))
		}
		return ok
	}
	startAgent(t, srv)
	srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	commit := next[*agentproto.Commit](srv, 0, nil)
	if digest(srv.uploaded("att_1")) != commit.SHA256 {
		t.Error("the result is not whole")
	}
	if n := count[*agentproto.Upload](srv, 0); n < 2 {
		t.Errorf("%d pages", n)
	}
}

func TestPartsAreUploadedSeveralAtOnce(t *testing.T) {
	srv := newServer(t)
	var now atomic.Int32
	two := make(chan struct{})
	srv.blob = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut {
			return false
		}
		if now.Add(1) == 2 {
			close(two)
		}
		<-two // a lone part waits here for ever
		return false
	}
	startAgent(t, srv)
	srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	next[*agentproto.Commit](srv, 0, nil)
}

func TestBusyServerIsAskedAgain(t *testing.T) {
	srv := newServer(t)
	var busy atomic.Bool
	soon := agentproto.Seconds(0.01)
	srv.reply = func(f *fakeSession, m agentproto.Message) bool {
		u, ok := m.(*agentproto.Upload)
		if !ok || !busy.CompareAndSwap(false, true) {
			return false
		}
		f.send(&agentproto.Error{Code: "busy", JobID: u.JobID, AttemptID: u.AttemptID, RetryAfterS: &soon})
		return true
	}
	startAgent(t, srv)
	srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	next[*agentproto.Commit](srv, 0, nil)
}

func TestMeasureCutsPartsAndMakesOneOfAnEmptyFile(t *testing.T) {
	for size, want := range map[int]int{0: 1, 1: 1, partBytes: 1, partBytes + 1: 2, 3 * partBytes: 3} {
		text := bytes.Repeat([]byte("x"), size)
		parts, whole, err := measureParts(bytes.NewReader(text), partBytes)
		if err != nil || len(parts) != want || whole != digest(text) {
			t.Errorf("%d bytes make %d parts, want %d (%v)", size, len(parts), want, err)
		}
		for i, p := range parts {
			piece := text[i*partBytes : min(size, (i+1)*partBytes)]
			if p.Number != i+1 || p.Bytes != int64(len(piece)) || p.SHA256 != digest(piece) {
				t.Errorf("part %d of %d bytes is %+v", i+1, size, p)
			}
		}
	}
}

func TestF17_MeasuringStopsWithTheRun(t *testing.T) {
	ctx, lose := context.WithCancelCause(context.Background())
	lose(errLeaseOver)
	if _, _, err := measureParts(endable{ctx, strings.NewReader("x")}, partBytes); !errors.Is(err, errLeaseOver) {
		t.Errorf("measuring went on: %v", err)
	}
}
