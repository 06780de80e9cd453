package artifact_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rendermac/artifact"
	"rendermac/artifact/artifacttest"
)

func put(t testing.TB, ctx context.Context, url string, body io.Reader, length int64) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, url, body)
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = length
	return r
}

// Else a client that has waited a second for 100 Continue sends its body unasked.
func init() { http.DefaultTransport.(*http.Transport).ExpectContinueTimeout = time.Minute }

// unbound gives a URL that is bound to the length of its part only.
func unbound(t testing.TB, f artifacttest.Fixture, n int, length int64) string {
	t.Helper()
	u, err := f.Store.SignPart(t.Context(), artifacttest.Key, artifact.Part{Number: n, Bytes: length}, "upl_1", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return f.Base + u.URL
}

// slow is a request whose body the test sends by hand.
type slow struct {
	*io.PipeWriter
	answer chan answer
}

// startSlow begins a PUT; when it returns the server is reading the body.
func startSlow(t testing.TB, url string, length int64) slow {
	t.Helper()
	reading := make(chan struct{})
	r, w := io.Pipe()
	s := slow{w, make(chan answer, 1)}
	request := put(t, t.Context(), url, r, length)
	request.Header.Set("Expect", "100-continue") // so that the body is first asked for by Put
	go func() { s.answer <- send(t, request) }()
	go func() {
		_, _ = w.Write([]byte{0}) // taken only once the server asks
		close(reading)
	}()
	<-reading
	return s
}

func TestF16_HeldPartIsNotReopened(t *testing.T) {
	f := serve(t, t.TempDir())
	object := artifacttest.Bytes(1, partBytes)
	f.MustBegin(t, object)
	u := unbound(t, f, 1, partBytes)
	f.MustPut(t, 1, object)
	for _, body := range [][]byte{object, artifacttest.Bytes(2, partBytes), []byte("short")} {
		a := send(t, put(t, t.Context(), u, bytes.NewReader(body), int64(len(body))))
		if a.status != http.StatusConflict || a.Code != "part_held" {
			t.Errorf("PUT to a held part: %+v, want 409 part_held", a)
		}
	}
	f.MustHold(t, map[int][]byte{1: object})
	f.MustComplete(t, object)
}

// A client that asks first is told before it sends 64 MiB for nothing.
func TestF16_HeldPartIsRefusedBeforeTheBody(t *testing.T) {
	f := serve(t, t.TempDir())
	object := artifacttest.Bytes(1, partBytes)
	f.MustBegin(t, object)
	f.MustPut(t, 1, object)
	u, err := url.Parse(unbound(t, f, 1, partBytes))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", u.RequestURI(), partBytes)
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, "409") {
		t.Errorf("first line %q (%v), want 409 and no 100 Continue", line, err)
	}
}

func TestF16_OneWriterAPart(t *testing.T) {
	f := serve(t, t.TempDir())
	f.MustBegin(t, make([]byte, partBytes))
	u := unbound(t, f, 1, partBytes)
	bodies, winner := map[string][]byte{}, make(chan string, 16)
	var racing sync.WaitGroup
	for i := range 16 {
		body := artifacttest.Bytes(uint64(i), partBytes)
		bodies[artifacttest.Sum(body)] = body
		racing.Go(func() {
			switch a := send(t, put(t, t.Context(), u, bytes.NewReader(body), partBytes)); {
			case a.status == http.StatusOK:
				winner <- artifacttest.Sum(body)
			case a.status != http.StatusConflict && a.err == nil:
				t.Errorf("a losing writer got %+v", a)
			}
		})
	}
	racing.Wait()
	if len(winner) != 1 {
		t.Fatalf("%d writers were told 200, want 1", len(winner))
	}
	f.MustComplete(t, bodies[<-winner])
}

// The second writer waits for the first, and takes its place when that breaks off.
func TestF16_SecondWriterWaits(t *testing.T) {
	f := serve(t, t.TempDir())
	object := artifacttest.Bytes(3, partBytes)
	f.MustBegin(t, object)
	u := unbound(t, f, 1, partBytes)
	first := startSlow(t, u, partBytes)
	second := make(chan answer)
	go func() { second <- send(t, put(t, t.Context(), u, bytes.NewReader(object), partBytes)) }()
	select {
	case a := <-second:
		t.Fatalf("the second writer was let in beside the first: %+v", a)
	case <-time.After(50 * time.Millisecond): // a wrong answer would come at once
	}
	first.CloseWithError(errors.New("cut"))
	if a := <-second; a.status != http.StatusOK {
		t.Errorf("second writer: %+v, want 200", a)
	}
	f.MustComplete(t, object)
}

