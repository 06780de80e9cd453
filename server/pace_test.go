package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rendermac/agentproto"
)

func TestPace_ANewerProgressCarriesWhatIsSaidOnce(t *testing.T) {
	p := newPace(1, func(*agentproto.Progress) int { return 1 }, newest)
	p.limit.AllowN(time.Now(), 1) // the second's only one is gone
	p.add("att", &agentproto.Progress{Phase: "running", InputMedia: []agentproto.RawJSON{[]byte(`{}`)}})
	p.add("att", &agentproto.Progress{Phase: "uploading"})
	if got := p.due(time.Now()); len(got) > 0 {
		t.Fatalf("past its rate: %+v", got)
	}
	got := p.due(time.Now().Add(time.Second))
	if len(got) != 1 || got[0].Phase != "uploading" || len(got[0].InputMedia) != 1 {
		t.Fatalf("%+v", got)
	}
}

func TestPace_MadeUpRunsTakeNoMemory(t *testing.T) {
	p := newPace(1, func(*agentproto.Progress) int { return 1 }, newest)
	for i := range 10 * maxWaiting {
		p.add(fmt.Sprint(i), &agentproto.Progress{})
	}
	if len(p.waiting) != maxWaiting {
		t.Fatalf("%d wait", len(p.waiting))
	}
}

func TestPace_TailKeepsTheNewestLines(t *testing.T) {
	flood := make([]string, 340_000)
	flood[len(flood)-1] = "last"
	if got := tail(flood); len(got) > logRate || got[len(got)-1] != "last" {
		t.Errorf("%d lines of a flood are kept", len(got))
	}
	if got := tail([]string{"first", strings.Repeat("x", 2*logRate)}); len(got) != 1 {
		t.Errorf("%d lines beside a huge one", len(got))
	}
	if got := tail(nil); len(got) != 0 {
		t.Errorf("%v of nothing", got)
	}
}
