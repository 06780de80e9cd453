package agent

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
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

// testAgent is an agent in this process.
type testAgent struct {
	*agent
	t     *testing.T
	leave context.CancelFunc
	ended chan struct{}
	err   error // after ended
}

// startAgent starts an agent for srv; adjust may change it before.
func startAgent(t *testing.T, srv *fakeServer, adjust ...func(*agent)) *testAgent {
	t.Helper()
	dir := t.TempDir()
	return startAgentIn(t, srv, dir, adjust...)
}

func startAgentIn(t *testing.T, srv *fakeServer, dir string, adjust ...func(*agent)) *testAgent {
	t.Helper()
	a, err := newAgent(testOptions(t, srv.URL, dir))
	if err != nil {
		t.Fatal(err)
	}
	a.grace, a.backoff = 200*time.Millisecond, 10*time.Millisecond
	for _, f := range adjust {
		f(a)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ta := &testAgent{agent: a, t: t, leave: cancel, ended: make(chan struct{})}
	go func() {
		defer close(ta.ended)
		ta.err = workQuickly(ctx, a)
	}()
	t.Cleanup(func() {
		cancel()
		<-ta.ended
	})
	return ta
}

func testOptions(t *testing.T, url, dir string) Options {
	return Options{
		URL: url, Token: testToken, DataDir: filepath.Join(dir, "data"), WorkDir: filepath.Join(dir, "work"),
		FFmpeg: "ffmpeg", FFprobe: "ffprobe", Slots: 1, Cache: 1 << 30, Stall: minute, Version: "test",
		Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
}

// workQuickly is Run without the test frames, which Facts has a test for.
func workQuickly(ctx context.Context, a *agent) error {
	unlock, err := a.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if a.device.Platform == "" {
		a.device = agentproto.Device{Platform: "linux", Encoders: []string{"libx264", "aac", "prores_ks"}, Features: []string{}}
	}
	return a.work(ctx)
}

// end stops the agent as SIGTERM does and returns what Run would.
func (ta *testAgent) end() error {
	ta.leave()
	return ta.wait()
}

func (ta *testAgent) wait() error {
	ta.t.Helper()
	select {
	case <-ta.ended:
		return ta.err
	case <-time.After(patience):
		ta.t.Fatal("the agent did not end")
		return nil
	}
}

// folders are the run folders that exist.
func folders(t *testing.T, workDir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(workDir, folderPrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// over waits until the agent holds no run, and fails where one left a file.
func (ta *testAgent) over() {
	ta.t.Helper()
	waitFor(ta.t, "the run to be over", func() bool { return len(ta.held()) == 0 })
	if left := folders(ta.t, ta.WorkDir); len(left) > 0 {
		ta.t.Errorf("files are left: %v", left)
	}
}

// waitFor polls what has no signal.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// testClip is a second of noise with a tone, made once by the real ffmpeg. Noise
// makes its result large enough for several parts.
var testClip = sync.OnceValues(func() ([]byte, error) {
	return makeMedia("clip.mp4", "-f", "lavfi", "-i", "color=gray:s=128x72:r=10:d=1,noise=alls=80:allf=t", "-f", "lavfi", "-i", "sine=d=1",
		"-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", "-movflags", "+faststart")
})

func makeMedia(name string, args ...string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "agent-test-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, name)
	cmd := exec.Command("ffmpeg", append(append([]string{"-nostdin", "-loglevel", "error"}, args...), path)...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

func mustClip(t *testing.T) []byte {
	t.Helper()
	clip, err := testClip()
	if err != nil {
		t.Fatal(err)
	}
	return clip
}

// fakeFFmpeg is a shell script in ffmpeg's place. It may use $pids, a file that
// the test reads the numbers of its processes from.
func fakeFFmpeg(t *testing.T, script string) (program, pids string) {
	t.Helper()
	dir := t.TempDir()
	program, pids = filepath.Join(dir, "ffmpeg"), filepath.Join(dir, "pids")
	text := "#!/bin/sh\npids=" + pids + "\n" + script + "\n"
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return program, pids
}

// slowScript never ends, has a child of its own and shows progress.
const slowScript = `
sleep 1000 &
echo $$ > $pids.new; echo $! >> $pids.new; mv $pids.new $pids
i=0
while :; do i=$((i+1)); echo "out_time_us=${i}0000"; echo "total_size=$i"; echo "progress=continue"; sleep 0.02; done`

// group is the process group that the script's processes are in, once they run.
func group(t *testing.T, pids string) int {
	t.Helper()
	var text []byte
	waitFor(t, "ffmpeg to run", func() (ok bool) {
		var err error
		text, err = os.ReadFile(pids)
		return err == nil
	})
	first, _, _ := strings.Cut(string(text), "\n")
	for _, p := range processes(t) {
		if strconv.Itoa(p.id) == first {
			return p.group
		}
	}
	t.Fatalf("process %s is not there", first)
	return 0
}

type process struct {
	id, group int
	dead      bool // a zombie that nobody has waited for yet
}

// allEnd fails the test if a process of the group goes on. What was killed may
// take a moment to go on a busy machine.
func allEnd(t *testing.T, group int) {
	t.Helper()
	waitFor(t, "the processes of a run to end", func() bool {
		return !slices.ContainsFunc(processes(t), func(p process) bool { return p.group == group && !p.dead })
	})
}

// testClock is the machine's clock, which a test can move as sleep does.
type testClock struct{ ahead atomic.Int64 }

func (c *testClock) now() time.Duration       { return machineClock() + time.Duration(c.ahead.Load()) }
func (c *testClock) advance(by time.Duration) { c.ahead.Add(int64(by)) }
