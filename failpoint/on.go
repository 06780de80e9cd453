//go:build failpoints

package failpoint

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// dir is how a test steers the process, while it runs:
//
//	hits        is appended a line with the name of each mark that is passed
//	kill        "NAME N": the N-th pass of that mark, counted from the process's start, is its last act;
//	            "NAME +N": counted from when the process first sees this order
//	hold.NAME   whoever comes to that mark waits for as long as this file is there
//	held.NAME   is made when someone waits
//	clock       a duration by which Now is ahead of the real clock
var dir = os.Getenv("RENDERMAC_FAILPOINTS")

var (
	mu     sync.Mutex
	passes = map[string]int{}
	order  string             // the last one seen
	since  = map[string]int{} // passes since then
)

// Answer marks the answer of an HTTP operation.
func Answer(operation string) { At("server.answer." + operation) }

// At marks a place.
func At(name string) {
	if dir == "" {
		return
	}
	if note(name) {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	hold := filepath.Join(dir, "hold."+name)
	for _, err := os.Stat(hold); err == nil; _, err = os.Stat(hold) {
		_ = os.WriteFile(filepath.Join(dir, "held."+name), nil, 0o600)
		time.Sleep(5 * time.Millisecond) // a file gives no signal
	}
}

// note counts a pass, and says whether it is to be the last.
func note(name string) bool {
	mu.Lock()
	defer mu.Unlock()
	passes[name]++
	if f, err := os.OpenFile(filepath.Join(dir, "hits"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		_, _ = f.WriteString(name + "\n")
		f.Close()
	}
	text, _ := os.ReadFile(filepath.Join(dir, "kill"))
	if now := strings.TrimSpace(string(text)); now != order {
		order = now
		clear(since)
	}
	since[name]++
	return order == name+" "+strconv.Itoa(passes[name]) || order == name+" +"+strconv.Itoa(since[name])
}

// Now is the wall clock, as far as the test has set it (F15).
func Now() time.Time {
	text, _ := os.ReadFile(filepath.Join(dir, "clock"))
	ahead, _ := time.ParseDuration(strings.TrimSpace(string(text)))
	return time.Now().Add(ahead)
}
