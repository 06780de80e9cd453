package qualify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A card says that all was reached, so one where something was not is refused.
func TestNoCardThatMissesItsGoals(t *testing.T) {
	for what, spoil := range map[string]func(*card, *result){
		"":                                      func(*card, *result) {},
		"stale commits accepted":                func(c *card, _ *result) { c.all.stale = 1 },
		"stale commits accepted: 0, of 0":       func(_ *card, r *result) { r.stale = 0 },
		"commits lost":                          func(c *card, _ *result) { c.all.lost = 1 },
		"jobs stuck":                            func(c *card, _ *result) { c.all.stuck = 1 },
		"secrets in any log":                    func(c *card, _ *result) { c.all.leaked = 1 },
		"a dead agent's job is offered again":   func(_ *card, r *result) { r.dead[0] = ttl + time.Second + time.Millisecond },
		"a returning agent's job is at work":    func(_ *card, r *result) { r.back[0] = time.Second + time.Millisecond },
		"running × agent kill was not measured": func(c *card, _ *result) { delete(c.results, "running/agent kill") },
	} {
		r := &result{dead: []time.Duration{ttl + time.Second}, back: []time.Duration{time.Second}, wentOn: []time.Duration{time.Hour}, stale: 1}
		c := &card{version: "none", all: tally{submitted: 1}, results: map[string]*result{}}
		for _, f := range faults {
			for phase := range f.want {
				c.results[phase+"/"+f.name] = new(result)
			}
		}
		c.results["leased/"+dead] = r
		spoil(c, r)
		path := filepath.Join(t.TempDir(), "card.md")
		err := c.write(path)
		if what == "" {
			what = "measured was none" // all is reached: what is left is that no tree has that version
		}
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: the writer says %v", what, err)
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s: a card was written: %v", what, err)
		}
	}
}
