package qualify

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// worker is one Mac of a bench, with one slot.
type worker struct {
	*bench
	name, id, token string
	at              points
	process         *process
	work            string
}

func (b *bench) newMac(name string) *worker {
	b.Helper()
	m := &worker{bench: b, name: name, at: newPoints(b)}
	dir := filepath.Join(b.home, name)
	m.work = filepath.Join(dir, "work")
	if err := os.MkdirAll(m.work, 0o700); err != nil {
		b.Fatal(err)
	}
	if b.disks {
		mountSmall(b, m.work, 160)
	}
	b.put(filepath.Join(dir, "config.yaml"), "agent: {slots: 1}\n")
	b.put(filepath.Join(dir, "proofs.json"), b.reels.proofs)
	direct := b.url
	if b.line != nil {
		b.url = b.line.url
	}
	m.id = b.pair(name)
	b.url = direct
	var paired struct {
		Token string `json:"device_token"`
	}
	text, err := os.ReadFile(filepath.Join(dir, "agent.json"))
	if err != nil || json.Unmarshal(text, &paired) != nil || paired.Token == "" {
		b.Fatalf("no pairing of %s: %v", name, err)
	}
	m.token = paired.Token
	m.begin()
	return m
}

// begin starts the Mac's agent, and says when.
func (m *worker) begin() time.Time {
	m.Helper()
	began := time.Now()
	m.process = m.agent(m.name, m.at)
	m.logs = append(m.logs, m.process)
	return began
}
