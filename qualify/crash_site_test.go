package qualify

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"rendermac/api"
)

// crashPart is so small that a film of a second has several parts.
const crashPart = 8 << 10

// crashConfig leaves leases long: nothing in here may end by time alone.
const crashConfig = `
lease: {ttl: 60s, heartbeat: 10s, device_ttl: 60s}
jobs: {retry_backoff: 10ms}
store: {part_bytes: 8KiB}
pricing: {ffmpeg.transcode: 3}
webhooks: {allow_private: true}
`

// crashSite is a site that is read from outside again and again.
type crashSite struct {
	*site
	db *sql.DB
}

// newCrashSite is a site whose leases outlast the test.
func newCrashSite(t testing.TB) *crashSite {
	s := &crashSite{site: newSite(t, "")}
	var err error
	if s.db, err = sql.Open("sqlite", "file:"+filepath.Join(s.data(), "rendermac.db")+"?mode=ro&_pragma=busy_timeout(5000)"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.db.Close() })
	if err := os.WriteFile(filepath.Join(s.data(), "config.yaml"), []byte(crashConfig+s.sharedConfig()), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// keeper starts a process, and starts it again, without the kill that was
// ordered, whenever it is gone: as launchd would.
type keeper struct {
	testing.TB
	at     points
	launch func() *process

	mu      sync.Mutex
	now     *process
	kills   int
	asked   *process // whose end is the test's own doing: the order stays
	how     syscall.Signal
	given   bool          // up: it is not started any more
	stopped chan struct{} // closed when it will not be
}

func keep(t testing.TB, at points, launch func() *process) *keeper {
	t.Helper()
	k := &keeper{TB: t, at: at, launch: launch, now: launch(), stopped: make(chan struct{})}
	go k.watch(k.now)
	t.Cleanup(func() { k.giveUp(syscall.SIGKILL) })
	return k
}

func (k *keeper) watch(p *process) {
	defer close(k.stopped)
	for {
		<-p.ended
		k.mu.Lock()
		killed := p.killed()
		asked := k.asked == p && killed == (k.how == syscall.SIGKILL)
		if !killed && !asked && !k.given {
			k.Errorf("a process ended by itself (%s):\n%s", p.cmd.ProcessState, p.said())
			k.given = true
		}
		if k.given {
			k.mu.Unlock()
			return
		}
		if !asked {
			k.at.spare()
			k.kills++
		}
		p = k.launch()
		k.now = p
		k.mu.Unlock()
	}
}

// giveUp ends the process for good.
func (k *keeper) giveUp(s syscall.Signal) {
	k.mu.Lock()
	k.given = true
	p := k.now
	k.mu.Unlock()
	p.signal(s)
	<-k.stopped
}

// end ends the process, which is then started again.
func (k *keeper) end(s syscall.Signal) {
	k.mu.Lock()
	p := k.now
	k.asked, k.how = p, s
	k.mu.Unlock()
	p.signal(s)
	p.wait()
}

// killed counts how often the process has been killed so far.
func (k *keeper) killed() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.kills
}

func (k *keeper) said() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now.said()
}

// passing says whether a client should ask again: nobody answered, or not in
// full, or the server says that it cannot just now.
func passing(err error) bool {
	var e *api.Error
	var silent *api.Unreachable
	cut := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
	return cut || errors.As(err, &silent) || errors.As(err, &e) && e.Status >= 500
}

// insist asks until there is an answer, as a client does that a restart does not
// put off. sure is false where an earlier try may have been heard.
func insist[T any](t testing.TB, what string, ask func() (T, error)) (answer T, sure bool, err error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for sure = true; ; sure = false {
		answer, err = ask()
		if err == nil || !passing(err) {
			return answer, sure, err
		}
		if time.Now().After(deadline) {
			return answer, sure, fmt.Errorf("%s: %w", what, err)
		}
		time.Sleep(10 * time.Millisecond) // nobody tells a client that the server is back
	}
}

// crashFilm is a small film that is also what the jobs in here promise to make
// of it.
func crashFilm(t testing.TB) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "film.mp4")
	out, err := exec.Command("ffmpeg", "-nostdin", "-loglevel", "error", "-i", clip(t, 0.5, "160x90"),
		"-c:v", "libx264", "-profile:v", "high", "-pix_fmt", "yuv420p", "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709",
		"-c:a", "aac", "-ac", "2", "-movflags", "+faststart", file).CombinedOutput()
	if err != nil {
		t.Fatalf("make a film: %v: %s", err, out)
	}
	return file
}
