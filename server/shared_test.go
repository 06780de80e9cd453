package server

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rendermac/agentproto"
	"rendermac/api"
	"rendermac/fence"
	"rendermac/roots"
	"rendermac/store"
	"rendermac/store/storetest"
)

// volume is a folder with a film in it, shared under the name media with the
// account studio, and under the name vault with nobody.
type volume struct {
	testing.TB
	path string
}

func mustVolume(t testing.TB) *volume {
	v := &volume{t, filepath.Join(t.TempDir(), "media")}
	v.write("day1/clip.mov", clip(t).input)
	return v
}

func (v *volume) at(file string) string { return filepath.Join(v.path, file) }

func (v *volume) write(file string, content []byte) {
	v.Helper()
	if err := os.MkdirAll(filepath.Dir(v.at(file)), 0o755); err != nil {
		v.Fatal(err)
	}
	if err := os.WriteFile(v.at(file), content, 0o644); err != nil {
		v.Fatal(err)
	}
}

// unmount takes the volume away until mount is called.
func (v *volume) unmount() (mount func()) {
	v.Helper()
	v.rename(v.path, v.path+".away")
	return func() { v.Helper(); v.rename(v.path+".away", v.path) }
}

func (v *volume) rename(from, to string) {
	v.Helper()
	if err := os.Rename(from, to); err != nil {
		v.Fatal(err)
	}
}

func (v *volume) shared(o *Options) {
	o.SharedRoots = map[string]SharedRoot{"media": {v.path, []string{"studio"}}, "vault": {v.path, []string{}}, "theirs": {v.path, []string{"acc_other"}}}
}

func ofPath(paths ...string) api.JobRequest {
	r := api.JobRequest{Service: "ffmpeg.transcode", Params: json.RawMessage(clipParams)}
	for _, path := range paths {
		r.Inputs = append(r.Inputs, api.Input{Path: &path})
	}
	return r
}

func (h *httpServer) mustShare(path string) api.Job {
	h.Helper()
	return into[api.Job](h.post("/v1/jobs", h.submit, ofPath(path)).is(201))
}

// mounting is a Mac that has these features beside those of machine.
func (h *httpServer) mounting(features ...string) *mac {
	h.Helper()
	m := h.mustPair("mini")
	m.dial()
	device := machine
	device.Features = append(features, machine.Features...)
	m.say(&agentproto.Hello{Protocol: 1, AgentVersion: "test", Slots: 1, Services: []string{"ffmpeg.transcode"}, Device: device})
	m.hello = hear[agentproto.HelloOK](m)
	m.say(&agentproto.Ready{SlotsFree: 1})
	return m
}

// A file under a shared root is read by the server, offered where its root is
// mounted and nowhere else, and the result is held against what was read.
func TestShared_FromPathToResult(t *testing.T) {
	v := mustVolume(t)
	h := mustStudio(t, v.shared)
	without, with := h.mustMac(1), h.mounting("root:media")
	j := h.mustShare("media/day1/clip.mov")
	if in := j.Inputs[0]; j.Status != api.JobQueued || *in.Path != "media/day1/clip.mov" || in.UploadID != nil || *j.OutputName != "clip.mp4" {
		t.Fatalf("job %+v", j)
	}
	r := with.mustOffer()
	content := clip(t).input
	want := agentproto.Input{Name: "clip.mov", Root: "media", Path: "day1/clip.mov", Bytes: int64(len(content)), SHA256: sum(content)}
	if len(r.offer.Inputs) != 1 || r.offer.Inputs[0] != want {
		t.Fatalf("offered %+v, want %+v", r.offer.Inputs, want)
	}
	r.say(&agentproto.Inputs{IDs: r.IDs})
	if again := hear[agentproto.InputsOK](with); again.Inputs[0] != want {
		t.Fatalf("asked again: %+v", again.Inputs)
	}
	r.reach(fence.AttemptUploading)
	r.commit()
	hear[agentproto.CommitOK](with)
	if now := r.stands(fence.JobSucceeded, fence.AttemptSucceeded); now.Reading != 0 {
		t.Errorf("reading %d", now.Reading)
	}
	h.mustShare("media/day1/clip.mov")
	with.mustOffer()
	h.mustJob() // the first that the other Mac may have
	if o := without.mustOffer(); o.offer.Inputs[0].URL == "" {
		t.Errorf("the Mac without the volume was offered %+v", o.offer.Inputs)
	}
}

