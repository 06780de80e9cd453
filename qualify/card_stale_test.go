package qualify

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/coder/websocket"

	"rendermac/agentproto"
	"rendermac/api"
	"rendermac/fence"
)

// speakStale says in a dead Mac's name what it can say no more: progress and
// commits of the attempt that it has lost. Nothing of it may change a thing.
func (c *cell) speakStale(lost api.Attempt) {
	c.Helper()
	ids := agentproto.IDs{JobID: c.job, AttemptID: lost.ID, LeaseEpoch: lost.LeaseEpoch}
	before := c.stored(lost)
	s := c.victim.dial()
	defer s.conn.CloseNow()
	answer := s.ask(&agentproto.Progress{IDs: ids, Phase: "uploading"})
	if conflict, ok := answer.(*agentproto.LeaseConflict); !ok || conflict.IDs != ids {
		c.Fatalf("stale progress was answered %s: %+v", answer.Type(), answer)
	}
	for _, commit := range c.staleCommits(ids) {
		answer := s.ask(commit)
		if rejected, ok := answer.(*agentproto.CommitRejected); !ok || rejected.AttemptID != lost.ID || rejected.Code != fence.CodeCommitConflict {
			c.Fatalf("a stale commit was answered %s: %+v", answer.Type(), answer)
		}
		c.result.stale++
	}
	if after := c.stored(lost); after != before {
		c.Fatalf("the lost attempt was\n%s and is\n%s", before, after)
	}
}

// staleCommits are one with a made-up secret and, where the Mac had kept its
// result, the very commit that it would have sent.
func (c *cell) staleCommits(ids agentproto.IDs) []*agentproto.Commit {
	c.Helper()
	commits := []*agentproto.Commit{{IDs: ids, CommitToken: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", Bytes: 1, SHA256: sha([]byte("x"))}}
	if c.phase != "uploading" && c.phase != "committing" {
		return commits
	}
	var kept struct {
		agentproto.IDs
		CommitToken string `json:"commit_token"`
		Result      struct {
			Bytes  int64
			SHA256 string
		}
	}
	for _, folder := range c.victim.runs() {
		if text, err := os.ReadFile(filepath.Join(folder, "result.json")); err == nil && json.Unmarshal(text, &kept) == nil && kept.IDs == ids {
			break
		}
	}
	if hash := c.row(`SELECT commit_token_hash FROM job_attempts WHERE id = ?`, ids.AttemptID); fence.HashToken(kept.CommitToken) != hash {
		c.Fatalf("the Mac has not kept its result with the secret of attempt %s", ids.AttemptID)
	}
	c.result.secret = true
	return append(commits, &agentproto.Commit{IDs: ids, CommitToken: kept.CommitToken, Bytes: kept.Result.Bytes, SHA256: kept.Result.SHA256})
}

// stored is all that a stale message could have changed of an attempt.
func (c *cell) stored(a api.Attempt) string {
	c.Helper()
	return c.row(`SELECT json_array(status, lease_epoch, commit_token_hash, lease_expires_at, phase, claimed_bytes, claimed_sha256, failure_code, ended_at)
		FROM job_attempts WHERE id = ?`, a.ID)
}

// stranger is a session with a Mac's pairing that is not its agent's.
type stranger struct {
	*worker
	conn *websocket.Conn
}

// dial says hello and is never ready: the session is offered nothing.
func (m *worker) dial() stranger {
	m.Helper()
	conn, _, err := websocket.Dial(context.Background(), m.url+"/v1/provider/ws", &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + m.token}}, Subprotocols: []string{agentproto.Subprotocol},
	})
	if err != nil {
		m.Fatal(err)
	}
	conn.SetReadLimit(agentproto.MaxFrame)
	s := stranger{m, conn}
	hello := &agentproto.Hello{
		Protocol: agentproto.Version, AgentVersion: "qualify", Slots: 1, Services: []string{"ffmpeg.transcode"},
		Device: agentproto.Device{Platform: "linux", Encoders: []string{}, Features: []string{}}, Resume: []agentproto.ResumeEntry{},
	}
	if answer := s.ask(hello); answer.Type() != "hello_ok" {
		m.Fatalf("hello was answered %s: %+v", answer.Type(), answer)
	}
	return s
}

// ask sends a message and reads its answer.
func (s stranger) ask(m agentproto.Message) agentproto.Message {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	frame, err := agentproto.Encode(m)
	if err == nil {
		err = s.conn.Write(ctx, websocket.MessageText, frame)
	}
	if err != nil {
		s.Fatal(err)
	}
	_, frame, err = s.conn.Read(ctx)
	if err != nil {
		s.Fatal(err)
	}
	answer, err := agentproto.Decode(frame)
	if err != nil {
		s.Fatal(err)
	}
	return answer
}