func TestF16_BrokenBodyIsNotHeld(t *testing.T) {
	f := serve(t, t.TempDir())
	object := artifacttest.Bytes(4, partBytes)
	f.MustBegin(t, object)
	cut := startSlow(t, unbound(t, f, 1, partBytes), partBytes)
	if _, err := cut.Write(object[:partBytes/2]); err != nil {
		t.Fatal(err)
	}
	cut.CloseWithError(errors.New("cut"))
	<-cut.answer
	f.MustPut(t, 1, object) // waits for the server's side of the cut
	f.MustHold(t, map[int][]byte{1: object})

	f.MustBegin(t, append(object, object...))
	for _, length := range []int{0, partBytes - 1, partBytes + 1} {
		chunked := put(t, t.Context(), unbound(t, f, 2, partBytes), io.MultiReader(bytes.NewReader(make([]byte, length))), -1)
		if a := send(t, chunked); a.status != http.StatusUnprocessableEntity || a.Code != "digest_mismatch" {
			t.Errorf("a chunked body of %d bytes: %+v, want 422", length, a)
		}
	}
	f.MustHold(t, map[int][]byte{1: object})
}

func TestF16_CompleteEndsOpenWriters(t *testing.T) {
	f := serve(t, t.TempDir())
	object := artifacttest.Bytes(5, 2*partBytes)
	parts := artifacttest.Cut(object, partBytes)
	f.MustBegin(t, object)
	f.MustPut(t, 1, parts[0])
	open := startSlow(t, unbound(t, f, 2, partBytes), partBytes)
	if _, err := f.Store.Complete(t.Context(), artifacttest.Key); !errors.Is(err, artifact.ErrIncomplete) {
		t.Fatalf("Complete = %v, want ErrIncomplete", err)
	}
	if a := <-open.answer; a.status != http.StatusForbidden {
		t.Errorf("the open writer got %+v, want 403", a)
	}
	f.MustHold(t, map[int][]byte{1: parts[0]})
	f.MustPut(t, 2, parts[1])
	f.MustComplete(t, object)
}

func TestF16_AbortEndsOpenWriters(t *testing.T) {
	folder := t.TempDir()
	f := serve(t, folder)
	f.MustBegin(t, make([]byte, partBytes))
	open := startSlow(t, unbound(t, f, 1, partBytes), partBytes)
	if err := f.Store.Abort(t.Context(), artifacttest.Key); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(folder + "/writes"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if a := <-open.answer; a.status != http.StatusForbidden {
		t.Errorf("the open writer got %+v, want 403", a)
	}
}

// Sixteen stale Macs go on writing whatever they have while the object is
// completed, again and again; what was hashed is what stays.
func TestF16_CompleteWhileOthersWrite(t *testing.T) {
	f := serve(t, t.TempDir())
	for round := range 10 {
		size := int64(3*partBytes + 100)
		if err := f.Store.Begin(t.Context(), artifacttest.Key, size, partBytes); err != nil {
			t.Fatal(err)
		}
		urls := []string{unbound(t, f, 1, partBytes), unbound(t, f, 2, partBytes), unbound(t, f, 3, partBytes), unbound(t, f, 4, 100)}
		var stop atomic.Bool
		var writing sync.WaitGroup
		for i := range 16 {
			writing.Go(func() {
				length := min(size-int64(i%4)*partBytes, partBytes)
				for seed := i; !stop.Load(); seed += 16 {
					body := artifacttest.Bytes(uint64(seed), length)
					send(t, put(t, context.WithoutCancel(t.Context()), urls[i%4], bytes.NewReader(body), length))
				}
			})
		}
		info, err := f.Store.Complete(t.Context(), artifacttest.Key)
		for errors.Is(err, artifact.ErrIncomplete) {
			info, err = f.Store.Complete(t.Context(), artifacttest.Key)
		}
		if err != nil {
			t.Fatalf("round %d: Complete: %v", round, err)
		}
		before := info.SHA256
		for range 20 {
			a := send(t, put(t, t.Context(), urls[0], bytes.NewReader(make([]byte, partBytes)), partBytes))
			if a.status == http.StatusOK {
				t.Fatal("a URL still wrote after Complete")
			}
		}
		stop.Store(true)
		writing.Wait()
		mustBe(t, f, before)
		if err := f.Store.Delete(t.Context(), artifacttest.Key); err != nil {
			t.Fatal(err)
		}
	}
}

// mustBe reads the published object and holds its bytes against a digest.
func mustBe(t *testing.T, f artifacttest.Fixture, sum string) {
	t.Helper()
	o, _, err := f.Store.Open(t.Context(), artifacttest.Key)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if got, err := io.ReadAll(o); err != nil || artifacttest.Sum(got) != sum {
		t.Fatalf("the object has changed since it was hashed (error %v)", err)
	}
}

func TestF16_PublishedIsReadOnly(t *testing.T) {
	folder := t.TempDir()
	f := serve(t, folder)
	f.MustBegin(t, nil)
	f.MustPut(t, 1, nil)
	f.MustComplete(t, nil)
	stat, err := os.Stat(folder + "/objects/" + artifacttest.Key)
	if err != nil || stat.Mode().Perm() != 0o444 {
		t.Errorf("mode %v, error %v; want 0444", stat.Mode(), err)
	}
}
