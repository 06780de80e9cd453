package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rendermac/agentproto"
	"rendermac/fence"
)

// One worker verifies here. What it cannot read waits for its next try beside
// the others' results, and a cancel does not wait for a worker (F10).
func TestF7_AnUnreadableResultHoldsUpNoOther(t *testing.T) {
	h := mustStudio(t)
	h.mustJob()
	h.mustJob()
	m := h.mustMac(2)
	sick, well := m.mustOffer(), m.mustOffer()
	for _, r := range []*run{sick, well} {
		r.reach(fence.AttemptUploading)
	}
	digests := filepath.Join(h.dir, "artifacts", "digests", "outputs")
	if err := os.MkdirAll(digests, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(digests, sick.JobID), nil, 0o600); err != nil { // where a folder should go
		t.Fatal(err)
	}
	sick.commit()
	well.commit()
	if got := hear[agentproto.CommitOK](m); got.AttemptID != well.AttemptID {
		t.Fatalf("commit_ok of %s", got.AttemptID)
	}
	sick.stands(fence.JobVerifying, fence.AttemptCommitting)
	sick.cancel()
	if got := hear[agentproto.CommitRejected](m); got.Code != fence.BuyerCancelled {
		t.Fatalf("%+v", got)
	}
}

func TestF18_NoSessionBeginsAfterItsDeviceWasRevoked(t *testing.T) {
	h := mustStudio(t)
	s := &session{}
	s.DeviceID = "dev_a"
	h.srv.hub.revoke("dev_a")
	if _, refused := h.srv.hub.register(s); refused != agentproto.CloseRevoked {
		t.Fatalf("refused with %d", refused)
	}
}

func TestGateway_ManyLogLinesCostTheirSize(t *testing.T) {
	h := mustStudio(t)
	h.mustJob()
	m := h.mustMac(1)
	r := m.mustOffer()
	m.sayText(`{"type":"log","job_id":"` + r.JobID + `","attempt_id":"` + r.AttemptID + `","lease_epoch":1,"lines":[` + strings.Repeat(`"",`, 340_000) + `""]}`)
	m.say(r.failMessage(fence.RunnerFailed))
	hear[agentproto.FailOK](m)
}
