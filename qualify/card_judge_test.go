package qualify

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rendermac/api"
)

// judge holds the cell's end against what must be.
func (c *cell) judge(want string) {
	c.Helper()
	c.finishPlugs()
	end := c.ended(c.job)
	c.result.outcome = outcome(end)
	expected, resumed := strings.CutSuffix(want, ", resumed")
	if c.result.outcome != expected {
		c.Fatalf("%s, want %s\n%s", c.result.outcome, expected, c.story())
	}
	if n := len(end.Attempts); n > 0 {
		c.result.epoch = end.Attempts[n-1].LeaseEpoch
	}
	if resumed && c.result.epoch < 2 {
		c.Fatalf("the attempt was not resumed: its epoch is %d\n%s", c.result.epoch, c.story())
	}
	c.prove()
	c.wait("nothing is left behind", func() bool { return c.leftovers() == "" })
}

func outcome(j *api.Job) string {
	var attempts []string
	for _, a := range j.Attempts {
		one := fmt.Sprintf("att %d %s", a.AttemptNumber, a.Status)
		if a.FailureCode != nil {
			one += " " + *a.FailureCode
		}
		attempts = append(attempts, one)
	}
	return strings.TrimSpace(j.Status + ": " + strings.Join(attempts, ", "))
}

// finishPlugs lets the jobs end that kept the Macs busy. Only where their Mac
// was struck may they have needed another attempt.
func (c *cell) finishPlugs() {
	c.Helper()
	for _, id := range c.plugs {
		j := c.ended(id)
		if got := outcome(j); j.Status != api.JobSucceeded || got != succeeds && !strings.HasPrefix(c.fault, "agent") {
			c.Fatalf("the other job: %s\n%s", got, c.story())
		}
	}
}

// prove shows that the slot came back, at the server and on the Mac: every Mac,
// which has one, takes another job. Those are then cancelled, which costs less
// than to encode them; the next cell's job runs to its end on the same Macs.
func (c *cell) prove() {
	c.Helper()
	c.holdAll("agent.download")
	var probes []string
	for range c.macs {
		probes = append(probes, c.order(c.reels.short))
	}
	c.wait("every Mac takes another job", c.allHeld("agent.download"))
	for _, id := range probes {
		c.drop(id)
	}
	c.release()
	for _, id := range probes {
		if j := c.ended(id); outcome(j) != cancels {
			c.Fatalf("a job afterwards: %s\n%s", outcome(j), c.story())
		}
	}
	c.result.slotBack = true
}

// drop is the buyer's cancel.
func (b *bench) drop(id string) {
	b.Helper()
	if _, err := b.client.Cancel(context.Background(), id); err != nil {
		b.Fatal(err)
	}
	b.accepted[id] = api.JobCancelled
}

// at is a time that the server has stored.
func (b *bench) at(query string, args ...any) time.Time {
	b.Helper()
	ms, err := strconv.ParseInt(b.row(query, args...), 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return time.UnixMilli(ms)
}
