package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/vbauerster/mpb/v8"

	"rendermac/api"
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

// Waiting is told in lines that stay.
func TestWaitingIsTold(t *testing.T) {
	var out bytes.Buffer
	l := newBoard(&out, 2).line("film.mov")
	l.waits(&api.Unreachable{URL: "http://a", Cause: io.EOF}, 5*time.Minute)
	l.waits(nil, 0)
	l.waits(api.NewError(503, api.CodeStoreUnavailable, "Not now."), 2*time.Minute)
	l.waits(api.NewError(502, "", "Bad gateway."), 2*time.Minute)
	want := "film.mov: the server or its store does not answer; trying again for up to 5 min\nfilm.mov: going on\n" +
		"film.mov: the server's store is away; trying again for up to 2 min\n" +
		"film.mov: the server or its store answers 502; trying again for up to 2 min\n"
	if out.String() != want {
		t.Errorf("got %q", out.String())
	}
}
