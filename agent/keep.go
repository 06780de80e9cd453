package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"rendermac/agentproto"
	"rendermac/failpoint"
	"rendermac/lasting"
)

// folderPrefix begins the name of every run's folder; only those are cleared.
const folderPrefix = "rendermac-run-"

// keptName is the file in a run's folder that makes it a kept result.
const keptName = "result.json"

// result is a finished output as it will be uploaded.
type result struct {
	File     string            `json:"file"` // its name in the run's folder
	Bytes    int64             `json:"bytes"`
	SHA256   string            `json:"sha256"`
	Parts    []agentproto.Part `json:"parts"`
	Warnings []string          `json:"warnings"`
}

// keptResult is a finished result with the identity that can still commit it.
type keptResult struct {
	agentproto.IDs
	CommitToken string `json:"commit_token"`
	Result      result `json:"result"`
}

// keep puts a finished result's identity beside it, so that an agent that is
// killed now offers it again at its next start (F17). It is called again when
// the identity has changed.
func (r *run) keep() {
	r.keptMu.Lock()
	defer r.keptMu.Unlock()
	var k *keptResult
	r.get(func() {
		if r.result != nil {
			k = &keptResult{r.ids, r.token, *r.result}
		}
	})
	if k == nil {
		return
	}
	err := writeKept(r.dir, k)
	if err != nil {
		r.log.Warn("the result would not survive a restart", "error", err)
	}
	r.kept = err == nil
}

func (r *run) isKept() bool {
	r.keptMu.Lock()
	defer r.keptMu.Unlock()
	return r.kept
}

// clear removes the run's folder and all in it.
func (r *run) clear() {
	r.keptMu.Lock()
	defer r.keptMu.Unlock()
	r.kept = false
	if r.dir == "" {
		return
	}
	failpoint.At("agent.clear.before")
	dropShort(r.dir)
	if err := os.RemoveAll(r.dir); err != nil {
		r.log.Error("work folder not removed", "dir", r.dir, "error", err)
	}
}

// writeKept replaces the file as a whole or not at all, whenever power fails;
// once it has returned the file lasts.
func writeKept(dir string, k *keptResult) error {
	text, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("encode the kept result: %w", err)
	}
	file, err := os.CreateTemp(dir, keptName+".*") // 0600: it holds the commit token
	if err != nil {
		return fmt.Errorf("keep the result: %w", err)
	}
	_, err = file.Write(text)
	err = errors.Join(err, file.Sync(), file.Close())
	failpoint.At("agent.keep.before")
	if err == nil {
		err = os.Rename(file.Name(), filepath.Join(dir, keptName))
	}
	failpoint.At("agent.keep.after")
	if err == nil {
		err = errors.Join(lasting.Folder(dir), lasting.Folder(filepath.Dir(dir)))
	}
	if err != nil {
		return fmt.Errorf("keep the result: %w", err)
	}
	return nil
}

// readKept is the kept result in a run's folder; an error says why there is none.
func readKept(dir string) (*keptResult, error) {
	text, err := os.ReadFile(filepath.Join(dir, keptName))
	if err != nil {
		return nil, errors.New("the run was not finished")
	}
	k := new(keptResult)
	if err := json.Unmarshal(text, k); err != nil || k.AttemptID == "" {
		return nil, errors.New("its identity cannot be read")
	}
	info, err := os.Lstat(filepath.Join(dir, k.Result.File))
	if err != nil || !info.Mode().IsRegular() || info.Size() != k.Result.Bytes {
		return nil, errors.New("its output is not what it was")
	}
	return k, nil
}

// restoredRun goes on with a kept result. It has no lease until a session gives
// it one, and holds no slot: there is nothing left to encode.
func restoredRun(a *agent, dir string, k *keptResult) *run {
	r := newRun(a, k.IDs, k.CommitToken)
	r.dir, r.result, r.kept = dir, &k.Result, true
	r.report.enter("uploading")
	return r
}
