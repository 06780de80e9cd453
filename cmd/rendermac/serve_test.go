package main

import (
	"database/sql"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"rendermac/api"

	_ "modernc.org/sqlite" // to make a database from the future
)

// A start that cannot work says why and what to do in one sentence, exits with
// the right code, and leaves nothing half-done.
func TestStartsThatCannotWork(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, c := range map[string]struct {
		before, command string
		code            int
		says            string
	}{
		"port in use":          {"", "rendermac serve --listen " + taken.Addr().String(), 1, `cannot listen on 127.0.0.1:\d+: .*address already in use; stop what uses it, or choose another address with --listen`},
		"unknown key":          {"mkdir -p d; echo 'lease: {tll: 60s}' > d/config.yaml", "rendermac serve --data d", 1, `config.yaml:1: .*lease.tll.*lease.ttl`},
		"ill-typed value":      {"mkdir -p d; echo 'lease: {ttl: soon}' > d/config.yaml", "rendermac serve --data d", 1, `config.yaml:1: lease.ttl .*`},
		"heartbeat too slow":   {"mkdir -p d; printf 'lease:\\n  ttl: 20s\\n' > d/config.yaml", "rendermac serve --data d", 1, `lease.heartbeat`},
		"preset of no service": {"mkdir -p d; printf 'presets:\\n  mine: {service: ffmpeg.future, quality: 5}\\n' > d/config.yaml", "rendermac serve --data d", 1, `config.yaml:2: presets.mine.service is "ffmpeg.future": no service has this name`},
		"preset of bad params": {"mkdir -p d; printf 'presets:\\n  mine:\\n    width: 640\\n    quality: 500\\n' > d/config.yaml", "rendermac serve --data d", 1, `config.yaml:4: presets.mine.quality must be from 1 to 100`},
		"preset of our name":   {"mkdir -p d; printf 'presets:\\n  web-720p: {quality: 5}\\n' > d/config.yaml", "rendermac serve --data d", 1, `config.yaml:2: presets.web-720p is a preset that RenderMac has: give yours another name`},
		"newer database":       {"", "rendermac serve --data newer", 1, `is of version 99 and this build knows 8: install the newer RenderMac`},
		"no database":          {"mkdir -p d; echo 'this is a letter to my aunt, much longer than a header' > d/rendermac.db", "rendermac serve --data d", 1, `is not a RenderMac database`},
		"no ffmpeg":            {"mkdir -p d; echo 'agent: {ffmpeg: /nowhere/ffmpeg}' > d/config.yaml", "rendermac serve --with-agent --data d", 1, `there is no ffmpeg .*install it with .*`},
		"agent not paired":     {"", "rendermac agent --data d", 1, `this machine is not paired: make a code with rendermac devices pair`},
		"data directory taken": {"touch d", "rendermac serve --data d", 1, `data directory`},
		"unknown command":      {"", "rendermac sevre", 2, `unknown command "sevre"`},
		"unknown flag":         {"", "rendermac serve --lisen x", 2, `unknown flag: --lisen`},
		"demo of nothing":      {"", "rendermac demo no-such.mov", 1, `no-such.mov: no such file`},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			mustNewerDatabase(t, filepath.Join(h.home, "newer"))
			term := h.open(c.before + "\n" + c.command)
			<-term.ended
			if code := term.cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			said := strings.TrimSpace(term.err.String())
			if !regexp.MustCompile(`^rendermac: .*`+c.says).MatchString(said) || strings.Contains(said, "\n") || term.out.String() != "" {
				t.Errorf("it said %q", said)
			}
			if left, _ := filepath.Glob(filepath.Join(h.home, "d", "server.url")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// mustNewerDatabase makes the database of a version that is not built yet.
func mustNewerDatabase(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "rendermac.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
}

func TestASecondServerOnTheSameDataIsRefused(t *testing.T) {
	h := newHouse(t)
	h.serve("")
	second := h.open("rendermac serve --listen 127.0.0.1:0")
	<-second.ended
	if said := second.err.String(); !strings.Contains(said, "a server already runs on") || !strings.Contains(said, "--data") {
		t.Fatalf("it said %q", said)
	}
}

func TestClientsFindAServerOnAFreePort(t *testing.T) {
	h := newHouse(t)
	server := h.open("exec rendermac serve --listen 127.0.0.1:0")
	file := filepath.Join(h.home, ".local/share/rendermac/server.url")
	h.until("the server says where it is", func() bool { _, err := os.Stat(file); return err == nil })
	h.run("rendermac jobs; rendermac devices; rendermac services ffmpeg.transcode >/dev/null")
	server.signal(syscall.SIGTERM)
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Fatalf("a stopped server still says where it is: %v", err)
	}
	if !strings.Contains(server.err.String(), "msg=listening addr=127.0.0.1:") {
		t.Fatalf("the log has no listening line:\n%s", &server.err)
	}
}

// job asks the server of a house for one job.
func (h *house) job(id string) api.Job {
	h.Helper()
	var j api.Job
	if err := json.Unmarshal([]byte(h.run("rendermac jobs show %s --json", id)), &j); err != nil {
		h.Fatal(err)
	}
	return j
}

// A server that is killed in the middle of an encode and started again takes
// nothing from the Mac that runs it (F14, F15).
func TestF15_AServerKilledMidEncodeCostsNoAttempt(t *testing.T) {
	h := newHouse(t)
	server := h.serve("")
	h.open("$(rendermac devices pair) --data mac\nexec rendermac agent --data mac")
	id := strings.TrimSpace(h.run(`ffmpeg -v error -f lavfi -i testsrc2=s=1920x1080:d=8 -preset ultrafast -pix_fmt yuv420p long.mov
		rendermac submit long.mov --preset web-1080p`))
	h.until("the encode runs", func() bool {
		j := h.job(id)
		return len(j.Attempts) > 0 && j.Attempts[0].Status == "running" && j.Attempts[0].Fraction != nil && *j.Attempts[0].Fraction > 0
	})
	server.signal(syscall.SIGKILL)
	h.serve("")
	h.until("the job has ended", func() bool { j := h.job(id); return j.Ended() })
	j := h.job(id)
	if j.Status != api.JobSucceeded || len(j.Attempts) != 1 || j.Attempts[0].LeaseEpoch < 2 {
		t.Fatalf("job %s, %d attempts, the first under epoch %d", j.Status, len(j.Attempts), j.Attempts[0].LeaseEpoch)
	}
}
