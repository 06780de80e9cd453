package qualify

import (
	"os"
	"path/filepath"
	"testing"
)

// lasting is the test of the moment, whose folders and processes last longer.
type lasting struct {
	testing.TB
	life testing.TB
}

func (l *lasting) Cleanup(f func()) { l.life.Cleanup(f) }
func (l *lasting) TempDir() string  { return l.life.TempDir() }

// reel is a file to transcode and what to make of it.
type reel struct{ path, params string }

// reels are made once: a short one, and one whose encoding takes a few seconds.
// proofs are what doctor has proved of this machine's ffmpeg, which is the same
// for every Mac here.
type reels struct {
	short, long reel
	proofs      string
}

func makeReels(t testing.TB) reels {
	t.Helper()
	home := t.TempDir()
	<-start(t, home, newPoints(t), "doctor", "--data", home).ended
	proofs, err := os.ReadFile(filepath.Join(home, "proofs.json"))
	if err != nil {
		t.Fatal(err)
	}
	return reels{
		short:  reel{clip(t, 0.4, "320x180"), `{"preset":"web-480p"}`},
		long:   reel{clip(t, 3, "1280x720"), `{"preset":"web-480p"}`},
		proofs: string(proofs),
	}
}
