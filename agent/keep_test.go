package agent

import (
	"os"
	"path/filepath"
	"testing"

	"rendermac/agentproto"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestStartClearsLeftoversAndNothingElse(t *testing.T) {
	srv := newServer(t)
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	write(t, filepath.Join(work, "holiday.mov"), "the user's own")
	write(t, filepath.Join(work, folderPrefix+"1", "input-1"), "half a download")
	write(t, filepath.Join(work, folderPrefix+"2", keptName), "{")
	write(t, filepath.Join(work, folderPrefix+"3", keptName), `{"attempt_id":"att_3","result":{"file":"output.mp4","bytes":9}}`)
	write(t, filepath.Join(work, folderPrefix+"3", "output.mp4"), "cut")
	startAgentIn(t, srv, dir)
	if resume := srv.session(1).hello.Resume; len(resume) != 0 {
		t.Errorf("resume lists %+v", resume)
	}
	if left := folders(t, work); len(left) > 0 {
		t.Errorf("leftovers: %v", left)
	}
	if _, err := os.Stat(filepath.Join(work, "holiday.mov")); err != nil {
		t.Errorf("the user's file is gone: %v", err)
	}
}

func TestF17_KeptResultComesBackAsItWas(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "output.mp4"), "12345")
	k := &keptResult{
		agentproto.IDs{JobID: "job_1", AttemptID: "att_1", LeaseEpoch: 4},
		"secret",
		result{File: "output.mp4", Bytes: 5, SHA256: "x", Parts: []agentproto.Part{{Number: 1, Bytes: 5, SHA256: "x"}}, Warnings: []string{"w"}},
	}
	for range 2 { // the second time it replaces the first
		if err := writeKept(dir, k); err != nil {
			t.Fatal(err)
		}
	}
	back, err := readKept(dir)
	if err != nil || back.IDs != k.IDs || back.CommitToken != "secret" || back.Result.Parts[0] != k.Result.Parts[0] || back.Result.Warnings[0] != "w" {
		t.Errorf("it came back as %+v: %v", back, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the folder holds %v: %v", entries, err)
	}
}
