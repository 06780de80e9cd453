package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing/synctest"

	"rendermac/agentproto"
	"rendermac/fence"
)

// world is one pairing, its agents and one job, and beside them what the rules
// say of them: after each event both must agree.
type world struct {
	*bubble
	gates  *gates
	upload string
	run    *run // as it was offered to the first agent
	agents []*speaker
	trail  []string
	calls  []chan struct{} // HTTP requests under way

	job     fence.JobStatus
	attempt fence.AttemptStatus
	secrets []string // by epoch − 1; "" where the answer was lost
	prev    int      // F14: the epoch that a resume replaced
	revoked bool

	newest   int // the agent whose session the store knows; -1: none
	here     int // the agent that is reached; -1: none
	arriving int // the agent whose hello has committed and whose session has no place yet; -1: none
	counts   int // the agent whose slot the attempt takes (F11); -1: none
	waiting  []string
	land     func()
	tell     func() // the verdict has committed and its message has not been sent
}

// speaker is one process on the pairing.
type speaker struct {
	*mac
	knows int // the epoch whose secret it has; 0: none
	open  bool
	want  []string
}

func (w *world) epoch() int { return len(w.secrets) }

func (w *world) knows() (epoch int) {
	for i, secret := range w.secrets {
		if secret != "" {
			epoch = i + 1
		}
	}
	return epoch
}

func (w *world) leased() bool { return w.attempt.Leased() }

// owns is F4 for an unexpired lease.
func (w *world) owns(i int) bool {
	return w.newest == i && w.attempt.Live() && w.agents[i].knows == w.epoch()
}

func (w *world) say(i int, m agentproto.Message, answer string) {
	w.agents[i].say(m)
	if answer != "" {
		w.agents[i].want = append(w.agents[i].want, answer)
	}
}

// deliver is what the device hears on its session of this moment.
func (w *world) deliver(word string) {
	switch {
	case w.arriving >= 0:
		w.waiting = append(w.waiting, word)
	case w.here >= 0:
		w.agents[w.here].want = append(w.agents[w.here].want, word)
	}
}

func (w *world) ends(attempt fence.AttemptStatus, job fence.JobStatus) {
	w.attempt, w.job, w.prev = attempt, job, 0
	if w.tell == nil {
		w.counts = -1
	}
}

// lose ends what has not passed F6 and nobody gave up.
func (w *world) lose() {
	switch {
	case !w.leased():
	case w.job == fence.JobCancelling:
		w.ends(fence.AttemptCancelled, fence.JobCancelled)
	default:
		w.ends(fence.AttemptLost, fence.JobQueued)
	}
}

func (w *world) ids(i int) (agentproto.IDs, string) {
	ids, epoch := w.run.IDs, max(1, w.agents[i].knows)
	ids.LeaseEpoch = int64(epoch)
	return ids, w.secrets[epoch-1]
}

func (w *world) progress(i int) {
	answer := "progress_ok"
	switch {
	case !w.owns(i):
		answer = "lease_conflict"
	case w.job == fence.JobCancelling:
		answer = "cancel"
		fallthrough
	default:
		w.prev = 0
	}
	ids, _ := w.ids(i)
	w.say(i, &agentproto.Progress{IDs: ids, Phase: "uploading"}, answer)
}

func (w *world) commit(i int) {
	ids, token := w.ids(i)
	m := &agentproto.Commit{IDs: ids, CommitToken: token, Bytes: int64(len(w.run.output)), SHA256: sum(w.run.output)}
	switch {
	case !w.owns(i):
		w.say(i, m, "commit_rejected commit_conflict")
	case w.job == fence.JobCancelling:
		w.ends(fence.AttemptCancelled, fence.JobCancelled)
		w.say(i, m, "")
		w.deliver("commit_rejected buyer_cancelled")
	default:
		w.attempt, w.job, w.prev = fence.AttemptCommitting, fence.JobVerifying, 0
		w.say(i, m, "commit_accepted")
	}
}

func (w *world) fail(i int) {
	ids, token := w.ids(i)
	m := &agentproto.Fail{IDs: ids, CommitToken: token, FailureCode: fence.UploadFailed, Message: "it broke"}
	switch {
	case !w.owns(i) || w.attempt == fence.AttemptCommitting && w.job != fence.JobCancelling:
		w.say(i, m, "error commit_conflict")
	case w.job == fence.JobCancelling:
		w.ends(fence.AttemptCancelled, fence.JobCancelled)
		w.say(i, m, "")
		w.deliver("fail_ok false")
	default:
		w.ends(fence.AttemptFailed, fence.JobQueued)
		w.say(i, m, "")
		w.deliver("fail_ok true")
	}
}

func (w *world) bye(i int) {
	if w.newest == i {
		w.lose()
	}
	w.say(i, &agentproto.Bye{Reason: "lunch"}, "")
}

func (w *world) drop(i int) {
	w.agents[i].conn.CloseNow()
	w.agents[i].open, w.agents[i].heard = false, nil
	if w.here == i {
		w.here = -1
	}
}

