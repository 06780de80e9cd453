package main

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"

	"rendermac/api"
)

// barTotal is the whole of a file's bar, in thousandths.
const barTotal = 1000

// line is one file's line.
type line struct {
	board *board
	name  string
	at    int // its place among the lines

	mu          sync.Mutex
	bar         *mpb.Bar // nil while nothing of it is shown
	stage, text string
	printed     string
	detail      string // shown beside a bar only, for it changes all the time
	done, total int64  // bytes of a transfer
	before      int64  // of these, what an earlier run has moved
	since       time.Time
}

func (b *board) line(name string) *line {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines++
	return &line{board: b, name: clean(name), at: b.lines}
}

// begin says something new. A bar is never
// touched under the lock, for drawing it takes the lock.
func (l *line) begin(stage, text string, quiet bool) {
	l.mu.Lock()
	l.board.move(l.stage, stage)
	l.stage, l.text, l.detail, l.total = stage, text, "", 0
	bare := l.bar == nil
	l.mu.Unlock()
	switch {
	case l.board.bars == nil && !quiet:
		l.print(text)
	case l.board.bars != nil && bare:
		bar := l.board.bar(l.at, l.name, barTotal, l.said)
		l.mu.Lock()
		l.bar = bar
		l.mu.Unlock()
	}
}

// print writes a line that stays, unless it is the same again.
func (l *line) print(text string) {
	if l.printed != text {
		l.printed = text
		l.board.print(l.name, clean(text))
	}
}

// said is what stands beside the bar.
func (l *line) said() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.text
	switch {
	case l.total > 0 && l.done >= l.total:
		text = l.stage + ": being checked"
	case l.total > 0 && l.done > l.before:
		rest := float64(time.Since(l.since)) * float64(l.total-l.done) / float64(l.done-l.before)
		text = fmt.Sprintf("%s %s of %s, %s left", l.stage, size(l.done), size(l.total), duration(time.Duration(rest)))
	case l.detail != "":
		text += ", " + l.detail
	}
	return clean(text)
}

// transfer begins a count of bytes.
func (l *line) transfer(stage string, total int64) {
	l.begin(stage, stage+" "+size(total), l.board.files > 1)
	l.mu.Lock()
	l.done, l.before, l.total, l.since = 0, 0, total, time.Now()
	l.mu.Unlock()
	l.show(0)
}

// goesOn says that an earlier run has left so much of the transfer, if it is any.
func (l *line) goesOn(what string, held int64) {
	if held == 0 {
		return
	}
	l.mu.Lock()
	l.before = held
	total := l.total
	l.mu.Unlock()
	l.board.print(l.name, fmt.Sprintf("going on with an earlier %s, %s of %s are there", what, size(held), size(total)))
}

// waits says that the server, or its store, is waited for, and that it is there
// again.
func (l *line) waits(err error, atMost time.Duration) {
	if err == nil {
		l.board.print(l.name, "going on")
		return
	}
	text := "the server or its store does not answer"
	var said *api.Error
	if errors.As(err, &said) {
		text = fmt.Sprintf("the server or its store answers %d", said.Status)
		if said.Code == api.CodeStoreUnavailable {
			text = "the server's store is away"
		}
	}
	l.board.print(l.name, fmt.Sprintf("%s; trying again for up to %.0f min", text, atMost.Minutes()))
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
	l.mu.Lock()
	bar := l.bar
	l.mu.Unlock()
	if bar != nil {
		bar.SetCurrent(int64(min(max(fraction, 0), 1) * barTotal))
	}
}

// follow shows how a job goes on. Of several files only what counts is put into
// lines of text.
func (l *line) follow(job *api.Job, note string) {
	stage, quiet := "running", l.board.files > 1
	if job.Status == api.JobQueued {
		stage = "queued"
	}
	if job.Status == api.JobQueued || isRunning(job) {
		quiet = false
	}
	l.begin(stage, standing(job)+note, quiet)
	l.mu.Lock()
	l.detail = pace(job)
	l.mu.Unlock()
	if n := len(job.Attempts); n > 0 && job.Attempts[n-1].Fraction != nil {
		l.show(*job.Attempts[n-1].Fraction)
	} else {
		l.show(0)
	}
}

// rest takes the bar away while others are watched.
func (l *line) rest(text string) {
	l.begin("queued", text, false)
	l.drop()
}

func (l *line) drop() {
	l.mu.Lock()
	bar := l.bar
	l.bar = nil
	l.mu.Unlock()
	if bar != nil {
		bar.Abort(true)
	}
}

// end says the last word, which stays where the bar was.
func (l *line) end(text string, well bool) {
	l.mu.Lock()
	stage := "done"
	if !well {
		stage = "failed"
	}
	l.board.move(l.stage, stage)
	l.stage, l.text, l.detail, l.total = stage, text, "", 0
	l.mu.Unlock()
	l.print(text)
	l.drop()
	if l.board.total != nil {
		l.board.total.Increment()
	}
}
