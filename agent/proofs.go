package agent

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rendermac/agentproto"
	"rendermac/failpoint"
	"rendermac/media"
)

// proofsName is the file that notes what the test frames have proved. They take
// seconds, and an agent that was killed has runs to resume: it is back at once.
const proofsName = "proofs.json"

// proofsLast is how long proofs are believed: fonts and drivers, which they hang
// on too, say nothing when they change.
const proofsLast = 24 * time.Hour

// proofs hold for the same programs on one boot of one machine.
type proofs struct {
	Programs []provedFile `json:"programs"`
	Agent    string       `json:"agent_version"` // whose test frames they were
	OS       string       `json:"os_version"`
	Boot     string       `json:"boot"`
	Encoders []string     `json:"encoders"`
	Features []string     `json:"features"`
}

// provedFile is a file as it was when it was tried.
type provedFile struct {
	Path     string    `json:"path"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
}

// recallFacts is Facts, with proofs of before where nothing has changed since.
// Facts itself always proves anew, as rendermac doctor does.
func recallFacts(ctx context.Context, o Options) agentproto.Device {
	was, err := readProofs(filepath.Join(o.DataDir, proofsName))
	if err == nil && len(was.Encoders) > 0 && (o.Remotion.Command == "" || slices.Contains(was.Features, media.Remotion)) {
		if is := proofsOf(o); is.Boot != "" && is.same(was) {
			d := machineFacts(o)
			d.Encoders, d.Features = was.Encoders, was.Features
			return d
		}
	}
	o.Log.Info("trying each encoder on one frame", "ffmpeg", o.FFmpeg)
	return Facts(ctx, o)
}

func readProofs(path string) (was proofs, err error) {
	info, err := os.Stat(path)
	if err != nil || time.Since(info.ModTime()).Abs() > proofsLast {
		return was, fs.ErrNotExist
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return was, err
	}
	return was, json.Unmarshal(text, &was)
}

// proofsOf is what proofs depend on, as it is now.
func proofsOf(o Options) proofs {
	p := proofs{Agent: o.Version, OS: osVersion(), Boot: bootID()}
	for _, path := range []string{o.FFmpeg, o.Remotion.Command, o.Remotion.Browser} {
		is := provedFile{Path: path}
		if info, err := os.Stat(path); err == nil {
			is.Bytes, is.Modified = info.Size(), info.ModTime()
		}
		p.Programs = append(p.Programs, is)
	}
	return p
}

func (p proofs) same(was proofs) bool {
	same := func(a, b provedFile) bool {
		return a.Path == b.Path && a.Bytes == b.Bytes && a.Modified.Equal(b.Modified)
	}
	return slices.EqualFunc(p.Programs, was.Programs, same) &&
		p.Agent == was.Agent && p.OS == was.OS && p.Boot == was.Boot
}

// noteProofs is best effort: without the file the next start is slower.
func noteProofs(o Options, d agentproto.Device) {
	p := proofsOf(o)
	p.Encoders, p.Features = d.Encoders, d.Features
	text, _ := json.Marshal(p) // strings and numbers: it cannot fail
	// One fixed name: what a kill leaves there, the next start takes over.
	made := filepath.Join(o.DataDir, proofsName+".new")
	err := os.WriteFile(made, text, 0o600)
	failpoint.At("agent.proofs.before")
	if err != nil || os.Rename(made, filepath.Join(o.DataDir, proofsName)) != nil {
		os.Remove(made)
	}
	failpoint.At("agent.proofs.after")
}
