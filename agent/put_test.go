package agent

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rendermac/agentproto"
	"rendermac/fetch"
)

// answerPart answers the uploads of one part as it is told, so many times.
func answerPart(part, times, status int, body string) func(http.ResponseWriter, *http.Request) bool {
	var n atomic.Int32
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, "/"+strconv.Itoa(part)) || int(n.Add(1)) > times {
			return false
		}
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
		io.WriteString(w, body)
		return true
	}
}

func s3Error(code string) string {
	return `<?xml version="1.0" encoding="UTF-8"?><Error><Code>` + code + `</Code><Message>no</Message><StringToSign>secret</StringToSign></Error>`
}

func TestURLThatAnS3StoreDoesNotObeyIsAskedForAnew(t *testing.T) {
	for code, status := range map[string]int{
		"SignatureDoesNotMatch": 403, "AccessDenied": 403, "NoSuchUpload": 404, "ExpiredToken": 400,
	} {
		t.Run(code, func(t *testing.T) {
			srv := newServer(t)
			srv.blob = answerPart(3, 1, status, s3Error(code))
			startWithResult(t, srv)
			commit := next[*agentproto.Commit](srv, 0, nil)
			next(srv, 0, func(u *agentproto.Upload) bool { return u.FromPart == 3 })
			if digest(srv.uploaded("att_1")) != commit.SHA256 {
				t.Error("the result is not whole")
			}
		})
	}
}

func TestPartIsSentAgainWhereAStoreIsSlowOrBytesWereDamagedOnTheirWay(t *testing.T) {
	for code, status := range map[string]int{"SlowDown": 503, "BadDigest": 400, "RequestTimeout": 400} {
		t.Run(code, func(t *testing.T) {
			srv := newServer(t)
			srv.blob = answerPart(2, 2, status, s3Error(code))
			startWithResult(t, srv)
			next[*agentproto.Commit](srv, 0, nil)
			if n := count[*agentproto.Upload](srv, 0); n != 1 {
				t.Errorf("a grant was asked for %d times", n)
			}
		})
	}
}

func TestURLsThatAreNeverObeyedEndTheUpload(t *testing.T) {
	srv := newServer(t)
	srv.blob = answerPart(2, 1000, 403, s3Error("SignatureDoesNotMatch"))
	a := startWithResult(t, srv)
	fail := failsWith(t, srv, a, "upload_failed")
	if !strings.Contains(fail.Message, "403") || strings.Contains(fail.Message, "secret") {
		t.Errorf("the agent says %q", fail.Message)
	}
}

func TestProxyThatRefusesThePartsIsNamed(t *testing.T) {
	srv := newServer(t)
	srv.blob = answerPart(1, 1000, 413, "<html>413 Request Entity Too Large</html>")
	a := startWithResult(t, srv)
	fail := failsWith(t, srv, a, "upload_failed")
	if want := fmt.Sprintf("before the server refuses bodies of %d bytes: set store.part_bytes: 1MiB", partBytes); !strings.Contains(fail.Message, want) {
		t.Errorf("the agent says %q", fail.Message)
	}
}

func TestProxyBeforeAnS3StoreIsNamed(t *testing.T) {
	p := piece{Part: agentproto.Part{Number: 1, Bytes: 9}}
	err := p.refused(&fetch.RefusedError{Status: http.StatusRequestEntityTooLarge}, false)
	if !strings.Contains(err.Error(), "before the S3 store refuses bodies of 9 bytes: let it pass them, or set store.part_bytes: 5MiB") {
		t.Error(err)
	}
}

