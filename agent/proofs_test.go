package agent

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// An agent that starts again is back at work at once: what was proved of the
// same ffmpeg since the machine booted is not proved again.
func TestProofsAreRecalledUntilSomethingChanges(t *testing.T) {
	t.Parallel()
	tries := filepath.Join(t.TempDir(), "tries")
	o := testOptions(t, "http://127.0.0.1", t.TempDir())
	o.FFmpeg = filepath.Join(t.TempDir(), "ffmpeg")
	script := "#!/bin/sh\nrm -f " + tries + "\n"
	if err := errors.Join(os.MkdirAll(o.DataDir, 0o700), os.WriteFile(o.FFmpeg, []byte(script), 0o700)); err != nil {
		t.Fatal(err)
	}
	tried := func(o Options) bool {
		if err := os.WriteFile(tries, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if d := recallFacts(t.Context(), o); !slices.Contains(d.Encoders, "libx264") || !slices.Contains(d.Features, "zscale") {
			t.Fatalf("the agent offers %q and %q", d.Encoders, d.Features)
		}
		_, err := os.Stat(tries)
		return err != nil
	}
	if !tried(o) {
		t.Fatal("the first start proved nothing")
	}
	if bootID() == "" {
		t.Skip("this system does not say when it was started: every start proves anew")
	}
	if tried(o) {
		t.Error("the second start proved again what was proved")
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(o.FFmpeg, later, later); err != nil {
		t.Fatal(err)
	}
	if !tried(o) {
		t.Error("another ffmpeg under the same name was not proved")
	}
	newer := o
	newer.Version = "another"
	if !tried(newer) {
		t.Error("another agent, with other test frames, proved nothing")
	}
	file := filepath.Join(o.DataDir, proofsName)
	old := time.Now().Add(-proofsLast - time.Minute)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	if !tried(newer) {
		t.Error("proofs of the day before were believed")
	}
	for _, damage := range []string{"{", strings.Repeat("x", 10)} {
		if err := os.WriteFile(file, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if !tried(o) {
			t.Errorf("proofs were believed that read %q", damage)
		}
	}
}
