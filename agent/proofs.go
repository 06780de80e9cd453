package agent

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"rendermac/agentproto"
)

// proofsName is the file that notes what the test frames have proved. They take
// seconds, and an agent that was killed has runs to resume: it is back at once.
const proofsName = "proofs.json"

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
	text, err := os.ReadFile(filepath.Join(o.DataDir, proofsName))
	var was proofs
	if err == nil && json.Unmarshal(text, &was) == nil && len(was.Encoders) > 0 {
		if is := proofsOf(o); is.Boot != "" && is.same(was) {
			d := machineFacts(o)
			d.Encoders, d.Features = was.Encoders, was.Features
			return d
		}
	}
	o.Log.Info("trying each encoder on one frame", "ffmpeg", o.FFmpeg)
	return Facts(ctx, o)
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
	file, err := os.CreateTemp(o.DataDir, proofsName+".*")
	if err != nil {
		return
	}
	_, err = file.Write(text)
	if file.Close() != nil || err != nil || os.Rename(file.Name(), filepath.Join(o.DataDir, proofsName)) != nil {
		os.Remove(file.Name())
	}
}