// leaveResult is a finished result as a killed agent leaves it.
func leaveResult(t *testing.T, dir string, content []byte, size int64) {
	t.Helper()
	folder := filepath.Join(dir, "work", folderPrefix+"1")
	write(t, filepath.Join(folder, "output.mp4"), string(content))
	parts, whole, err := measureParts(bytes.NewReader(content), size)
	if err != nil {
		t.Fatal(err)
	}
	err = writeKept(folder, &keptResult{
		agentproto.IDs{JobID: "job_1", AttemptID: "att_1", LeaseEpoch: 1},
		"secret",
		result{File: "output.mp4", Bytes: int64(len(content)), SHA256: whole, Parts: parts},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// startWithResult starts an agent that has a finished result of five parts to send.
func startWithResult(t *testing.T, srv *fakeServer, adjust ...func(*agent)) *testAgent {
	t.Helper()
	if srv.reply == nil {
		srv.reply = resume
	}
	dir := t.TempDir()
	leaveResult(t, dir, reel()[:5*partBytes-1], partBytes)
	return startAgentIn(t, srv, dir, adjust...)
}

// A store or proxy that refuses a part at once may close the connection on the
// bytes, and its reason with them: it is asked first.
func TestLargePartThatIsRefusedAtOnceIsNotSent(t *testing.T) {
	srv := newServer(t)
	srv.reply = resume
	srv.blob = func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusRequestEntityTooLarge) // and reads nothing
		return true
	}
	dir := t.TempDir()
	leaveResult(t, dir, reel()[:10<<20], 5<<20)
	a := startAgentIn(t, srv, dir)
	if fail := failsWith(t, srv, a, "upload_failed"); !strings.Contains(fail.Message, "refuses bodies of 5242880 bytes") {
		t.Errorf("the agent says %q", fail.Message)
	}
	if n := count[*agentproto.Upload](srv, 0); n != 1 {
		t.Errorf("a grant was asked for %d times", n)
	}
}

// A proxy that knows no "Expect: 100-continue" says 417 to it.
func TestProxyThatCannotBeAskedFirstGetsThePartsAtOnce(t *testing.T) {
	srv := newServer(t)
	srv.reply = resume
	var asked, sent atomic.Int64
	srv.blob = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut {
			return false
		}
		if r.Header.Get("Expect") != "" {
			asked.Add(1)
			w.WriteHeader(http.StatusExpectationFailed)
			return true
		}
		n, _ := io.Copy(io.Discard, r.Body)
		sent.Add(n)
		return true
	}
	dir := t.TempDir()
	leaveResult(t, dir, reel()[:12<<20], 5<<20)
	startAgentIn(t, srv, dir)
	next[*agentproto.Commit](srv, 0, nil)
	if asked.Load() == 0 || asked.Load() > atOnce || sent.Load() != 12<<20 {
		t.Errorf("asked first %d times, and sent %d bytes", asked.Load(), sent.Load())
	}
}

func TestResultThatChangedOnTheDiskIsNotUploaded(t *testing.T) {
	srv := newServer(t)
	var a *testAgent
	srv.reply = func(_ *fakeSession, m agentproto.Message) bool {
		if m.Type() == "upload" {
			found, _ := filepath.Glob(filepath.Join(a.WorkDir, folderPrefix+"*", "output.*"))
			file, err := os.OpenFile(found[0], os.O_WRONLY, 0)
			if err == nil {
				_, err = file.WriteAt([]byte("rot"), partBytes+5)
			}
			if err != nil {
				t.Error(err)
			}
			file.Close()
		}
		return false
	}
	srv.blob = func(w http.ResponseWriter, r *http.Request) bool {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPut || digest(body) == r.Header.Get("X-Part-Sha256") {
			return r.Method == http.MethodPut
		}
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, s3Error("BadDigest"))
		return true
	}
	a = startAgent(t, srv)
	srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	fail := failsWith(t, srv, a, "upload_failed")
	if !strings.Contains(fail.Message, "part 2 of the result has changed on this machine's disk") {
		t.Errorf("the agent says %q", fail.Message)
	}
}

