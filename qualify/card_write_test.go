package qualify

import (
	"fmt"
	"math"
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
	version string             // that is measured
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
	wentOn   []time.Duration // from the server's being ready again until the run went on
	stale    int             // commits in a dead Mac's name, each refused
	secret   bool            // one of them with the attempt's true secret
	unfelt   bool            // the fault struck what the phase does not need
}

const unfelt = "not noticed: ffmpeg does not need the store"

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

// write refuses a card with a cell that was not measured, that misses what must
// be reached, or whose version is not that of the tree any more.
func (c *card) write(path string) error {
	for _, f := range faults {
		for phase := range f.want {
			if c.results[phase+"/"+f.name] == nil {
				return fmt.Errorf("%s × %s was not measured: the card is not written", phase, f.name)
			}
		}
	}
	for _, g := range c.goals() {
		if !g.met {
			return fmt.Errorf("%s: %s, must be %s: the card is not written", g.what, g.measured, g.must)
		}
	}
	if now, err := committed(); err != nil || now != c.version {
		return fmt.Errorf("measured was %s, and now the tree is at %q (%v): the card is not written", c.version, now, err)
	}
	var b strings.Builder
	c.head(&b)
	c.table(&b)
	c.reached(&b)
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
	ffmpeg, _, _ := strings.Cut(said("ffmpeg", "-version"), " Copyright")
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Fprintf(b, "# Qualification card\n\nEach phase of a run against each fault. Written by `make qualify` from a real run: a server process, agent processes, ffmpeg, files and sockets, nothing simulated but the fault. Every cell is a test (`go test -run 'TestQualification/PHASE/FAULT' ./qualify`); none asserts a time, each asserts how it ended.\n\n")
	fmt.Fprintf(b, "Measured %s on version %s; %s/%s, %d cores, load %s; %s; %s. Leases of 3 s (freeze, and a Mac that stays dead) and of 20 s (elsewhere, so that what ends a run is the fault and not a busy machine), heartbeat 0.5 s, one slot a Mac.\n",
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), c.version, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), strings.Join(strings.Fields(string(load))[:min(3, len(strings.Fields(string(load))))], " "), runtime.Version(), ffmpeg)
}

func said(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// committed is the version of this tree, which must be one: apart from the
// evidence, nothing may differ from it.
func committed() (version string, err error) {
	status, err := exec.Command("git", "status", "--porcelain", "--", ":/", ":(top,exclude)docs/evidence").Output()
	if err != nil {
		return "", fmt.Errorf("git does not say which version this is: %w", err)
	}
	if len(status) > 0 {
		return "", fmt.Errorf("commit these first, a card is of a version:\n%s", status)
	}
	return said("git", "describe", "--tags", "--always"), nil
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
	if r.unfelt {
		out += ", " + unfelt
	}
	return out + ", " + seconds(r.times[len(r.times)-1].took)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// goal is a line of what must be reached.
type goal struct {
	what, must, measured string
	met                  bool
}

// goals are what the issue says must be reached.
func (c *card) goals() []goal {
	var deads, backs, wentOn []time.Duration
	stale := 0
	for _, r := range c.results {
		deads, backs, wentOn = append(deads, r.dead...), append(backs, r.back...), append(wentOn, r.wentOn...)
		stale += r.stale
	}
	none := func(what string, n int) goal {
		return goal{what, "0", fmt.Sprintf("%d, in %d jobs", n, c.all.submitted), n == 0 && c.all.submitted > 0}
	}
	within := func(what, must string, limit time.Duration, took []time.Duration) goal {
		most := slices.Max(took)
		return goal{what, must, fmt.Sprintf("at most %s, in %d cells", seconds(most), len(took)), most <= limit}
	}
	return []goal{
		{"stale commits accepted", "0", fmt.Sprintf("%d, of %d that were sent", c.all.stale, stale), c.all.stale == 0 && stale > 0},
		none("acknowledged submits, cancels and commits lost", c.all.lost),
		none("jobs stuck", c.all.stuck),
		none("secrets in any log", c.all.leaked),
		within("a dead agent's job is offered again", "TTL + 1 s = "+seconds(ttl+time.Second), ttl+time.Second, deads),
		within("a returning agent's job is at work again", seconds(time.Second), time.Second, backs),
		within("a run goes on after the server is ready again", "no limit", math.MaxInt64, wentOn),
	}
}

func (c *card) reached(b *strings.Builder) {
	b.WriteString("\n## What must be reached\n\n| | must | measured |\n|---|---|---|\n")
	for _, g := range c.goals() {
		fmt.Fprintf(b, "| %s | %s | %s |\n", g.what, g.must, g.measured)
	}
	b.WriteString("\nThis card is written only if all of it is reached. A stale commit is one of an attempt whose job another Mac has; they are sent where the first Mac stays dead, and in every cell no attempt but the right one may have been committed. A returning agent's time is from the start of its process until its kept result is resumed or the job offered anew. Where the line was cut, a run is resumed with the hello, until which the agent waits out its own backoff; that time is shown in the cell. Secrets are the admin key, device tokens, and each commit token whose hash the database still has.\n")
}
