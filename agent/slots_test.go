package agent

import (
	"context"
	"errors"
	"testing"

	"rendermac/agentproto"
)

func TestOfferBeyondTheSlotsWaitsAlive(t *testing.T) {
	srv := newServer(t)
	a, first, _ := slowRun(t, srv)
	srv.offer(srv.session(1), "att_2", mustClip(t), `{}`)
	for range 3 { // it keeps its lease while it waits
		p := next(srv, srv.mark(), func(p *agentproto.Progress) bool { return p.AttemptID == "att_2" })
		if p.Phase != "downloading" || p.Fraction != nil {
			t.Errorf("a waiting run reports %+v", p)
		}
	}
	if len(folders(t, a.WorkDir)) != 1 {
		t.Error("the second run began")
	}
	srv.session(1).send(&agentproto.LeaseConflict{IDs: first.IDs})
	next(srv, 0, func(r *agentproto.Progress) bool { return r.AttemptID == "att_2" && r.Phase == "running" })
}

func TestSlotsAreHandedOutInTurn(t *testing.T) {
	s := newSlots(1)
	first, err := s.take(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancelCause(context.Background())
	leave(errOver)
	if _, err := s.take(ctx); !errors.Is(err, errOver) {
		t.Errorf("took a slot that was not free: %v", err)
	}
	if free := s.free(); free != 0 {
		t.Errorf("%d free", free)
	}
	first()
	first() // a second time gives nothing
	if free := s.free(); free != 1 {
		t.Errorf("%d free after one was given back", free)
	}
	s.resize(3)
	if free := s.free(); free != 3 {
		t.Errorf("%d free after an admin's override", free)
	}
}

func TestServerOverridesTheSlots(t *testing.T) {
	srv := newServer(t)
	srv.terms.Slots = 3
	startAgent(t, srv)
	if ready := next[*agentproto.Ready](srv, 0, nil); ready.SlotsFree != 3 {
		t.Errorf("%d slots are ready", ready.SlotsFree)
	}
}
