package qualify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// F8: a server whose artifact disk is not mounted does not start on an empty
// folder, where it would find every result that waits to be verified missing.
func TestF8_NoServerOnAStoreThatIsNotThere(t *testing.T) {
	s := newSite(t, "")
	server := s.serve()
	s.submit(clip(t, 0.4, "320x180"))
	server.term()
	store := filepath.Join(s.data(), "artifacts")
	if err := os.Rename(store, store+".away"); err != nil {
		t.Fatal(err)
	}
	refused := s.launch()
	<-refused.ended
	if refused.cmd.ProcessState.Success() || !strings.Contains(refused.said(), "mount its disk") {
		t.Fatalf("the server started, or does not say why not:\n%s", refused.said())
	}
	if _, err := os.Stat(store); !os.IsNotExist(err) {
		t.Fatalf("a new store was begun in the place of the old one: %v", err)
	}
	if err := os.Rename(store+".away", store); err != nil {
		t.Fatal(err)
	}
	s.serve()
}
