package qualify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// F8: a server whose artifact disk is not mounted never takes an empty folder for
// its store, where it would find every result that waits to be verified missing.
// It refuses one at the start, and starts without a store that is not there.
func TestF8_NoServerOnAStoreThatIsNotThere(t *testing.T) {
	s := newSite(t, "")
	server := s.serve()
	s.submit(clip(t, 0.4, "320x180"))
	server.term()
	store := filepath.Join(s.data(), "artifacts")
	mustMove(t, store, store+".away")
	if err := os.Mkdir(store, 0o700); err != nil { // a bare mount point
		t.Fatal(err)
	}
	refused := s.launch()
	<-refused.ended
	if refused.cmd.ProcessState.Success() || !strings.Contains(refused.said(), "mount its disk") {
		t.Fatalf("the server started, or does not say why not:\n%s", refused.said())
	}
	if err := os.Remove(store); err != nil {
		t.Fatalf("a new store was begun in the place of the old one: %v", err)
	}

	waiting := s.launch()
	waiting.until(t, "the artifact store is away")
	if _, err := os.Stat(store); !os.IsNotExist(err) {
		t.Fatalf("a new store was begun in the place of the old one: %v", err)
	}
	mustMove(t, store+".away", store)
	waiting.until(t, "the artifact store is back")
	waiting.term()
	s.serve()
}

func mustMove(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// until waits for what the process says.
func (p *process) until(t *testing.T, what string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(p.said(), what); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it does not say %q:\n%s", what, p.said())
		}
	}
}
