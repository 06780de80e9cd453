package server

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"rendermac/agentproto"
	"rendermac/api"
	"rendermac/fence"
	"rendermac/media"
	"rendermac/store"
	"rendermac/store/storetest"

	"github.com/coder/websocket"
)

// hearing bounds every wait of these tests; none comes near it.
const hearing = 20 * time.Second

// mustStudio is a server with its loops running.
func mustStudio(t testing.TB, change ...func(*Options)) *httpServer {
	t.Helper()
	return mustStudioOf(t, func(*store.Options) {}, change...)
}

func mustStudioOf(t testing.TB, stored func(*store.Options), change ...func(*Options)) *httpServer {
	t.Helper()
	h := mustServeOf(t, stored, change...)
	h.mustStart()
	return h
}

func (h *httpServer) mustStart() {
	h.Helper()
	if err := h.srv.Start(context.Background()); err != nil {
		h.Fatal(err)
	}
	h.Cleanup(h.srv.Stop)
}

// mac is an agent of the test's own hand: it speaks the protocol over a real
// WebSocket, and says only what the test says.
type mac struct {
	*httpServer
	conn      *websocket.Conn
	id, token string
	hello     *agentproto.HelloOK
	heard     chan heard // in a bubble, where the socket is read all the time
	plug      *hole      // in a bubble, what the socket can fall into
}

func (h *httpServer) mustPair(name string) *mac {
	h.Helper()
	d := storetest.MustPair(h, h.db, name)
	return &mac{httpServer: h, id: d.DeviceID, token: d.Token}
}

// mustMac is a paired Mac that has said hello and is ready for so many jobs.
func (h *httpServer) mustMac(slots int) *mac {
	h.Helper()
	m := h.mustPair("mini")
	m.connect(slots)
	m.say(&agentproto.Ready{SlotsFree: slots})
	return m
}

func (m *mac) dial() {
	m.Helper()
	client := m.web
	if m.wires != nil {
		client, m.plug = m.wires.client()
	}
	conn, _, err := websocket.Dial(context.Background(), m.url+"/v1/provider/ws", &websocket.DialOptions{
		Subprotocols: []string{agentproto.Subprotocol}, HTTPHeader: http.Header{"Authorization": {"Bearer " + m.token}}, HTTPClient: client,
	})
	if err != nil {
		m.Fatalf("dial: %v", err)
	}
	conn.SetReadLimit(agentproto.MaxFrame)
	m.conn = conn
	m.Cleanup(func() { conn.CloseNow() })
	if m.wires != nil {
		m.listen()
	}
}

var machine = agentproto.Device{MemoryBytes: 16 << 30, Features: []string{"libx265", "zscale"}}

func (m *mac) connect(slots int, resume ...agentproto.ResumeEntry) {
	m.Helper()
	m.dial()
	m.say(&agentproto.Hello{
		Protocol: 1, AgentVersion: "test", Slots: slots, Services: []string{"ffmpeg.transcode"}, Resume: resume,
		Device: machine,
	})
	m.hello = hear[agentproto.HelloOK](m)
}

func (m *mac) say(msg agentproto.Message) {
	m.Helper()
	frame, err := agentproto.Encode(msg)
	if err != nil {
		m.Fatal(err)
	}
	m.sayText(string(frame))
}

func (m *mac) sayText(frame string) {
	m.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hearing)
	defer cancel()
	if err := m.conn.Write(ctx, websocket.MessageText, []byte(frame)); err != nil {
		m.Fatalf("say: %v", err)
	}
}

// next is the next message, whatever it is.
func (m *mac) next() (agentproto.Message, error) {
	if m.heard != nil {
		return m.listened()
	}
	ctx, cancel := context.WithTimeout(context.Background(), hearing)
	defer cancel()
	_, frame, err := m.conn.Read(ctx)
	if err != nil {
		return nil, err
	}
	return agentproto.Decode(frame)
}

// hear is the next message, which must be a T.
func hear[T any](m *mac) *T {
	m.Helper()
	msg, err := m.next()
	if err != nil {
		m.Fatalf("waiting for %T: %v", new(T), err)
	}
	got, ok := any(msg).(*T)
	if !ok {
		m.Fatalf("heard %s %+v, want %T", msg.Type(), msg, new(T))
	}
	return got
}

// closed waits for the close code of the Mac's socket.
func (m *mac) closed(want websocket.StatusCode) {
	m.Helper()
	for {
		_, err := m.next()
		if err == nil {
			continue
		}
		if got := websocket.CloseStatus(err); got != want {
			m.Fatalf("the socket ended with %d (%v), want %d", got, err, want)
		}
		return
	}
}

// run is a lease that the Mac holds, with what it has made.
type run struct {
	*mac
	agentproto.IDs
	offer  *agentproto.LeaseOffer
	token  string
	output []byte
}

// mustOffer waits for the next offer.
func (m *mac) mustOffer() *run {
	m.Helper()
	o := hear[agentproto.LeaseOffer](m)
	return &run{mac: m, IDs: o.IDs, offer: o, token: o.CommitToken, output: clip(m).output}
}

// mustRun submits a job and takes its offer.
func (m *mac) mustRun() *run {
	m.Helper()
	m.mustJob()
	return m.mustOffer()
}

