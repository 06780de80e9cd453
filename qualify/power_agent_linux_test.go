package qualify

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/agentproto"
	"rendermac/artifact/artifacttest"
)

// TestPower_AnAgentKeepsItsResultOrNone records an agent from its pairing on,
// through several runs and lost sockets, and cuts the power. The agent must
// start from what is left, still paired; a result whose upload its server has
// seen must be offered again under the newest identity, with its bytes; and none
// may be offered with other bytes (F17). Replay as for the server.
func TestPower_AnAgentKeepsItsResultOrNone(t *testing.T) {
	r := recorded(t, recordAgent)
	f := newFarm(t, r.farm(), func(fact) {})
	cuts, again := replay(t)
	if !again {
		cuts = chooseFor(t, r, soak(12, 120))
	}
	d := newDisk()
	for _, w := range cuts {
		d.play(r, w.at, nil)
		if faults := cutAgent(t, f, d, r, w); len(faults) > 0 {
			t.Errorf("QUALIFY_LOG=%s QUALIFY_CUT=%s (%s) of %d:\n  %s", r.keep(t), w, newOutage(w.seed, w.at), len(r.ops), strings.Join(faults, "\n  "))
		}
	}
}

// chooseFor is choose, most of it where something hangs in the air: between an
// upload that was seen and its final answer.
func chooseFor(t *testing.T, r *recording, n int) []where {
	t.Helper()
	var seen []int
	for i := range r.ops {
		if f := r.facts(i); len(f[sawUpload]) > len(f[sentFinal]) {
			seen = append(seen, i)
		}
	}
	if len(seen) == 0 {
		t.Fatal("the recording has no upload that waits for its answer")
	}
	cuts := choose(t, r, n)
	for i := range cuts {
		if i%4 > 0 {
			cuts[i].at = seen[rand.New(rand.NewPCG(cuts[i].seed, 0)).IntN(len(seen))]
		}
	}
	slices.SortFunc(cuts, func(a, b where) int { return a.at - b.at })
	return cuts
}

// farm is where the recorded agent's server was.
func (r *recording) farm() string {
	u, err := url.Parse(r.facts(len(r.ops))[toldPaired]["dev_farm"].Key)
	if err != nil {
		return ""
	}
	return u.Host
}

// standIn is an ffmpeg that copies a finished film: what it encodes is not the
// question here. Its test frames all pass.
const standIn = `#!/bin/sh
case "$*" in *lavfi*) exit 0;; esac
for last; do :; done
cp '%s' "${last#file:}"
`

// standInConfig makes it, and a config that names it.
func standInConfig(t *testing.T, output string) (config string) {
	t.Helper()
	dir := t.TempDir()
	config = filepath.Join(dir, "config.yaml")
	ffmpeg := filepath.Join(dir, "ffmpeg")
	for file, text := range map[string]string{config: "agent: {ffmpeg: " + ffmpeg + ", slots: 1}\n", ffmpeg: fmt.Sprintf(standIn, output)} {
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return config
}

func recordAgent(t *testing.T) (log string) {
	t.Helper()
	p := mountPower(t)
	f := newFarm(t, artifacttest.FreeAddress(t), p.tell)
	input, output := film(t)
	f.input = input
	result := filepath.Join(t.TempDir(), "result.mp4")
	config, data := standInConfig(t, result), filepath.Join(p.mount, "mini")
	pairing := start(t, t.TempDir(), newPoints(t), "pair", f.URL, "AAAA-AAAA", "--data", data)
	<-pairing.ended
	if !pairing.cmd.ProcessState.Success() {
		t.Fatal(pairing.said())
	}
	p.tell(fact{What: toldPaired, ID: "dev_farm", Key: f.URL})
	mac := start(t, t.TempDir(), newPoints(t), "agent", "--data", data, "--config", config)
	<-f.heard
	for i := range soak(6, 20) {
		if err := os.WriteFile(result, unique(output), 0o600); err != nil {
			t.Fatal(err)
		}
		f.give(fmt.Sprint("att_", i), i)
		select {
		case <-f.ended:
		case <-time.After(patience):
			t.Fatalf("attempt %d has no end:\n%s", i, mac.said())
		}
	}
	mac.term()
	p.pull()
	f.Close() // its address is the next farm's
	if len(f.faults) > 0 {
		t.Fatalf("%v\n%s", f.faults, mac.said())
	}
	return p.log
}

// give offers a run, whose socket is lost once or twice.
func (f *farm) give(attempt string, i int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drops["upload "+attempt] = i%3 < 2
	f.drops["commit "+attempt] = i%2 == 0
	f.say(&agentproto.LeaseOffer{
		IDs: agentproto.IDs{JobID: "job_" + attempt, AttemptID: attempt, LeaseEpoch: 1}, AttemptNumber: 1, CommitToken: tokenOf(attempt, 1),
		LeaseExpiresAt: agentproto.Time{Time: time.Now().Add(time.Minute)}, LeaseTTL: 60, Service: "ffmpeg.transcode", Params: []byte(filmParams),
		Inputs: []agentproto.Input{{Name: "clip.mov", URL: f.URL + "/input", Bytes: int64(len(f.input)), SHA256: hexSum(f.input)}},
		Output: agentproto.Output{Key: "outputs/" + attempt + ".mp4", ContentType: "video/mp4", PartBytes: 32 << 10},
	})
}

// cutAgent starts an agent on what a power cut has left, and hears it out.
func cutAgent(t *testing.T, f *farm, d *disk, r *recording, w where) []string {
	t.Helper()
	told := r.facts(w.at)
	return withFolder(t, d, newOutage(w.seed, w.at), func(folder string) []string {
		f.forget()
		mac := start(t, t.TempDir(), newPoints(t), "agent", "--data", filepath.Join(folder, "mini"), "--config", standInConfig(t, "/nowhere"))
		defer mac.term()
		select {
		case <-mac.ended:
			if told.told("dev_farm", toldPaired) || !strings.Contains(mac.said(), "not paired") {
				return []string{"the agent does not start: " + mac.said()}
			}
			return nil
		case listed := <-f.heard:
			f.hearOut(mac, listed, told)
		case <-time.After(patience):
			return []string{"the agent does not come: " + mac.said()}
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.faults
	})
}

// hearOut waits until every listed result has been uploaded and committed, and
// misses those that should have been listed.
func (f *farm) hearOut(mac *process, listed []agentproto.ResumeEntry, told facts) {
	epochs := map[string]int64{}
	for _, e := range listed {
		epochs[e.AttemptID] = e.LeaseEpoch
	}
	for id, seen := range told[sawUpload] {
		if epoch, ok := epochs[id]; !told.told(id, sentFinal) && (!ok || epoch < seen.Epoch) {
			f.wrong("the server has seen the upload of %s under epoch %d, and the agent lists %v", id, seen.Epoch, epochs)
		}
	}
	for range listed {
		select {
		case <-f.ended:
		case <-mac.ended:
			f.wrong("the agent has ended: %s", mac.said())
			return
		case <-time.After(patience):
			f.wrong("a result is not offered to the end: %s", mac.said())
			return
		}
	}
}
