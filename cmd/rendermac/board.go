package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/mattn/go-isatty"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"rendermac/api"
)

// board shows one line a file: bars on a terminal, elsewhere a line of text
// whenever something new begins.
type board struct {
	mu   sync.Mutex // one line of text at a time
	out  io.Writer
	bars *mpb.Progress // nil where out is no terminal
}

func newBoard(out io.Writer, files int) *board {
	b := &board{out: out}
	if f, ok := out.(*os.File); ok && isatty.IsTerminal(f.Fd()) && files > 0 {
		b.bars = mpb.New(mpb.WithOutput(f), mpb.WithWidth(28))
	}
	return b
}

// close waits for the bars' last state to be drawn.
func (b *board) close() {
	if b.bars != nil {
		b.bars.Wait()
	}
}

const (
	nameWidth = 28 // keeps bars under each other
	barTotal  = 1000
)

// line is one file's line.
type line struct {
	board *board
	name  string
	bar   *mpb.Bar

	mu          sync.Mutex
	text        string
	done, total int64 // of what the bar shows now
}

func (b *board) line(name string) *line {
	l := &line{board: b, name: clean(name)}
	if b.bars != nil {
		l.bar = b.bars.AddBar(barTotal,
			mpb.PrependDecorators(decor.Name(shorten(l.name, nameWidth), decor.WC{W: nameWidth + 1, C: decor.DindentRight})),
			mpb.AppendDecorators(decor.Percentage(decor.WC{W: 5}), decor.Any(func(decor.Statistics) string { return "  " + l.said() })))
	}
	return l
}

func (l *line) said() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text
}

// say begins something new; saying the same again is silent.
func (l *line) say(text string) {
	l.mu.Lock()
	text = clean(text)
	same := l.text == text
	l.text = text
	l.mu.Unlock()
	if l.bar != nil || same {
		return
	}
	l.board.mu.Lock()
	defer l.board.mu.Unlock()
	fmt.Fprintf(l.board.out, "%s: %s\n", l.name, text)
}

// transfer begins a count of bytes.
func (l *line) transfer(text string, total int64) {
	l.say(text)
	l.mu.Lock()
	l.done, l.total = 0, total
	l.mu.Unlock()
	l.add(0)
}

// add counts bytes of the transfer; fewer than none where a part starts over.
func (l *line) add(n int64) {
	l.mu.Lock()
	l.done += n
	fraction := float64(l.done) / float64(max(1, l.total))
	l.mu.Unlock()
	l.show(fraction)
}

func (l *line) show(fraction float64) {
	if l.bar != nil {
		l.bar.SetCurrent(int64(min(max(fraction, 0), 0.999) * barTotal)) // a full bar would end
	}
}

// follow shows how a job goes on.
func (l *line) follow(job *api.Job, note string) {
	l.say(standing(job) + note)
	if n := len(job.Attempts); n > 0 && job.Attempts[n-1].Fraction != nil {
		l.show(*job.Attempts[n-1].Fraction)
	} else {
		l.show(0)
	}
}

// standing is where a job stands, in words that change only with its phase.
func standing(job *api.Job) string {
	if job.Status == api.JobQueued {
		return "queued as " + job.ID
	}
	if job.Status != api.JobActive || len(job.Attempts) == 0 {
		return job.Status
	}
	a := job.Attempts[len(job.Attempts)-1]
	text := a.Status + " on " + a.DeviceName
	if a.AttemptNumber > 1 {
		text += fmt.Sprintf(" (attempt %d)", a.AttemptNumber)
	}
	return text
}

// end says the last word and leaves the line standing, full if all went well.
func (l *line) end(text string, well bool) {
	l.say(text)
	switch {
	case l.bar == nil:
	case well:
		l.bar.SetCurrent(barTotal)
	default:
		l.bar.Abort(false)
	}
}

// shorten leaves out the middle of what is too long.
func shorten(s string, width int) string {
	runes := []rune(s)
	if len(runes) <= width {
		return s
	}
	half := (width - 1) / 2
	return string(runes[:half]) + "…" + string(runes[len(runes)-half:])
}
