package qualify

import (
	"strings"
	"time"

	"rendermac/api"
)

// cancel is the buyer's.
func (c *cell) cancel() {
	struck := time.Now()
	c.drop(c.job)
	c.release()
	c.took("from cancel to the job's end", c.ended(c.job).FinishedAt.Sub(struck))
}

// killAgent is kill -9, and the agent started again at once.
func (c *cell) killAgent() {
	struck := time.Now()
	c.victim.process.kill()
	c.release()
	began := c.victim.begin()
	end := c.ended(c.job)
	online := c.online(began)
	c.took("from start to hello", online.Sub(began))
	if c.phase != "queued" && c.phase != "verifying" {
		c.returned("from start to work", c.backAtWork(end).Sub(began))
	}
	c.took("from kill to the job's end", end.FinishedAt.Sub(struck))
}

// killForGood is kill -9 of an agent that stays dead while another Mac is idle.
func (c *cell) killForGood() {
	struck := time.Now()
	c.victim.process.kill()
	c.release()
	var attempts []api.Attempt
	c.wait("another Mac has the job", func() bool { attempts = c.look(c.job).Attempts; return len(attempts) == 2 })
	c.tookOver("from kill to the next offer", attempts[1].LeasedAt.Sub(struck))
	c.speakStale(attempts[0])
	c.ended(c.job)
	c.victim.begin() // the Mac is repaired; what it kept is refused
}

// freezeAgent stops every process of the Mac past its lease, as sleep does.
func (c *cell) freezeAgent() {
	struck := time.Now()
	thaw := c.victim.sleep()
	other := c.macs[0]
	if other == c.victim {
		other = c.macs[1]
	}
	switch c.phase {
	case "verifying":
		c.release()
		c.ended(c.job)
		c.wait("the lease would be over", func() bool { return time.Since(struck) > c.ttl+time.Second })
	case "queued":
		other.at.release("agent.download")
		c.wait("the other job of the frozen Mac is lost", func() bool { return c.lostOne() })
	default:
		c.wait("another Mac has the job", func() bool { return len(c.look(c.job).Attempts) == 2 })
		c.tookOver("from freeze to the next offer", c.look(c.job).Attempts[1].LeasedAt.Sub(struck))
	}
	heard, thawed := len(c.victim.process.said()), time.Now()
	thaw() // in the middle of the other's run
	c.release()
	if c.phase != "queued" && c.phase != "verifying" {
		c.wait("the Mac that slept stops its run", func() bool { return strings.Contains(c.victim.process.said()[heard:], "run stopped") })
		c.took("from waking to letting go", time.Since(thawed))
	}
	c.took("from freeze to the job's end", c.ended(c.job).FinishedAt.Sub(struck))
}

func (c *cell) lostOne() bool {
	for _, id := range c.plugs {
		if a := c.look(id).Attempts; a[0].DeviceID == c.victim.id && a[0].Status == "lost" {
			return true
		}
	}
	return false
}

// dropSocket cuts every connection of the Mac and lets none through for a
// second. A commit is cut after it went out and before its answer came back.
func (c *cell) dropSocket() {
	if c.phase == "committing" {
		c.line.deafen()
		c.release()
		c.wait("the commit has got through", func() bool { return c.look(c.job).Status != api.JobActive })
	}
	struck := time.Now()
	c.line.cut()
	c.release()
	<-time.After(time.Second)
	open := c.line.mend()
	end := c.ended(c.job)
	hello := c.online(open) // which resumes the run
	c.took("from the line's return to hello", hello.Sub(open))
	if c.phase == "committing" { // which has ended before the drop
		c.wait("the Mac has learned how it ended", func() bool { return len(c.victim.runs()) == 0 })
		c.took("from drop to the Mac's knowing that the job succeeded", time.Since(struck))
		return
	}
	c.took("from drop to the job's end", end.FinishedAt.Sub(struck))
}

// killServer is kill -9, and the server started again at once.
func (c *cell) killServer() {
	struck := time.Now()
	c.plant.kill()
	c.release()
	c.startServer()
	ready := time.Now()
	c.took("from kill to ready", ready.Sub(struck))
	end := c.ended(c.job)
	if c.phase != "queued" && c.phase != "verifying" {
		atWork := c.backAtWork(end)
		c.took("from kill to work", atWork.Sub(struck))
		c.result.wentOn = append(c.result.wentOn, max(0, atWork.Sub(ready))) // an agent may be there before the one who waits for ready
	}
	c.took("from kill to the job's end", end.FinishedAt.Sub(struck))
}

// setClocks sets the server's clock an hour ahead, then an hour behind, and
// goes on like that.
func (c *cell) setClocks() {
	struck := time.Now()
	jumps := strings.Count(c.plant.said(), "clock jumped")
	for _, ahead := range []time.Duration{time.Hour, -time.Hour} {
		c.server.setClock(ahead)
		jumps++
		c.wait("the server has noticed", func() bool { return strings.Count(c.plant.said(), "clock jumped") >= jumps })
	}
	c.release()
	c.ended(c.job)
	c.took("from the first jump to the job's end", time.Since(struck))
	c.finishPlugs()
	c.prove() // still behind
	c.server.setClock(0)
	c.wait("the server has noticed", func() bool { return strings.Count(c.plant.said(), "clock jumped") > jumps })
}

// online is when the Mac said hello for the first time since then.
func (c *cell) online(since time.Time) (at time.Time) {
	c.Helper()
	c.wait("the Mac says hello", func() bool {
		at = c.at(`SELECT coalesce(min(at), 0) FROM events WHERE type = 'device.online' AND device_id = ? AND at >= ?`, c.victim.id, since.UnixMilli())
		return at.UnixMilli() > 0
	})
	return at
}

// backAtWork is when the run went on: resumed, or the job offered again.
func (c *cell) backAtWork(end *api.Job) time.Time {
	c.Helper()
	last := end.Attempts[len(end.Attempts)-1]
	if last.AttemptNumber > 1 {
		return last.LeasedAt
	}
	return c.at(`SELECT max(at) FROM events WHERE type = 'attempt.resumed' AND attempt_id = ?`, last.ID)
}
