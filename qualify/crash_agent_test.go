package qualify

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rendermac/api"
)

// agentDay is a site with a real agent that is killed and started again.
type agentDay struct {
	*day
	agent *keeper
	at    points
	dir   string // the agent's data
	novel string // an upload that is no film
	order string
	from  int
	last  string // the last script's job
}

var agentScripts = map[string]func(*agentDay){
	"job":    (*agentDay).jobScript,
	"path":   (*agentDay).pathScript,
	"fail":   (*agentDay).failScript,
	"cancel": (*agentDay).cancelScript,
	"leave":  (*agentDay).leaveScript,
}

// ffmpegTests answers the test frames of an agent's start at once, since the
// agents in here start all the time; ffmpegAtOnce is else the real ffmpeg.
const (
	ffmpegTests = `#!/bin/sh
case "$*" in
*lavfi*libx264*null*|*lavfi*aac*null*) exit 0 ;;
*lavfi*null*) exit 1 ;;
esac
`
	ffmpegAtOnce = ffmpegTests + `exec ffmpeg "$@"
`
)

func newAgentDay(t testing.TB, film string) *agentDay {
	t.Helper()
	d := &agentDay{day: newDay(t, film), at: newPoints(t)}
	id := d.pair("mini")
	d.devices[id] = false
	d.dir = filepath.Join(d.home, "mini")
	tools := t.TempDir()
	probe, err := exec.LookPath("ffprobe")
	if err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]error{
		"ffmpeg":  os.WriteFile(filepath.Join(tools, "ffmpeg"), []byte(ffmpegAtOnce), 0o700),
		"ffprobe": os.Symlink(probe, filepath.Join(tools, "ffprobe")),
		"config":  os.WriteFile(filepath.Join(d.dir, "config.yaml"), []byte("agent: {slots: 1, cache: 0B, ffmpeg: "+filepath.Join(tools, "ffmpeg")+"}\n"+d.sharedConfig()), 0o600),
	} {
		if write != nil {
			t.Fatalf("%s: %v", name, write)
		}
	}
	d.agent = keep(t, d.at, func() *process { return d.site.agent("mini", d.at) })
	novel := filepath.Join(t.TempDir(), "novel.mp4")
	if err := os.WriteFile(novel, bytes.Repeat([]byte("It was a dark and stormy night. "), 500), 0o600); err != nil {
		t.Fatal(err)
	}
	d.novel = d.bring(novel)
	d.answered(0)
	return d
}

// answered waits until the agent knows of its session, once more than so often:
// what it passes on the way there belongs to whoever started it.
func (d *agentDay) answered(before int) {
	d.Helper()
	until(d, "the agent is online", func() bool { return d.online() && d.hellos() > before })
}

func (d *agentDay) hellos() (n int) {
	for _, mark := range d.at.passed() {
		if mark == "agent.hello.answered" {
			n++
		}
	}
	return n
}

func (d *agentDay) online() bool {
	return slices.Equal(d.list(`SELECT online FROM devices`), []string{"1"})
}

func (d *agentDay) arm() {
	d.from = len(d.at.passed())
	if d.order != "" {
		d.at.write("kill", d.order)
	}
}

func (d *agentDay) jobScript() {
	d.last = d.submit(asUsual, d.ofClip(), nil, "succeeded")
	d.ended(d.last)
}

func (d *agentDay) failScript() {
	d.last = d.submit(asUsual, api.Input{UploadID: &d.novel}, nil, "failed")
	d.ended(d.last)
}

// cancelScript cancels a run that is about to encode.
func (d *agentDay) cancelScript() {
	d.at.hold("agent.run")
	os.Remove(d.at.file("held.agent.run"))
	d.last = d.submit(asUsual, d.ofClip(), nil, "cancelled")
	until(d, "the agent is about to encode", func() bool { return d.at.held("agent.run") })
	d.cancel(d.last)
	d.at.release("agent.run")
	d.ended(d.last)
}