// Until the server has read the file, a job says so, and nobody gets it.
func TestShared_WaitsToBeRead(t *testing.T) {
	v := mustVolume(t)
	h := mustServe(t, v.shared) // whose loops do not run yet
	j := h.mustShare("media/day1/clip.mov")
	if j.Reading != 1 {
		t.Fatalf("reading %d", j.Reading)
	}
	s := storetest.MustDevice(t, h.db)
	if out, err := h.db.Lease(context.Background(), s, 1); err != nil || out.Offer != nil {
		t.Fatalf("leased %+v, %v", out.Offer, err)
	}
	h.mustStart()
	h.mounting("root:media").mustOffer()
}

// What is wrong with paths is found at once, all of it; a root of others is as
// one that does not exist.
func TestShared_FaultsAreListed(t *testing.T) {
	v := mustVolume(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, v.at("link")); err != nil {
		t.Fatal(err)
	}
	h := mustServe(t, v.shared)
	const unknown = "names no shared root that this account may use"
	for path, want := range map[string]string{
		"media/gone.mov": "is not there", "media/day1": "is no regular file", "media/link": "is a link that leads out of its root, or nowhere",
		"nowhere/a.mov": unknown, "vault/day1/clip.mov": unknown, "vault/gone.mov": unknown, "theirs/day1/clip.mov": unknown, "MEDIA/day1/clip.mov": unknown,
		"media/../media/day1/clip.mov": "must be like ROOT/folder/file.mov: a shared root's name and a path below it, without . and .. in it",
		"media/a\nb":                   "must be valid UTF-8 without control characters",
	} {
		got := h.post("/v1/jobs", h.submit, ofPath(path)).refuses(422, "invalid_request")
		if len(got.Errors) != 1 || got.Errors[0].Location != "inputs[0].path" || got.Errors[0].Message != want {
			t.Errorf("%q: %+v, want %q", path, got.Errors, want)
		}
	}
	batch := api.BatchRequest{Jobs: []api.JobRequest{ofPath("media/day1/clip.mov"), ofPath("media/gone.mov", "vault/a"), ofPath("/etc/passwd")}}
	got := h.post("/v1/jobs/batch", h.submit, batch).refuses(422, "invalid_request")
	var at []string
	for _, f := range got.Errors {
		at = append(at, f.Location)
	}
	if strings.Join(at, " ") != "jobs[1].inputs jobs[1].inputs[0].path jobs[1].inputs[1].path jobs[2].inputs[0].path" &&
		strings.Join(at, " ") != "jobs[1].inputs[0].path jobs[1].inputs[1].path jobs[1].inputs jobs[2].inputs[0].path" {
		t.Errorf("faults at %v", at)
	}
	if n := len(into[api.List[api.JobItem]](h.get("/v1/jobs", h.admin).is(200)).Items); n != 0 {
		t.Errorf("%d jobs were stored", n)
	}
}

// A root belongs to the accounts that it names, and to no admin of others.
func TestShared_OtherAccountsRoots(t *testing.T) {
	v := mustVolume(t)
	h := mustServe(t, v.shared)
	for key, allowed := range map[string]string{h.submit: "media", h.admin: "media", h.otherAccountSubmit: "theirs", h.otherAdmin: "theirs"} {
		for _, root := range []string{"media", "theirs", "vault", "none"} {
			r := h.post("/v1/jobs", key, ofPath(root+"/day1/clip.mov"))
			if root == allowed {
				r.is(201)
			} else if p := r.refuses(422, "invalid_request"); p.Errors[0].Message != "names no shared root that this account may use" {
				t.Errorf("%s of another: %q", root, p.Errors[0].Message)
			}
		}
	}
}

