package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/mattn/go-isatty"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// board shows one line a file: bars on a terminal, elsewhere a line of text
// whenever something new begins.
type board struct {
	out   io.Writer
	files int
	bars  *mpb.Progress // nil where out is no terminal
	total *mpb.Bar      // of all files, where there are several

	mu     sync.Mutex // one line of text at a time
	lines  int
	stages map[string]int // how many files are at each
}

// stages are what a file may be at, as the last bar names them.
var stages = []string{"failed", "uploading", "queued", "running", "downloading"}

func newBoard(out io.Writer, files int) *board {
	b := &board{out: out, files: files, stages: map[string]int{}}
	f, ok := out.(*os.File)
	if !ok || !isatty.IsTerminal(f.Fd()) || os.Getenv("TERM") == "dumb" {
		return b
	}
	b.bars = mpb.New(mpb.WithOutput(f))
	if files > 1 {
		b.total = b.bar(files+1, count(files, "file"), int64(files), b.tally)
	}
	return b
}

const (
	barWidth     = 14
	nameWidth    = 40 // at the most; a quarter of the terminal
	leastOfAText = 20
)

// bar is name, bar, percentage, and as much of the text as there is room for.
func (b *board) bar(at int, name string, total int64, text func() string) *mpb.Bar {
	bar := b.bars.AddBar(0, mpb.BarPriority(at), mpb.BarWidth(barWidth),
		mpb.PrependDecorators(decor.Any(func(s decor.Statistics) string {
			width := min(max(s.AvailableWidth/4, leastOfAFile), nameWidth)
			return pad(shorten(name, width), width)
		})),
		mpb.AppendDecorators(decor.Any(func(s decor.Statistics) string {
			room := s.AvailableWidth - barWidth - 2
			if room < leastOfAText {
				room = s.AvailableWidth // and the bar goes without
			}
			return cut(fmt.Sprintf("%3d %%  %s", 100*s.Current/max(1, s.Total), text()), room)
		})))
	bar.SetTotal(total, false) // set later, so that a full bar stays until it is taken away
	return bar
}

// tally says how many files are at each stage.
func (b *board) tally() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var parts []string
	for _, stage := range stages {
		if n := b.stages[stage]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, stage))
		}
	}
	if n := b.files - b.lines; n > 0 {
		parts = append(parts, fmt.Sprintf("%d to come", n))
	}
	return strings.Join(parts, ", ")
}

// move counts a file at another stage.
func (b *board) move(from, to string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stages[from]--
	b.stages[to]++
}

// print writes a line that stays, above the bars.
func (b *board) print(name, text string) {
	line := fmt.Sprintf("%s: %s\n", name, text)
	if b.bars != nil {
		fmt.Fprint(b.bars, line)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	fmt.Fprint(b.out, line)
}

// close takes the last bar away, once all that was printed has been drawn.
func (b *board) close() {
	if b.bars == nil {
		return
	}
	if b.total != nil {
		b.total.Abort(true)
	}
	b.bars.Wait()
}