func (r *run) progress(phase string) *agentproto.Progress {
	return &agentproto.Progress{IDs: r.IDs, Phase: phase, Fraction: ptr(0.5)}
}

// reach brings the run into a phase, as progress does.
func (r *run) reach(phase fence.AttemptStatus) {
	r.Helper()
	if phase == fence.AttemptUploading {
		r.upload()
	} else if phase != fence.AttemptLeased {
		r.say(r.progress(string(phase)))
		hear[agentproto.ProgressOK](r.mac)
	}
}

func (r *run) uploadMessage() *agentproto.Upload {
	up := &agentproto.Upload{IDs: r.IDs, Bytes: int64(len(r.output)), SHA256: sum(r.output)}
	size := int(r.offer.Output.PartBytes)
	for from := 0; from < max(1, len(r.output)); from += size {
		part := r.output[from:min(from+size, len(r.output))]
		up.Parts = append(up.Parts, agentproto.Part{Number: len(up.Parts) + 1, Bytes: int64(len(part)), SHA256: sum(part)})
	}
	return up
}

// upload sends every part of the output and answers the grant.
func (r *run) upload() *agentproto.UploadGrant {
	r.Helper()
	r.say(r.uploadMessage())
	g := hear[agentproto.UploadGrant](r.mac)
	for _, p := range g.Parts {
		r.putPart(p).is(200)
	}
	return g
}

func (r *run) putPart(p agentproto.PartURL) reply {
	r.Helper()
	from := (p.Number - 1) * int(r.offer.Output.PartBytes)
	return r.do("PUT", p.URL, "", r.output[from:min(from+int(r.offer.Output.PartBytes), len(r.output))])
}

func (r *run) commitMessage() *agentproto.Commit {
	return &agentproto.Commit{IDs: r.IDs, CommitToken: r.token, Bytes: int64(len(r.output)), SHA256: sum(r.output)}
}

// commit commits what was uploaded; the answer must be that it was accepted.
func (r *run) commit() {
	r.Helper()
	r.say(r.commitMessage())
	hear[agentproto.CommitAccepted](r.mac)
}

func (r *run) fail(code string) *agentproto.FailOK {
	r.Helper()
	r.say(r.failMessage(code))
	return hear[agentproto.FailOK](r.mac)
}

func (r *run) failMessage(code string) *agentproto.Fail {
	return &agentproto.Fail{IDs: r.IDs, CommitToken: r.token, FailureCode: code, Message: "it broke"}
}

func (r *run) cancel() { r.Helper(); r.post("/v1/jobs/"+r.JobID+"/cancel", r.admin, nil).is(202) }

// stands checks where the run's job and its newest attempt stand.
func (r *run) stands(job fence.JobStatus, attempt fence.AttemptStatus) api.Job {
	r.Helper()
	storetest.MustStatus(r, r.db, r.JobID, job, attempt)
	return into[api.Job](r.get("/v1/jobs/"+r.JobID, r.admin).is(200))
}

// mustJob submits a transcode of a real clip.
func (h *httpServer) mustJob(more ...func(*api.JobRequest)) api.Job {
	h.Helper()
	u := h.mustUpload(h.submit, "clip.mov", clip(h).input)
	r := api.JobRequest{Service: "ffmpeg.transcode", Params: json.RawMessage(clipParams), Inputs: []api.Input{{UploadID: &u.ID}}}
	for _, m := range more {
		m(&r)
	}
	return into[api.Job](h.post("/v1/jobs", h.submit, r).is(201))
}

// clips is a real clip and what a real ffmpeg makes of it, by our own plan.
type clips struct{ input, output []byte }

const clipParams = `{"preset":"web-480p"}`

var theClip = sync.OnceValues(func() (clips, error) {
	dir, err := os.MkdirTemp("", "rendermac-clip-")
	if err != nil {
		return clips{}, err
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "clip.mov"), filepath.Join(dir, "out.mp4")
	if err := ffmpeg("ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=1",
		"-f", "lavfi", "-i", "sine=r=48000:d=1", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac", "file:"+in); err != nil {
		return clips{}, err
	}
	facts, err := exec.Command("ffprobe", media.ProbeArgs(in, "")...).Output()
	if err != nil {
		return clips{}, err
	}
	m, err := media.ParseFFprobe(facts)
	if err != nil {
		return clips{}, err
	}
	service, _ := media.Lookup("ffmpeg.transcode")
	params, _ := service.Resolve(json.RawMessage(clipParams))
	plan, err := service.Plan(params, []media.Input{{Path: in, Demuxer: "mov", Media: *m}},
		media.Env{Encoders: []string{"libx264", "aac"}, Platform: "linux", OutPath: out})
	if err != nil {
		return clips{}, err
	}
	if err := ffmpeg("ffmpeg", plan.Args...); err != nil {
		return clips{}, err
	}
	var c clips
	if c.input, err = os.ReadFile(in); err == nil {
		c.output, err = os.ReadFile(out)
	}
	return c, err
})

func ffmpeg(name string, args ...string) error {
	var said bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return &exec.Error{Name: said.String(), Err: err}
	}
	return nil
}

func clip(tb testing.TB) clips {
	tb.Helper()
	c, err := theClip()
	if err != nil {
		tb.Fatalf("make a clip: %v", err)
	}
	return c
}
