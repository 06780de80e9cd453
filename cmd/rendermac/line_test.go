package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/vbauerster/mpb/v8"
)

// A bar is full when all bytes have moved, and stays until it is taken away.
func TestABarBecomesFull(t *testing.T) {
	var out bytes.Buffer
	b := &board{out: &out, files: 1, stages: map[string]int{}, bars: mpb.New(mpb.WithOutput(&out), mpb.WithAutoRefresh())}
	l := b.line("film.mov")
	l.transfer("uploading", 12)
	l.goesOn("upload", 0)
	l.goesOn("upload", 4)
	l.add(4)
	l.add(8)
	if now := l.bar.Current(); now != barTotal || l.bar.Completed() {
		t.Errorf("the bar is at %d of %d, ended: %v", now, barTotal, l.bar.Completed())
	}
	if said := l.said(); said != "uploading: being checked" {
		t.Errorf("beside it stands %q", said)
	}
	l.add(-8) // a part starts over
	if now := l.bar.Current(); now != barTotal*4/12 {
		t.Errorf("taken back, the bar is at %d", now)
	}
	l.add(8)
	l.end("done", true)
	b.close()
	if said := out.String(); !strings.Contains(said, "film.mov: going on with an earlier upload, 4 B of 12 B are there\n") || strings.Contains(said, " 0 B of") {
		t.Errorf("the terminal shows %q", said)
	}
}
