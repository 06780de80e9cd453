package agent

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"rendermac/agentproto"
	"rendermac/artifact"
	"rendermac/artifact/artifacttest"
)

// s3Grants answers upload from a real S3 store, as the server does.
type s3Grants struct {
	t     *testing.T
	store *artifact.S3
	key   string
}

func (g s3Grants) grant(m *agentproto.Upload) *agentproto.UploadGrant {
	ctx := context.Background()
	if err := g.store.Begin(ctx, g.key, m.Bytes, m.Parts[0].Bytes); err != nil {
		g.t.Error(err)
	}
	held, err := g.store.Held(ctx, g.key)
	if err != nil {
		g.t.Error(err)
	}
	out := &agentproto.UploadGrant{IDs: m.IDs, Parts: []agentproto.PartURL{}}
	for _, p := range m.Parts[len(held):] { // they are held in order here
		u, err := g.store.SignPart(ctx, g.key, artifact.Part(p), m.AttemptID, time.Now().Add(time.Hour))
		if err != nil {
			g.t.Error(err)
		}
		out.Parts = append(out.Parts, agentproto.PartURL{Number: p.Number, URL: u.URL, Headers: u.Headers})
	}
	return out
}

// The first URLs are of a write that ends at once, as after a Drop; then the
// store is killed once it has the first part.
func TestResultReachesAnS3StoreThatForgetsAWriteAndIsKilled(t *testing.T) {
	srv := newServer(t)
	s3 := artifacttest.StartS3(t)
	store, err := artifact.OpenS3(s3.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	g := s3Grants{t, store, "outputs/job_1/att_1.mp4"}
	var uploads int
	srv.reply = func(f *fakeSession, m agentproto.Message) bool {
		up, ok := m.(*agentproto.Upload)
		if !ok {
			return resume(f, m)
		}
		grant := g.grant(up)
		switch uploads++; uploads {
		case 1:
			if err := store.Abort(context.Background(), g.key); err != nil {
				t.Error(err)
			}
		case 2: // only the first part gets through before the store goes
			grant.Parts, grant.NextPart = grant.Parts[:1], &grant.Parts[1].Number
		case 3:
			s3.Kill()
			defer s3.Start(t) // a few tries later
		}
		f.send(grant)
		return true
	}
	dir, content := t.TempDir(), reel()[:12<<20]
	leaveResult(t, dir, content, artifact.MinS3Part)
	startAgentIn(t, srv, dir)
	next[*agentproto.Commit](srv, 0, nil)
	info, err := store.Complete(context.Background(), g.key)
	if err != nil || info.SHA256 != digest(content) {
		t.Errorf("the store has %+v: %v", info, err)
	}
	if uploads != 3 {
		t.Errorf("%d grants", uploads)
	}
}

func TestInputComesFromAnS3Store(t *testing.T) {
	srv := newServer(t)
	store, err := artifact.OpenS3(artifacttest.StartS3(t).Options(t))
	if err != nil {
		t.Fatal(err)
	}
	g := s3Grants{t, store, "uploads/upl_1/original"}
	parts, whole, err := measureParts(bytes.NewReader(reel()), 20<<20)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i, to := range g.grant(&agentproto.Upload{Bytes: int64(len(reel())), SHA256: whole, Parts: parts}).Parts {
		all.Go(func() {
			req, err := http.NewRequest(http.MethodPut, to.URL, bytes.NewReader(reel()[i*(20<<20):][:20<<20]))
			if err != nil {
				t.Error(err)
				return
			}
			for name, value := range to.Headers {
				req.Header.Set(name, value)
			}
			if answer, err := http.DefaultClient.Do(req); err != nil || answer.StatusCode != http.StatusOK {
				t.Errorf("%v, %v", answer, err)
			}
		})
	}
	all.Wait()
	if _, err := store.Complete(t.Context(), g.key); err != nil {
		t.Fatal(err)
	}
	get, err := store.SignGet(t.Context(), g.key, "master.mov", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	a := startAgent(t, srv)
	srv.session(1).send(&agentproto.LeaseOffer{
		IDs: agentproto.IDs{JobID: "job_1", AttemptID: "att_1", LeaseEpoch: 1}, CommitToken: "t", LeaseTTL: 60, Service: "ffmpeg.transcode",
		Inputs: []agentproto.Input{{URL: get.URL, Bytes: int64(len(reel())), SHA256: whole}},
	})
	fetched(srv, "att_1")
	a.over()
	if kept, err := os.ReadFile(filepath.Join(a.WorkDir, cacheName, whole)); err != nil || !bytes.Equal(kept, reel()) {
		t.Errorf("%d bytes: %v", len(kept), err)
	}
}