// leaveScript asks the agent to leave while its result is being verified. The
// one that comes after it proves the encoders anew, and learns the outcome.
func (d *agentDay) leaveScript() {
	d.site.server.hold("server.verify")
	d.last = d.submit(asUsual, d.ofClip(), nil, "succeeded")
	until(d, "the commit is accepted", func() bool { return d.job(d.id(d.last)).Status == "verifying" })
	os.Remove(filepath.Join(d.dir, "proofs.json"))
	before := d.hellos()
	d.agent.end(syscall.SIGTERM)
	d.site.server.release("server.verify")
	d.ended(d.last)
	d.answered(before)
}

// settle waits until the agent has nothing left, neither process nor file, and
// the server counts its slot as free (F17).
func (d *agentDay) settle() (all []string) {
	d.Helper()
	inTime(10*time.Millisecond, func() bool { all = d.complaints(); return len(all) == 0 })
	return all
}

func (d *agentDay) complaints() (all []string) {
	d.Helper()
	for _, pattern := range []string{filepath.Join("work", "rendermac-run-*"), "proofs.json?*"} {
		left, _ := filepath.Glob(filepath.Join(d.dir, pattern))
		all = append(all, left...)
	}
	all = append(all, processesOn(filepath.Join(d.dir, "work"))...)
	for _, id := range d.list(`SELECT id FROM job_attempts WHERE ended_at IS NULL`) {
		all = append(all, "a slot is not back: "+id)
	}
	if !d.online() {
		all = append(all, "the agent is not online")
	}
	return all
}

// processesOn are those that work in a folder, or were told of it.
func processesOn(folder string) (all []string) {
	list, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range list {
		line, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		cwd, _ := os.Readlink(filepath.Join(p, "cwd"))
		if strings.Contains(string(line), folder) || strings.HasPrefix(cwd, folder) {
			all = append(all, p+": "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return all
}

// finished are the marks from which on a killed agent has its result on disk.
var finished = []string{"agent.keep.after", "agent.upload", "agent.part.before", "agent.part.after", "agent.commit", "agent.commit.accepted"}

func (d *agentDay) check(when, mark string) {
	d.Helper()
	all := append(append(d.settle(), d.settled()...), d.kept()...)
	attempts := d.job(d.id(d.last)).Attempts
	switch n := len(attempts); {
	case n > 2:
		all = append(all, fmt.Sprintf("one kill cost %d attempts", n-1))
	case n > 1 && attempts[0].Status != "lost":
		all = append(all, "the run of an agent that was killed is "+attempts[0].Status)
	case n > 1 && slices.Contains(finished, mark):
		all = append(all, "a finished result was made again")
	}
	if len(all) > 0 {
		slices.Sort(all)
		d.Errorf("%s:\n%s\nthe agent since its last start:\n%s", when, strings.Join(all, "\n"), d.agent.said())
	}
}

func (d *agentDay) killAt(k kill) (reached bool) {
	d.Helper()
	before := d.agent.killed()
	d.order = fmt.Sprintf("%s +%d", k.mark, k.n)
	d.arm()
	agentScripts[k.script](d)
	d.order = ""
	d.check("QUALIFY_KILL=agent:"+k.String(), k.mark)
	d.at.spare()
	return d.agent.killed() > before
}

// The agent is killed at every mark of a run and started again: the job ends as
// it should, a finished result is not made twice, and neither process nor file
// is left behind (F14, F17).
func TestCrash_AgentAtEveryMark(t *testing.T) {
	film := crashFilm(t)
	if only, one := wanted(t, "agent"); one {
		strikeOnce(t, only, newAgentDay(t, film).killAt)
		return
	}
	random := crashSeed(t)
	first := newAgentDay(t, film)
	strike(t, draw(first.calm(), random), first.killAt, newAgentDay(t, film).killAt)
}

// calm runs every script without a kill, and notes the marks that each passes.
func (d *agentDay) calm() map[string][]string {
	d.Helper()
	passes := map[string][]string{}
	for _, name := range sortedNames(agentScripts) {
		d.arm()
		agentScripts[name](d)
		d.check("a calm "+name, "")
		passes[name] = d.at.passed()[d.from:]
	}
	return passes
}
