package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rendermac/artifact/artifacttest"
)

// patience bounds every wait for a process; none comes near it.
const patience = 2 * time.Minute

// house is a fresh HOME with this very binary on its PATH.
type house struct {
	testing.TB
	home, port string
	patience   time.Duration
}

func newHouse(t testing.TB) *house {
	t.Helper()
	h := &house{TB: t, home: t.TempDir(), port: artifacttest.FreePort(t, "127.0.0.1"), patience: patience}
	self, err := os.Executable()
	if err == nil {
		err = os.Mkdir(filepath.Join(h.home, "bin"), 0o755)
	}
	if err == nil {
		err = os.Symlink(self, filepath.Join(h.home, "bin", "rendermac"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// terminal is a shell that runs lines as someone types them.
type terminal struct {
	*house
	cmd      *exec.Cmd
	out, err said
	ended    chan error
}

// said is what is written, by several at once, and read meanwhile.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// open runs a script in a shell of its own; what it started ends with the test.
func (h *house) open(script string) *terminal {
	h.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), h.patience)
	t := &terminal{house: h, cmd: exec.CommandContext(ctx, "bash", "-euc", script), ended: make(chan error, 1)}
	t.cmd.Dir = h.home
	t.cmd.Env = []string{
		"HOME=" + h.home, "PATH=" + filepath.Join(h.home, "bin") + ":" + os.Getenv("PATH"), "TMPDIR=" + h.home,
		"RENDERMAC_LISTEN=127.0.0.1:" + h.port,
	}
	t.cmd.Stdout, t.cmd.Stderr = &t.out, &t.err
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	t.cmd.WaitDelay = 10 * time.Second
	if err := t.cmd.Start(); err != nil {
		h.Fatal(err)
	}
	go func() { t.ended <- t.cmd.Wait(); close(t.ended) }()
	h.Cleanup(func() { t.signal(syscall.SIGKILL); cancel() })
	return t
}

func (t *terminal) signal(s syscall.Signal) {
	_ = syscall.Kill(-t.cmd.Process.Pid, s)
	<-t.ended
}

// done waits for a script to end well.
func (t *terminal) done() string {
	t.Helper()
	if err := <-t.ended; err != nil {
		t.Fatalf("%v\nstdout: %s\nstderr: %s", err, &t.out, &t.err)
	}
	return t.out.String()
}

// run runs a script to its end and answers its stdout.
func (h *house) run(format string, args ...any) string {
	h.Helper()
	return h.open(fmt.Sprintf(format, args...)).done()
}

// serve starts a server and waits until it is ready.
func (h *house) serve(flags string) *terminal {
	h.Helper()
	t := h.open("exec rendermac serve " + flags)
	h.ready(t)
	return t
}

// ready asks until the server answers; a server that ended is a failure.
func (h *house) ready(t *terminal) {
	h.Helper()
	h.until("the server is ready", func() bool {
		select {
		case err := <-t.ended:
			h.Fatalf("the server ended: %v\n%s", err, &t.err)
		default:
		}
		r, err := http.Get("http://127.0.0.1:" + h.port + "/readyz")
		if err != nil {
			return false
		}
		defer r.Body.Close()
		_, _ = io.Copy(io.Discard, r.Body)
		return r.StatusCode == 200
	})
}

// until asks again and again, since another process gives no signal.
func (h *house) until(what string, so func() bool) {
	h.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		if time.Now().After(deadline) {
			h.Fatalf("waited in vain until %s", what)
		}
		<-tick.C
	}
}

var studioBlock = regexp.MustCompile("(?s)<!-- studio: (\\w+) -->\n```sh\n(.*?)```")

// TestREADMEStudio follows the README's second example word for word, but for
// the port.
func TestREADMEStudio(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse(t)
	var seen []string
	var macs []*terminal
	for _, block := range studioBlock.FindAllStringSubmatch(string(readme), -1) {
		seen = append(seen, block[1])
		term := h.open(block[2])
		switch block[1] {
		case "server":
			h.ready(term)
		case "mac":
			macs = append(macs, term)
		case "buyer":
			out := term.done()
			for _, want := range []string{"succeeded", "cancelled", "mac-a", "mac-b"} {
				if !strings.Contains(out, want) {
					t.Errorf("the buyer's terminal does not say %q:\n%s", want, out)
				}
			}
		}
	}
	if !slices.Equal(seen, []string{"server", "mac", "mac", "buyer"}) {
		t.Fatalf("the README's studio has the blocks %v", seen)
	}
	for _, name := range []string{"one.mp4", "two.mp4"} {
		facts := h.run("ffprobe -v error -show_entries stream=codec_name,width,height -of csv=p=0 results/%s", name)
		if !strings.Contains(facts, "h264,854,480") && !strings.Contains(facts, "h264,852,480") || !strings.Contains(facts, "aac") {
			t.Errorf("%s is %q", name, facts)
		}
	}
	for _, m := range macs {
		m.signal(syscall.SIGTERM)
	}
	if left := h.run("ls -A mac-a/work mac-b/work | grep run- || true"); left != "" {
		t.Errorf("work folders were left: %s", left)
	}
}