// A volume that is not mounted is no missing file: the same request may work
// later.
func TestShared_AnUnmountedRootAtSubmit(t *testing.T) {
	v := mustVolume(t)
	h := mustServe(t, v.shared)
	mount := v.unmount()
	for _, empty := range []bool{false, true} {
		if empty {
			if err := os.Mkdir(v.path, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		p := h.post("/v1/jobs", h.submit, ofPath("media/day1/clip.mov")).refuses(503, "store_unavailable")
		if !strings.Contains(p.Detail, "media") || strings.Contains(p.Detail, v.path) {
			t.Errorf("it says %q", p.Detail)
		}
	}
	if err := os.Remove(v.path); err != nil {
		t.Fatal(err)
	}
	mount()
	h.mustShare("media/day1/clip.mov")
}

// What hangs in the kernel holds up nobody for long, and little of it is begun.
func TestShared_AVolumeThatHangs(t *testing.T) {
	root := newSharedRoots(map[string]SharedRoot{"media": {}})["media"]
	hang := make(chan struct{})
	var begun atomic.Int32
	for range 3 * maxHanging {
		ctx, cancel := context.WithCancel(context.Background())
		at := make(chan struct{})
		go func() {
			if len(root.calls) < maxHanging {
				<-at
			}
			cancel()
		}()
		err := root.call(ctx, func() error { begun.Add(1); close(at); <-hang; return nil })
		if !errors.Is(err, roots.ErrUnavailable) {
			t.Fatalf("it was said %v", err)
		}
	}
	if n := begun.Load(); n != maxHanging {
		t.Errorf("%d calls were begun, want %d", n, maxHanging)
	}
	close(hang)
	if err := root.call(context.Background(), func() error { return nil }); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// A file that goes between submit and reading ends its job.
func TestShared_AFileThatVanishes(t *testing.T) {
	v := mustVolume(t)
	h := mustServe(t, v.shared)
	j := h.mustShare("media/day1/clip.mov")
	v.rename(v.at("day1/clip.mov"), v.at("day1/other.mov"))
	h.mustStart()
	got := h.mustEnd(j.ID)
	if *got.FailureCode != fence.InputFailed || *got.FailureMessage != "the input media/day1/clip.mov is not there" {
		t.Errorf("failed as %s: %s", *got.FailureCode, *got.FailureMessage)
	}
}

// mustEnd follows a job's events to its end.
func (h *httpServer) mustEnd(id string) api.Job {
	h.Helper()
	client := api.NewClient(h.url, h.admin, "test")
	ctx, cancel := context.WithTimeout(context.Background(), hearing)
	defer cancel()
	if _, err := client.Wait(ctx, id, func(*api.Job) {}, nil); err != nil {
		h.Fatal(err)
	}
	return into[api.Job](h.get("/v1/jobs/"+id, h.admin).is(200))
}

// A root that the config has taken back, or given to others, is read no more.
func TestShared_ARootThatIsTakenBack(t *testing.T) {
	v := mustVolume(t)
	h := mustServe(t, v.shared)
	j := h.mustShare("media/day1/clip.mov")
	for name, root := range map[string]SharedRoot{"gone": {v.path, []string{"studio"}}, "media": {v.path, []string{"acc_other"}}} {
		o := h.srv.o
		o.SharedRoots, o.Metrics = map[string]SharedRoot{name: root}, nil
		srv, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		var fault *roots.Fault
		u, err := h.db.UnreadJob(context.Background(), j.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := srv.readInputs(context.Background(), u); !errors.As(err, &fault) {
			t.Errorf("with %s it was read: %v", name, err)
		}
	}
}

// A start takes up what the one before had not read.
func TestShared_AStartReadsTheRest(t *testing.T) {
	v := mustVolume(t)
	h := mustServe(t, v.shared)
	h.mustShare("media/day1/clip.mov")
	o := h.srv.o
	o.Metrics = nil
	srv, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.reader.takeUp(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !srv.reader.next(context.Background(), srv.reader.lanes["media"]) {
		t.Fatal("nothing was taken up")
	}
	s := storetest.MustHello(t, h.db, storetest.MustPair(t, h.db, "mini").DeviceID).Session
	if out, err := h.db.Lease(context.Background(), s, 1); err != nil || out.Idle {
		t.Fatalf("it is still not to be leased: %+v, %v", out, err)
	}
}

// A retry reads the file anew: it is another one by now.
func TestShared_ARetryReadsAgain(t *testing.T) {
	v := mustVolume(t)
	h := mustStudio(t, v.shared)
	m := h.mounting("root:media")
	j := h.mustShare("media/day1/clip.mov")
	first := m.mustOffer()
	first.fail(fence.RunnerFailed)
	v.write("day1/clip.mov", []byte("another"))
	m.say(&agentproto.Ready{SlotsFree: 1})
	h.post("/v1/jobs/"+j.ID+"/retry", h.submit, nil).is(201)
	if again := m.mustOffer(); again.JobID == j.ID || again.offer.Inputs[0].SHA256 != sum([]byte("another")) {
		t.Errorf("offered %+v", again.offer.Inputs)
	}
}

// Nobody reads again what was read and left alone since.
func TestShared_OneFileForManyJobs(t *testing.T) {
	v := mustVolume(t)
	h := mustServe(t, v.shared, func(o *Options) { o.Now = func() time.Time { return time.Now().Add(time.Hour) } })
	ctx := context.Background()
	j := h.mustShare("media/day1/clip.mov")
	u, err := h.db.UnreadJob(ctx, j.ID)
	if err != nil {
		t.Fatal(err)
	}
	files, err := h.srv.readInputs(ctx, u)
	if err != nil || files[0].Stamp == "" {
		t.Fatalf("%+v, %v", files, err)
	}
	mark := store.ReadFile{Bytes: 4, SHA256: strings.Repeat("a", 64), Stamp: files[0].Stamp} // by which it shows that it was not read
	if _, err := h.db.Read(ctx, u, map[int]store.ReadFile{0: mark}, u.Needs); err != nil {
		t.Fatal(err)
	}
	if again, err := h.srv.readInputs(ctx, u); err != nil || again[0].SHA256 != mark.SHA256 {
		t.Errorf("it was read again: %+v, %v", again, err)
	}
	v.write("day1/clip.mov", clip(t).input)
	if again, err := h.srv.readInputs(ctx, u); err != nil || again[0].SHA256 != sum(clip(t).input) {
		t.Errorf("it was touched, and not read again: %+v, %v", again, err)
	}
}

// Needs that only the reading shows are those of an upload.
func TestShared_NeedsOfWhatWasRead(t *testing.T) {
	u := &store.Unread{
		Service: "ffmpeg.transcode", Resolved: json.RawMessage(`{"video_codec":"h264"}`), Needs: fence.Needs{Service: "ffmpeg.transcode", Features: []string{"root:media"}, Tags: []string{"a"}},
		Inputs: []store.Input{{Path: "media/hdr.mov"}},
	}
	hdr := json.RawMessage(`{"container":"mov","streams":[{"kind":"video","codec":"hevc","color":{"primaries":"bt2020","transfer":"smpte2084","matrix":"bt2020nc"}}]}`)
	got := needsOf(u, map[int]store.ReadFile{0: {Media: hdr}})
	if strings.Join(got.Features, " ") != "root:media zscale" || strings.Join(got.Tags, " ") != "a" || got.Service != u.Service {
		t.Errorf("needs %+v", got)
	}
	if got := needsOf(u, map[int]store.ReadFile{0: {}}); strings.Join(got.Features, " ") != "root:media" {
		t.Errorf("needs of what could not be understood: %+v", got)
	}
}
