package agent

import (
	"fmt"
	"regexp"
	"strings"

	"rendermac/media"
)

var noRoom = regexp.MustCompile(`No space left on device|Disk quota exceeded`)

// keptTail is how many lines are kept for saying why a program failed, and for
// the pass after this one, to which the last lines matter.
const keptTail = 40

// complaints are what ffmpeg writes to stderr: its last lines, and what of it
// says that the input is damaged or the disk full.
type complaints struct {
	dir      string            // the run's folder, which is nobody's business
	tell     func(line string) // everything goes to the job's log
	tail     []string
	damage   int
	first    string // of the damage
	diskFull bool
}

func (r *run) complaints() *complaints { return &complaints{dir: r.dir, tell: r.report.tell} }

func (c *complaints) line(text string) {
	text = strings.ReplaceAll(text, c.dir+"/", "")
	c.tell(text)
	c.tail = append(c.tail, text)
	c.tail = c.tail[max(0, len(c.tail)-keptTail):]
	switch {
	case noRoom.MatchString(text):
		c.diskFull = true
	case media.DamageOf(text):
		if c.damage++; c.damage == 1 {
			c.first = text
		}
	}
}

func (c *complaints) summary() string {
	count := "1 decoding error: "
	if c.damage > 1 {
		count = fmt.Sprintf("%d decoding errors, the first: ", c.damage)
	}
	return count + tidy(c.first)
}

func (c *complaints) lastLine() string {
	if len(c.tail) == 0 {
		return "it did not say why"
	}
	return tidy(c.tail[len(c.tail)-1])
}

var address = regexp.MustCompile(` @ 0x[0-9a-f]+`)

// tidy is a line of ffmpeg's without addresses, short enough for a message.
func tidy(line string) string { return clip(address.ReplaceAllString(line, ""), 300) }