// hello is another process that lists the run by the secret of one epoch, or
// nothing (0). Its hello commits; its session waits to land.
func (w *world) hello(lists int) {
	m := &mac{httpServer: w.httpServer, id: w.run.id, token: w.run.mac.token}
	m.dial()
	var list []agentproto.ResumeEntry
	if lists > 0 {
		ids := w.run.IDs
		ids.LeaseEpoch = int64(lists)
		list = append(list, agentproto.ResumeEntry{IDs: ids, CommitToken: w.secrets[lists-1]})
	}
	open := w.gates.close("connected", m.id)
	m.say(&agentproto.Hello{Protocol: 1, Slots: 2, Services: []string{"ffmpeg.transcode"}, Resume: list, Device: machine})
	synctest.Wait()
	i := len(w.agents)
	w.agents = append(w.agents, &speaker{mac: m, knows: max(1, lists), open: true})
	w.newest, w.arriving = i, i
	w.waiting = append([]string{"hello_ok"}, w.listed(i, lists)...)
	w.land = func() {
		open()
		w.land = nil
		w.landed()
	}
}

// listed is F14's answer to the list.
func (w *world) listed(i, lists int) []string {
	if known := lists == w.epoch() || lists == w.prev; lists > 0 && known && w.srv.o.Resume && w.leased() && w.job == fence.JobActive {
		w.prev, w.counts = lists, i
		w.secrets = append(w.secrets, "")
		return []string{fmt.Sprintf("lease_resumed %d", w.epoch())}
	}
	w.lose()
	switch lists {
	case 0:
		return nil
	case w.epoch():
		return []string{"lease_revoked " + string(w.attempt)}
	default:
		return []string{"lease_revoked null"}
	}
}

func (w *world) landed() {
	i := w.arriving
	w.arriving = -1
	if w.revoked {
		w.closes(i, "closed 4003")
		return
	}
	w.closes(w.here, "closed 4001")
	if w.here = -1; w.agents[i].open {
		w.here = i
		w.agents[i].want = append(w.agents[i].want, w.waiting...)
	}
	synctest.Wait()
}

func (w *world) closes(i int, how string) {
	if i >= 0 && w.agents[i].open {
		w.agents[i].want, w.agents[i].open = append(w.agents[i].want, how), false
	}
}

func (w *world) request(method, path string, status int) {
	done := make(chan struct{})
	w.calls = append(w.calls, done)
	go func() {
		defer close(done)
		if got := w.do(method, path, w.admin, nil); got.StatusCode != status {
			w.Errorf("%v: %s %s: %d, want %d", w.trail, method, path, got.StatusCode, status)
		}
	}()
}

func (w *world) cancelJob() {
	status := 202
	switch w.job {
	case fence.JobQueued:
		w.job = fence.JobCancelled
	case fence.JobActive, fence.JobCancelling:
		w.job = fence.JobCancelling
		w.deliver("cancel")
	case fence.JobVerifying:
		w.ends(fence.AttemptCancelled, fence.JobCancelled)
		w.deliver("commit_rejected buyer_cancelled")
	default:
		status = 409
	}
	w.request("POST", "/v1/jobs/"+w.run.JobID+"/cancel", status)
}

func (w *world) revoke() {
	w.request("DELETE", "/v1/devices/"+w.run.id, 204)
	w.newest, w.revoked = -1, true
	w.lose()
	w.closes(w.here, "closed 4003")
	w.here = -1
}

// verdict is F8's COMMIT; its message waits to be told.
func (w *world) verdict() {
	open := w.gates.close("attempt ended", w.run.id)
	go w.srv.verifier.next(context.Background())
	synctest.Wait()
	w.tell = func() {
		w.tell = nil
		w.deliver("commit_ok")
		w.counts = -1
		open()
	}
	w.ends(fence.AttemptSucceeded, fence.JobSucceeded)
}

// agrees holds the server against the rules, after each event.
func (w *world) agrees() {
	synctest.Wait()
	j, err := w.db.JobByID(context.Background(), w.run.JobID)
	if err != nil {
		w.Fatalf("%v: %v", w.trail, err)
	}
	if a := j.Attempts[0]; j.Status != w.job || a.Status != w.attempt || int(a.Epoch) != w.epoch() || len(j.Attempts) != 1 {
		w.Fatalf("%s: the job is %s and the attempt %s under epoch %d (%d attempts), want %s, %s, %d",
			strings.Join(w.trail, ", "), j.Status, a.Status, a.Epoch, len(j.Attempts), w.job, w.attempt, w.epoch())
	}
	for i, a := range w.agents {
		if got := w.listens(i); !slices.Equal(got, a.want) {
			w.Fatalf("%s: agent %d heard %q, want %q", strings.Join(w.trail, ", "), i, got, a.want)
		}
		a.want = nil
	}
}

// listens drains what an agent has heard, and learns the secret in it.
func (w *world) listens(i int) (words []string) {
	a := w.agents[i]
	return a.drain(func(m agentproto.Message) {
		if m, ok := m.(*agentproto.LeaseResumed); ok {
			w.secrets[m.LeaseEpoch-1], a.knows = m.CommitToken, int(m.LeaseEpoch)
		}
	})
}
