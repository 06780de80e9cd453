package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if url := os.Getenv("FETCH_CHILD"); url != "" {
		o := Options{
			Path: os.Getenv("FETCH_PATH"), SHA256: os.Getenv("FETCH_SHA256"), AtOnce: 3,
			URL:    func(context.Context) (string, http.Header, error) { return url, nil, nil },
			Client: http.DefaultClient, Retry: Retry{Backoff: time.Millisecond, Patience: time.Minute, Idle: time.Minute}, rangeBytes: small,
		}
		fmt.Sscan(os.Getenv("FETCH_BYTES"), &o.Bytes)
		if err := To(context.Background(), o); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestAKilledProcessLosesTheRangesInFlight kills a process at a random byte and
// counts what the next one is sent.
func TestAKilledProcessLosesTheRangesInFlight(t *testing.T) {
	rnd, data := seeded(t, 40*small+99)
	for range 5 {
		server := &object{data: data}
		stop := rnd.Int64N(int64(len(data) - 6*small)) // so that there is another range for each of the three
		reached, killed := make(chan bool, 100), make(chan bool)
		server.before = func(http.ResponseWriter, *http.Request) bool {
			late := server.sent.Load() >= stop
			if late {
				reached <- true
				<-killed
			}
			return late
		}
		o := options(t, data, server)
		url, _, _ := o.URL(t.Context())
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "FETCH_CHILD="+url, "FETCH_PATH="+o.Path, "FETCH_SHA256="+o.SHA256, fmt.Sprint("FETCH_BYTES=", o.Bytes))
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		for range o.AtOnce { // none goes on: what was sent before is all that there is
			<-reached
		}
		whole := server.sent.Load() / small
		waitForLines(t, o.Path+".ranges", int(whole))
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		child.Wait()
		close(killed)
		server.before = nil
		server.sent.Store(0)

		var first int64
		o.Progress = func(n int64) { first += n }
		if err := To(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		arrived(t, o, data)
		if most := int64(len(data)) - whole*small; server.sent.Load() > most {
			t.Errorf("killed with %d ranges there: %d bytes were sent again, at most %d were missing", whole, server.sent.Load(), most)
		}
		if first != o.Bytes {
			t.Errorf("%d bytes reported of %d", first, o.Bytes)
		}
	}
}

func waitForLines(t *testing.T, path string, n int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		text, _ := os.ReadFile(path)
		if bytes.Count(text, []byte("\n")) >= n+1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the journal does not come to %d ranges: %q", n, text)
		}
	}
}

// stopped is a fetch that ended with ranges 0 and 2 of four in the journal.
func stopped(t *testing.T, data []byte) (Options, *object) {
	server := &object{data: data}
	o := options(t, data, server)
	j := journal{path: o.Path + ".ranges", header: header{o.Bytes, o.SHA256, small}}
	if err := j.begin(); err != nil {
		t.Fatal(err)
	}
	if err := j.add([]int{2, 0}); err != nil {
		t.Fatal(err)
	}
	there := bytes.Clone(data)
	clear(there[small : 2*small])
	clear(there[3*small:])
	if err := os.WriteFile(o.Path, there, 0o600); err != nil {
		t.Fatal(err)
	}
	return o, server
}

func TestWhatTheJournalHasIsNotFetched(t *testing.T) {
	for _, atOnce := range []int{1, 3} {
		_, data := seeded(t, 4*small)
		o, server := stopped(t, data)
		o.AtOnce = atOnce
		var held int64
		o.Resumed = func(n int64) { held = n }
		if err := To(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		arrived(t, o, data)
		if server.sent.Load() != 2*small || held != 2*small {
			t.Errorf("%d bytes were sent, %d were there", server.sent.Load(), held)
		}
	}
}

func TestAJournalThatIsNotRightIsNotBelieved(t *testing.T) {
	for name, spoil := range map[string]func(o Options, text string) string{
		"empty":              func(Options, string) string { return "" },
		"cut in its header":  func(_ Options, text string) string { return text[:10] },
		"of another length":  func(_ Options, text string) string { return strings.Replace(text, `"bytes":`, `"bytes":1`, 1) },
		"of another object":  func(o Options, text string) string { return strings.Replace(text, o.SHA256, digest(nil), 1) },
		"of other ranges":    func(_ Options, text string) string { return strings.Replace(text, `_bytes":`, `_bytes":1`, 1) },
		"naming a range 4":   func(_ Options, text string) string { return text + "4\n" },
		"naming no number":   func(_ Options, text string) string { return text + "\x00\x00\n" },
		"with lying numbers": func(_ Options, text string) string { return text + "1\n3\n" }, // the digest tells
	} {
		t.Run(name, func(t *testing.T) {
			_, data := seeded(t, 4*small)
			o, server := stopped(t, data)
			text, err := os.ReadFile(o.Path + ".ranges")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(o.Path+".ranges", []byte(spoil(o, string(text))), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := To(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			arrived(t, o, data)
			if server.sent.Load() != 4*small {
				t.Errorf("%d bytes were sent", server.sent.Load())
			}
		})
	}
}

func TestALineWithoutItsEndDoesNotCount(t *testing.T) {
	_, data := seeded(t, 40*small)
	o := options(t, data, nil)
	j := journal{path: o.Path, header: header{1, "x", 1}}
	if err := os.WriteFile(j.path, []byte(j.header.line()+"3\n1"), 0o600); err != nil { // of "12"
		t.Fatal(err)
	}
	held, err := j.read(40)
	if err != nil || fmt.Sprint(held) != "[3]" {
		t.Fatal(held, err)
	}
	if err := j.add([]int{2}); err != nil {
		t.Fatal(err)
	}
	if held, err = j.read(40); err != nil || fmt.Sprint(held) != "[3 2]" {
		t.Fatal("what is added goes on with it:", held, err)
	}
}

func TestAWholeFileIsReadAndNotFetched(t *testing.T) {
	_, data := seeded(t, 4*small)
	server := &object{data: data}
	o := options(t, data, server)
	if err := os.WriteFile(o.Path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := To(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	arrived(t, o, data)
	if server.asked.Load() != 0 {
		t.Error("it was fetched")
	}
}

// What an earlier process has left may be so much that reading it takes a minute.
func TestAnEndIsNotHeldUpByWhatIsThere(t *testing.T) {
	_, data := seeded(t, 4*small)
	o := options(t, data, &object{data: data})
	if err := os.WriteFile(o.Path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	o.Resumed = func(int64) { stop() }
	if err := To(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if err := To(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	arrived(t, o, data)
}

func TestAFileOfTheRightLengthOnlyIsFetched(t *testing.T) {
	_, data := seeded(t, 4*small)
	o := options(t, data, &object{data: data})
	if err := os.WriteFile(o.Path, make([]byte, len(data)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := To(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	arrived(t, o, data)
}

func TestAFileOfAnotherLengthIsWrittenOver(t *testing.T) {
	_, data := seeded(t, 4*small)
	o, _ := stopped(t, data)
	if err := os.Truncate(o.Path, 5*small); err != nil {
		t.Fatal(err)
	}
	if err := To(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	arrived(t, o, data)
}
