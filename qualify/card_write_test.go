package qualify

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// card is what was measured.
type card struct {
	mu      sync.Mutex
	results map[string]*result // by phase/fault
	all     tally
	turn    chan struct{} // of the cells that are measured now
}

type result struct {
	outcome  string
	epoch    int64
	slotBack bool
	times    []timing
	dead     []time.Duration // until a dead Mac's job was offered again
	back     []time.Duration // until a returning Mac was at work again
}

type timing struct {
	what string
	took time.Duration
}

func (c *cell) took(what string, d time.Duration) {
	c.result.times = append(c.result.times, timing{what, d})
	c.Logf("%s: %s", what, d.Round(time.Millisecond))
}

func (c *cell) tookOver(what string, d time.Duration) {
	c.result.dead = append(c.result.dead, d)
	c.took(what, d)
}

func (c *cell) returned(what string, d time.Duration) {
	c.result.back = append(c.result.back, d)
	c.took(what, d)
}

func (c *card) add(phase, fault string, r *result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.results[phase+"/"+fault] = r
}

func (c *card) count(f tally) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all.submitted += f.submitted
	c.all.stale += f.stale
	c.all.lost += f.lost
	c.all.stuck += f.stuck
	c.all.leaked += f.leaked
}

// write refuses a card with a cell that was not measured.
func (c *card) write(path string) error {
	for _, f := range faults {
		for phase := range f.want {
			if c.results[phase+"/"+f.name] == nil {
				return fmt.Errorf("%s × %s was not measured: the card is not written", phase, f.name)
			}
		}
	}
	var b strings.Builder
	c.head(&b)
	c.table(&b)
	c.goals(&b)
	c.cells(&b)
	fmt.Fprintf(&b, "\n## What each phase and fault is here\n\n%s\n", phaseNotes)
	for _, f := range faults {
		if f.note != "" {
			fmt.Fprintf(&b, "- **%s**: %s\n", f.name, f.note)
		}
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

func (c *card) head(b *strings.Builder) {
	version := said("git", "describe", "--tags", "--always", "--dirty")
	ffmpeg, _, _ := strings.Cut(said("ffmpeg", "-version"), " Copyright")
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Fprintf(b, "# Qualification card\n\nEach phase of a run against each fault. Written by `make qualify` from a real run: a server process, agent processes, ffmpeg, files and sockets, nothing simulated but the fault. Every cell is a test (`go test -run 'TestQualification/PHASE/FAULT' ./qualify`); none asserts a time, each asserts how it ended.\n\n")
	fmt.Fprintf(b, "Measured %s on version %s; %s/%s, %d cores, load %s; %s; %s. Leases of 3 s (freeze, and a Mac that stays dead) and of 20 s (elsewhere, so that what ends a run is the fault and not a busy machine), heartbeat 0.5 s, one slot a Mac.\n",
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), version, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), strings.Join(strings.Fields(string(load))[:min(3, len(strings.Fields(string(load))))], " "), runtime.Version(), ffmpeg)
}

func said(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// table shows a cell as its end, its attempts, and its last time, which is that
// of the job's end or of the next offer.
func (c *card) table(b *strings.Builder) {
	b.WriteString("\n| phase |")
	for _, f := range faults {
		fmt.Fprintf(b, " %s |", f.name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(faults)) + "\n")
	for _, phase := range phases {
		fmt.Fprintf(b, "| %s |", phase)
		for _, f := range faults {
			r := c.results[phase+"/"+f.name]
			if r == nil {
				b.WriteString(" as agent kill |")
				continue
			}
			fmt.Fprintf(b, " %s |", r.short())
		}
		b.WriteString("\n")
	}
	b.WriteString("\nA time is from the fault to the job's end, work and all; where the Mac stays dead, to the next offer, and where only a commit's answer is lost, to the Mac's knowing. The parts are below.\n")
}

func (r *result) short() string {
	status, attempts, _ := strings.Cut(r.outcome, ":")
	out := status
	if n := strings.Count(attempts, "att "); n > 1 {
		out += fmt.Sprintf(" by attempt %d", n)
	} else if r.epoch > 1 {
		out += ", resumed"
	}
	return out + ", " + seconds(r.times[len(r.times)-1].took)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// goals are what the issue says must be reached.
func (c *card) goals(b *strings.Builder) {
	var deads, backs []time.Duration
	for _, r := range c.results {
		deads, backs = append(deads, r.dead...), append(backs, r.back...)
	}
	b.WriteString("\n## What must be reached\n\n| | must | measured |\n|---|---|---|\n")
	for _, row := range []struct {
		what string
		n    int
	}{
		{"stale commits accepted", c.all.stale},
		{"acknowledged submits, cancels and commits lost", c.all.lost},
		{"jobs stuck", c.all.stuck},
		{"secrets in any log", c.all.leaked},
	} {
		fmt.Fprintf(b, "| %s | 0 | %d, in %d jobs |\n", row.what, row.n, c.all.submitted)
	}
	fmt.Fprintf(b, "| a dead agent's job is offered again | TTL + 1 s = %s | at most %s, in %d cells |\n", seconds(ttl+time.Second), seconds(slices.Max(deads)), len(deads))
	fmt.Fprintf(b, "| a returning agent's job is at work again | 1.00 s | at most %s, in %d cells |\n", seconds(slices.Max(backs)), len(backs))
	b.WriteString("\nA returning agent's time is counted from the start of its process where it was killed, and from its hello where the line was cut: until then it waits out its own backoff, which is shown in the cell. Secrets are the admin key, device tokens, and each commit token whose hash the database still has.\n")
}
