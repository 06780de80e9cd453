package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"rendermac/media/mediatest"
	"rendermac/program"
)

func TestMain(m *testing.M) {
	program.GuardMain()
	mediatest.RemotionMain()
	testscript.Main(m, map[string]func(){"rendermac": func() { os.Exit(run()) }})
}

type serverKey struct{}

// TestScripts runs testdata/script against a server of their own each.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			server := newFakeServer()
			env.Defer(server.Close)
			env.Values[serverKey{}] = server
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("RENDERMAC_URL", server.URL)
			env.Setenv("RENDERMAC_API_KEY", fakeKey)
			env.Setenv("TAKEN", strings.TrimPrefix(server.URL, "http://"))
			env.Setenv("RENDERMAC_DATA", filepath.Join(env.WorkDir, "data"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "asked": asked, "mode": mode},
	})
}

// exits CODE COMMAND… runs a command and holds it to its exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		code = failed.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// asked PATTERN searches the newest body that the server was sent.
func asked(ts *testscript.TestScript, neg bool, args []string) {
	server := ts.Value(serverKey{}).(*fakeServer)
	server.mu.Lock()
	defer server.mu.Unlock()
	newest := ""
	if n := len(server.asked); n > 0 {
		newest = server.asked[n-1]
	}
	if regexp.MustCompile(args[0]).MatchString(newest) == neg {
		ts.Fatalf("the server was asked %s", newest)
	}
}

// mode PERM FILE checks a file's permissions.
func mode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := strconv.FormatUint(uint64(info.Mode().Perm()), 8); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}

// submitUntilInterrupted interrupts a submit once its job runs.
func submitUntilInterrupted(t *testing.T, flags ...string) (server *fakeServer, code int, stderr string) {
	t.Helper()
	t.Setenv("HOME", t.TempDir()) // and no client file of the developer's own
	server = newFakeServer()
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "clip.mov")
	if err := os.WriteFile(file, []byte("film"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		<-server.submitted
		<-server.submitted // asked for again: the first answer has come
		interrupt()
	}()
	g := &globals{}
	root := newRoot(g)
	var out said
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(append([]string{"submit", "--url", server.URL, "--key", fakeKey, "--preset", "runs", "--wait", file}, flags...))
	err := root.ExecuteContext(ctx)
	return server, exitCode(&out, err), out.String()
}

func TestInterruptAsksTheServerNothing(t *testing.T) {
	server, code, stderr := submitUntilInterrupted(t)
	if len(server.cancelled) > 0 {
		t.Errorf("%v were cancelled", server.cancelled)
	}
	if code != exitFailed || !strings.Contains(stderr, "clip.mov: still running\n") ||
		!strings.Contains(stderr, "Get it later: rendermac jobs download job_1; stop it: rendermac jobs cancel job_1\n") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestInterruptSaysHowToGetTheResultLater(t *testing.T) {
	out := filepath.Join(t.TempDir(), "the film.mp4")
	_, code, stderr := submitUntilInterrupted(t, "-o", out)
	if code != exitFailed || !strings.Contains(stderr, "rendermac jobs download job_1 -o '"+out+"'; stop it") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestInterruptCancelsWhereThatWasAskedFor(t *testing.T) {
	server, code, stderr := submitUntilInterrupted(t, "--cancel-on-interrupt")
	if len(server.cancelled) != 1 || server.cancelled[0] != "job_1" {
		t.Errorf("%v were cancelled, want job_1", server.cancelled)
	}
	if code != exitJobCancelled || !strings.Contains(stderr, "interrupted; job job_1 is cancelled") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// Of several files, what goes on and what is left is said once each. Which of them
// are submitted before the interrupt is chance.
func TestInterruptOfSeveralSaysWhatGoesOn(t *testing.T) {
	more := filepath.Join(t.TempDir(), "more.mov")
	if err := os.WriteFile(more, []byte("film"), 0o600); err != nil {
		t.Fatal(err)
	}
	server, code, stderr := submitUntilInterrupted(t, more, more)
	if code != exitFailed || len(server.cancelled) > 0 {
		t.Errorf("exit code %d, and %v were cancelled", code, server.cancelled)
	}
	goOn := regexp.MustCompile(`Get (it|them) later: rendermac jobs download (ID|job_1); stop (it|them): rendermac jobs cancel job_\d`)
	left := regexp.MustCompile(`To submit what is left, with the same flags: rendermac submit .*(clip|more)\.mov`)
	if !goOn.MatchString(stderr) || len(server.jobs) < 3 && !left.MatchString(stderr) {
		t.Errorf("with %d jobs it said\n%s", len(server.jobs), stderr)
	}
}
