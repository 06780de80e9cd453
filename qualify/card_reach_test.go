package qualify

import (
	"os"
	"slices"

	"rendermac/api"
)

// cell is one phase against one fault.
type cell struct {
	*bench
	phase, fault string
	job          string
	plugs        []string // other jobs that keep the Macs busy while the job is queued
	victim       *worker  // that runs the job, or would
	result       *result
}

// holds are where a run is held in each phase. A running one is not held: its
// ffmpeg has work for seconds.
var holds = map[string]string{
	"leased": "agent.leased", "downloading": "agent.download", "uploading": "agent.upload", "committing": "agent.commit",
}

// states are what the server knows of the attempt in each phase.
var states = map[string]string{
	"leased": "leased", "downloading": "downloading", "running": "running", "uploading": "uploading", "committing": "uploading", "verifying": "committing",
}

// reach brings a job to the cell's phase.
func (c *cell) reach() {
	c.Helper()
	if c.phase == "queued" {
		c.queue()
		return
	}
	reel := c.reels.short
	if c.phase == "running" {
		reel = c.reels.long
	}
	c.hold()
	c.job = c.order(reel)
	c.wait("the job is "+c.phase, c.arrived)
	c.victim = c.macOf(c.look(c.job).Attempts[0])
	for _, m := range c.macs {
		if m != c.victim {
			m.at.release(holds[c.phase])
		}
	}
}

// queue lets the job stand in line behind others that fill every Mac.
func (c *cell) queue() {
	c.Helper()
	c.holdAll("agent.download")
	for range c.macs {
		c.plugs = append(c.plugs, c.order(c.reels.short))
	}
	c.wait("every Mac is busy", c.allHeld("agent.download"))
	c.job, c.victim = c.order(c.reels.short), c.macs[0]
	if j := c.look(c.job); j.Status != api.JobQueued {
		c.Fatalf("the job is %s, not queued", j.Status)
	}
}

func (c *cell) hold() {
	if c.phase == "verifying" {
		c.server.stop("server.verify")
		return
	}
	if mark := holds[c.phase]; mark != "" {
		c.holdAll(mark)
	}
}

func (b *bench) holdAll(mark string) {
	for _, m := range b.macs {
		m.at.stop(mark)
	}
}

func (b *bench) allHeld(mark string) func() bool {
	return func() bool {
		return !slices.ContainsFunc(b.macs, func(m *worker) bool { return !m.at.held(mark) })
	}
}

// stop is hold, of whoever comes from now on.
func (p points) stop(mark string) {
	os.Remove(p.file("held." + mark))
	p.hold(mark)
}

func (c *cell) arrived() bool {
	j := c.look(c.job)
	if j.Ended() {
		c.Fatalf("the job is %s before it was %s\n%s", j.Status, c.phase, c.story())
	}
	if len(j.Attempts) == 0 || j.Attempts[0].Status != states[c.phase] {
		return false
	}
	switch a := j.Attempts[0]; c.phase {
	case "running":
		return a.Fraction != nil && *a.Fraction > 0
	case "verifying":
		return c.server.held("server.verify")
	default:
		return c.macOf(a).at.held(holds[c.phase])
	}
}

func (b *bench) macOf(a api.Attempt) *worker {
	for _, m := range b.macs {
		if m.id == a.DeviceID {
			return m
		}
	}
	b.Fatalf("attempt %s runs on a Mac that is none of ours: %s", a.ID, a.DeviceID)
	return nil
}

// release lets go of whoever is held, or would be.
func (c *cell) release() {
	c.server.release("server.verify")
	for _, m := range c.macs {
		for _, mark := range holds {
			m.at.release(mark)
		}
	}
}