// storeAway answers 503 to one method until it is back; the server is busy
// meanwhile, once it is asked.
func storeAway(srv *fakeServer, method, ask string) (asked *atomic.Int32) {
	asked = new(atomic.Int32)
	var back atomic.Bool
	srv.blob = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != method || back.Load() {
			return false
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	var began atomic.Bool
	srv.reply = func(f *fakeSession, m agentproto.Message) bool {
		if m.Type() != ask || m.Type() == "upload" && began.CompareAndSwap(false, true) {
			return false
		}
		if asked.Add(1) > 3 {
			back.Store(true)
			return false
		}
		var ids agentproto.IDs
		switch m := m.(type) {
		case *agentproto.Upload:
			ids = m.IDs
		case *agentproto.Inputs:
			ids = m.IDs
		}
		soon := agentproto.Seconds(0.01)
		f.send(&agentproto.Error{Code: "busy", JobID: ids.JobID, AttemptID: ids.AttemptID, RetryAfterS: &soon})
		return true
	}
	return asked
}

func TestStoreThatIsAwayIsWaitedForAsLongAsTheServerIsBusy(t *testing.T) {
	for method, ask := range map[string]string{http.MethodPut: "upload", http.MethodGet: "inputs"} {
		t.Run(ask, func(t *testing.T) {
			srv := newServer(t)
			asked := storeAway(srv, method, ask)
			startAgent(t, srv, func(a *agent) { a.patience = 50 * time.Millisecond })
			srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
			commit := next[*agentproto.Commit](srv, 0, nil)
			if digest(srv.uploaded("att_1")) != commit.SHA256 || asked.Load() != 4 {
				t.Errorf("asked %d times", asked.Load())
			}
		})
	}
}

func TestInputThatNeverComesFailsTheDownloadWhenPatienceEndsTwice(t *testing.T) {
	srv := newServer(t)
	srv.blob = func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	a := startAgent(t, srv, func(a *agent) { a.patience = 20 * time.Millisecond })
	srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	failsWith(t, srv, a, "download_failed")
	if n := count[*agentproto.Inputs](srv, 0); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestKilledAgentSendsOnlyThePartsThatWereInFlightAgain(t *testing.T) {
	srv := newServer(t)
	srv.reply = resume
	var mu sync.Mutex
	times := map[string]int{} // that a part came whole
	var killed atomic.Bool
	shown := make(chan struct{})
	srv.blob = func(w http.ResponseWriter, r *http.Request) bool {
		number, _ := strconv.Atoi(filepath.Base(r.URL.Path))
		if r.Method != http.MethodPut {
			return false
		}
		if number > 3 && !killed.Load() {
			return hang(http.MethodPut)(w, r)
		}
		if killed.Load() {
			<-shown
		}
		mu.Lock()
		defer mu.Unlock()
		times[r.URL.Path]++
		return false
	}
	dir := t.TempDir()
	cmd := agentProc(t, srv, dir, "ffmpeg")
	srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	srv.until("three parts to be held", func() bool { return len(srv.held["att_1"]) == 3 })
	kill9(cmd)
	killed.Store(true)
	a := startAgentIn(t, srv, dir)
	p := next(srv, 0, func(p *agentproto.Progress) bool { return p.LeaseEpoch == 2 && p.Fraction != nil })
	close(shown)
	commit := next[*agentproto.Commit](srv, 0, nil)
	a.over()
	if digest(srv.uploaded("att_1")) != commit.SHA256 {
		t.Error("the result is not whole")
	}
	for part, n := range times {
		if n != 1 {
			t.Errorf("%s was sent %d times", part, n)
		}
	}
	if least := 3 * partBytes / float64(commit.Bytes); *p.Fraction < least*0.99 {
		t.Errorf("it shows %v, though %v is held", *p.Fraction, least)
	}
}

func TestLongResultIsCutIntoLongerParts(t *testing.T) {
	srv := newServer(t)
	startAgent(t, srv)
	o := &agentproto.LeaseOffer{
		IDs: agentproto.IDs{JobID: "job_1", AttemptID: "att_1", LeaseEpoch: 1}, CommitToken: "t", LeaseTTL: 60, Service: "ffmpeg.transcode",
		Inputs: []agentproto.Input{{URL: "/v1/blobs/x", Bytes: int64(len(mustClip(t))), SHA256: digest(mustClip(t))}},
		Output: agentproto.Output{PartBytes: 2}, // more than one message can list
	}
	srv.change(func() { srv.inputs["/v1/blobs/x"] = mustClip(t) })
	srv.session(1).send(o)
	commit := next[*agentproto.Commit](srv, 0, nil)
	if up := next[*agentproto.Upload](srv, 0, nil); len(up.Parts) != 1 || digest(srv.uploaded("att_1")) != commit.SHA256 {
		t.Errorf("%d parts", len(up.Parts))
	}
}

// lateReader is a transport that reads on in a body whose try is over, as Go's
// may, before it reads the next one.
type lateReader struct {
	last io.Reader
	got  []byte
}

func (l *lateReader) RoundTrip(r *http.Request) (*http.Response, error) {
	status := http.StatusServiceUnavailable
	if l.last != nil {
		status = http.StatusOK
		io.ReadFull(l.last, make([]byte, 3))
		l.got, _ = io.ReadAll(r.Body)
	}
	l.last = r.Body
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

func TestEachTryOfAPartHasABodyOfItsOwn(t *testing.T) {
	content, late := []byte("the bytes of a part"), &lateReader{}
	base, _ := url.Parse("http://server")
	u := &upload{r: &run{a: &agent{base: base, web: &http.Client{Transport: late}}}}
	p := piece{Part: agentproto.Part{Number: 1, Bytes: int64(len(content))}, content: io.NewSectionReader(bytes.NewReader(content), 0, int64(len(content)))}
	for try, want := range []bool{false, true} {
		err := u.put(t.Context(), &transfer{feed: func() {}, moving: func(int64) {}}, p)
		if (err == nil) != want {
			t.Fatalf("try %d: %v", try+1, err)
		}
	}
	if !bytes.Equal(late.got, content) {
		t.Errorf("the second try sent %q", late.got)
	}
}
