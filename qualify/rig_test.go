package qualify

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The rig itself: a job runs through real processes, and the marks are passed.
func TestRig_AJobThroughRealProcesses(t *testing.T) {
	s := newSite(t, "")
	server := s.serve()
	s.pair("mini")
	at := newPoints(t)
	mac := s.agent("mini", at)
	id := s.submit(clip(t, 1, "320x180"))
	until(t, "the job has ended", func() bool { j := s.job(id); return j.Ended() })
	if j := s.job(id); j.Status != "succeeded" {
		t.Fatalf("the job is %s: %s\n%s", j.Status, server.said(), mac.said())
	}
	mac.term()
	server.term()
	if !slices.Contains(s.server.passed(), "store.commit.after") || !slices.Contains(at.passed(), "agent.commit") {
		t.Fatalf("marks passed: %v, %v", s.server.passed(), at.passed())
	}
	if left, _ := filepath.Glob(filepath.Join(s.home, "mini", "work", "rendermac-run-*")); len(left) > 0 {
		t.Fatalf("left behind: %v", left)
	}
	if _, err := os.Stat(filepath.Join(s.data(), "server.url")); !os.IsNotExist(err) {
		t.Fatalf("a stopped server still says where it is: %v", err)
	}
}
