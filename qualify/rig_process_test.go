package qualify

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for a process; none comes near it. The largest
// files take minutes.
var patience = 2 * time.Minute

func init() {
	if everyPass {
		patience = 30 * time.Minute
	}
}

// process is one run of the product. It ends with the test.
type process struct {
	testing.TB
	points
	cmd   *exec.Cmd
	err   *buffer
	ended chan struct{} // closed once it has
}

// start runs the product in a folder that is its HOME, with its failpoints
// steered from points.
func start(t testing.TB, home string, at points, args ...string) *process {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatalf("build the product: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{TB: t, points: at, cmd: exec.CommandContext(ctx, path, args...), err: new(buffer), ended: make(chan struct{})}
	p.cmd.Dir = home
	p.cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + home, "RENDERMAC_FAILPOINTS=" + string(at)}
	p.cmd.Stdout, p.cmd.Stderr = p.err, p.err
	if err := startWithUs(p.cmd); err != nil {
		t.Fatal(err)
	}
	go func() { _ = p.cmd.Wait(); close(p.ended) }()
	t.Cleanup(func() { cancel(); <-p.ended })
	return p
}

// startWithUs starts a process that ends with this one, where that can be had:
// a test binary that runs into its timeout cleans nothing up. Linux ends a
// process with the thread that has started it, so one thread starts them all,
// and lasts.
func startWithUs(cmd *exec.Cmd) error {
	endWithUs(cmd)
	started := make(chan error)
	starter() <- func() { started <- cmd.Start() }
	return <-started
}

var starter = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range work {
			start()
		}
	}()
	return work
})

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// kill is kill -9; it returns when the process is gone.
func (p *process) kill() { p.signal(syscall.SIGKILL); <-p.ended }

// term asks the process to end, and waits until it has.
func (p *process) term() { p.Helper(); p.signal(syscall.SIGTERM); p.wait() }

// wait returns once the process has ended. One that does not has to say where
// it stands.
func (p *process) wait() {
	p.Helper()
	select {
	case <-p.ended:
		return
	case <-time.After(patience):
	}
	p.signal(syscall.SIGQUIT)
	select {
	case <-p.ended:
	case <-time.After(patience):
	}
	p.Fatalf("waited in vain until %s has ended:\n%s", p.cmd, p.said())
}

// killed says whether kill -9 was the end of it.
func (p *process) killed() bool {
	return p.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
}

// gone says whether the process has ended.
func (p *process) gone() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// said is what the process has logged so far.
func (p *process) said() string { return p.err.String() }

// buffer is a bytes.Buffer that may be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// points is the folder from which a process's failpoints are steered; see
// failpoint/on.go. A process that starts again may be given the same.
type points string

func newPoints(t testing.TB) points { return points(t.TempDir()) }

func (p points) file(name string) string { return filepath.Join(string(p), name) }

// write replaces a file as a whole: the process may be reading it.
func (p points) write(name, text string) {
	if os.WriteFile(p.file(name+".new"), []byte(text), 0o600) != nil || os.Rename(p.file(name+".new"), p.file(name)) != nil {
		panic("the failpoints' folder cannot be written")
	}
}

// hold makes whoever comes to a mark wait, until release.
func (p points) hold(mark string)      { p.write("hold."+mark, "") }
func (p points) release(mark string)   { os.Remove(p.file("hold." + mark)) }
func (p points) held(mark string) bool { _, err := os.Stat(p.file("held." + mark)); return err == nil }

// killAt makes the n-th pass of a mark, from the process's start on, its end.
func (p points) killAt(mark string, n int) { p.write("kill", mark+" "+strconv.Itoa(n)) }
func (p points) spare()                    { os.Remove(p.file("kill")) }

// setClock puts the process's wall clock ahead of the real one, or behind.
func (p points) setClock(ahead time.Duration) { p.write("clock", ahead.String()) }

// passed are the marks passed so far, in order.
func (p points) passed() []string {
	text, _ := os.ReadFile(p.file("hits"))
	return strings.Fields(string(text))
}

// until asks again and again, since another process gives no signal.
func until(t testing.TB, what string, so func() bool) {
	t.Helper()
	if !inTime(10*time.Millisecond, so) {
		t.Fatalf("waited in vain until %s", what)
	}
}

// inTime asks now and then, and says whether it came to be so.
func inTime(every time.Duration, so func() bool) bool {
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for !so() {
		if time.Now().After(deadline) {
			return false
		}
		<-tick.C
	}
	return true
}
