package agent

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"rendermac/agentproto"
	"rendermac/failpoint"
)

// proofsName is the file that notes what the test frames have proved. They take
// seconds, and an agent that was killed has runs to resume: it is back at once.
const proofsName = "proofs.json"

// proofsLast is how long proofs are believed: fonts and drivers, which they hang
// on too, say nothing when they change.
const proofsLast = 24 * time.Hour

// proofs hold for one ffmpeg on one boot of one machine.
type proofs struct {
	FFmpeg   string    `json:"ffmpeg"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
	Agent    string    `json:"agent_version"` // whose test frames they were
	OS       string    `json:"os_version"`
	Boot     string    `json:"boot"`
	Encoders []string  `json:"encoders"`
	Features []string  `json:"features"`
}

// recallFacts is Facts, with proofs of before where nothing has changed since.
// Facts itself always proves anew, as rendermac doctor does.
func recallFacts(ctx context.Context, o Options) agentproto.Device {
	was, err := readProofs(filepath.Join(o.DataDir, proofsName))
	if err == nil && len(was.Encoders) > 0 {
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
	p := proofs{FFmpeg: o.FFmpeg, Agent: o.Version, OS: osVersion(), Boot: bootID()}
	if info, err := os.Stat(o.FFmpeg); err == nil {
		p.Bytes, p.Modified = info.Size(), info.ModTime()
	}
	return p
}

func (p proofs) same(was proofs) bool {
	return p.FFmpeg == was.FFmpeg && p.Bytes == was.Bytes && p.Modified.Equal(was.Modified) &&
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
