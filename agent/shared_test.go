package agent

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/agentproto"

	"golang.org/x/sys/unix"
)

// mount is a folder of this Mac's for the shared root media, with a clip in it.
func mount(t *testing.T) (folder, file string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "media")
	file = filepath.Join(folder, "day1", "clip.mp4")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, mustClip(t), 0o444); err != nil {
		t.Fatal(err)
	}
	return folder, file
}

func mounted(folder string) func(*agent) {
	return func(a *agent) {
		a.SharedRoots = map[string]string{"media": folder}
		a.prover = newProver(a.SharedRoots)
	}
}

// offerShared offers a job on media/day1/clip.mp4, as the server has read it.
func (s *fakeServer) offerShared(on *fakeSession, attempt string, input []byte) *agentproto.LeaseOffer {
	o := &agentproto.LeaseOffer{
		IDs:           agentproto.IDs{JobID: "job_" + attempt, AttemptID: attempt, LeaseEpoch: 1},
		AttemptNumber: 1, CommitToken: "token-1-" + attempt, LeaseTTL: s.terms.LeaseTTL,
		Service: "ffmpeg.transcode", Params: agentproto.RawJSON(`{}`),
		Inputs: []agentproto.Input{{Name: "clip.mp4", Root: "media", Path: "day1/clip.mp4", Bytes: int64(len(input)), SHA256: digest(input)}},
		Output: agentproto.Output{Key: "outputs/x", ContentType: "video/mp4", PartBytes: partBytes},
	}
	s.change(func() { s.offers[attempt] = o })
	on.send(o)
	return o
}

// A Mac says which roots it has, runs on a copy of its own, and leaves the file
// as it was.
func TestSharedInputRunsOnACopy(t *testing.T) {
	srv := newServer(t)
	folder, file := mount(t)
	a := startAgent(t, srv, mounted(folder))
	session := srv.session(1)
	if got := session.hello.Device.Features; !slices.Contains(got, "root:media") {
		t.Fatalf("features %v", got)
	}
	srv.offerShared(session, "att_1", mustClip(t))
	next[*agentproto.Commit](srv, 0, nil)
	if p := next(srv, 0, func(p *agentproto.Progress) bool { return p.Phase == "running" && len(p.InputMedia) > 0 }); p == nil {
		t.Error("nothing was said of the input")
	}
	a.over()
	if left, err := os.ReadFile(file); err != nil || digest(left) != digest(mustClip(t)) {
		t.Errorf("the file is another: %v", err)
	}
	if n := len(srv.ranges()); n != 0 {
		t.Errorf("%d downloads were made", n)
	}
}

// What is not the file that the server has read is never run on.
func TestSharedInputThatIsNotTheServersFails(t *testing.T) {
	for what, spoil := range map[string]func(file string) error{
		"changed":  func(file string) error { return os.WriteFile(file, append([]byte("x"), mustClip(t)[1:]...), 0o644) },
		"longer":   func(file string) error { return os.WriteFile(file, append(slices.Clone(mustClip(t)), 'x'), 0o644) },
		"shorter":  func(file string) error { return os.Truncate(file, 100) },
		"gone":     os.Remove,
		"a folder": func(file string) error { os.Remove(file); return os.Mkdir(file, 0o755) },
		"a pipe":   func(file string) error { os.Remove(file); return unix.Mkfifo(file, 0o666) },
		"a link": func(file string) error {
			os.Rename(file, filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(file))), "out.mp4"))
			return os.Symlink("../../out.mp4", file)
		},
		"a device": func(file string) error { os.Remove(file); return os.Symlink("/dev/zero", file) },
		"no folder": func(file string) error {
			os.RemoveAll(filepath.Dir(file))
			return os.WriteFile(filepath.Dir(file), nil, 0o644)
		},
	} {
		t.Run(what, func(t *testing.T) {
			srv := newServer(t)
			folder, file := mount(t)
			a := startAgent(t, srv, mounted(folder))
			if err := os.Chmod(file, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := spoil(file); err != nil {
				t.Fatal(err)
			}
			srv.offerShared(srv.session(1), "att_1", mustClip(t))
			if fail := failsWith(t, srv, a, "download_failed"); !strings.Contains(fail.Message, "media/day1/clip.mp4") || strings.Contains(fail.Message, folder) {
				t.Errorf("it says %q", fail.Message)
			}
		})
	}
}

// A volume that goes for a moment is waited for; one that stays away is another
// Mac's job.
func TestSharedRootThatGoesAndComesBack(t *testing.T) {
	srv := newServer(t)
	folder, _ := mount(t)
	startAgent(t, srv, mounted(folder))
	session := srv.session(1)
	if err := os.Rename(folder, folder+".away"); err != nil {
		t.Fatal(err)
	}
	srv.offerShared(session, "att_1", mustClip(t))
	next(srv, 0, func(p *agentproto.Progress) bool { return p.Phase == "downloading" })
	if err := os.Rename(folder+".away", folder); err != nil {
		t.Fatal(err)
	}
	next[*agentproto.Commit](srv, 0, nil)
}

func TestSharedRootThatStaysAwayIsNoCapacity(t *testing.T) {
	srv := newServer(t)
	folder, _ := mount(t)
	a := startAgent(t, srv, mounted(folder), func(a *agent) { a.patience = 50 * time.Millisecond })
	session := srv.session(1)
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	srv.offerShared(session, "att_1", mustClip(t))
	failsWith(t, srv, a, "no_capacity")
}

func TestSharedRootThatThisMacHasNot(t *testing.T) {
	srv := newServer(t)
	a := startAgent(t, srv)
	session := srv.session(1)
	if got := session.hello.Device.Features; len(got) > 0 {
		t.Errorf("features %v", got)
	}
	srv.offerShared(session, "att_1", mustClip(t))
	failsWith(t, srv, a, "no_capacity")
}

// What a Mac announces follows its mounts: with a new hello, since nothing else
// says it.
func TestSharedRootsAreProvedAnew(t *testing.T) {
	srv := newServer(t)
	folder, _ := mount(t)
	startAgent(t, srv, mounted(folder), func(a *agent) { a.rootsEvery = 5 * time.Millisecond })
	has := func(n int) bool { return slices.Contains(srv.session(n).hello.Device.Features, "root:media") }
	if !has(1) {
		t.Fatal("the root was not announced")
	}
	if err := os.Rename(folder, folder+".away"); err != nil {
		t.Fatal(err)
	}
	if has(2) {
		t.Fatal("the root was announced though it is away")
	}
	if err := os.Rename(folder+".away", folder); err != nil {
		t.Fatal(err)
	}
	if !has(3) {
		t.Fatal("the root was not announced again")
	}
}

// Where a reconnect would cost a run, the hello waits for the run's end.
func TestSharedRootsEndNoRunByBeingProved(t *testing.T) {
	srv := newServer(t)
	srv.terms.Resume = false
	folder, _ := mount(t)
	fetching, goOn := make(chan struct{}), make(chan struct{})
	srv.blob = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			fetching <- struct{}{}
			<-goOn
		}
		return false
	}
	startAgent(t, srv, mounted(folder), func(a *agent) { a.rootsEvery = 5 * time.Millisecond })
	srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	<-fetching
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	mark := srv.mark()
	next(srv, mark, func(p *agentproto.Progress) bool { return p.Phase == "downloading" }) // a heartbeat: many looks later
	close(goOn)
	if commit := next[*agentproto.Commit](srv, 0, nil); commit.LeaseEpoch != 1 {
		t.Errorf("committed %+v", commit)
	}
	if srv.session(2); slices.Contains(srv.session(2).hello.Device.Features, "root:media") {
		t.Error("the root is still announced")
	}
}

// A look that hangs is not followed by another, and counts as a root that is
// away; here a proof that has been begun and does not come back.
func TestSharedRootWhoseProofHangs(t *testing.T) {
	folder, _ := mount(t)
	p := newProver(map[string]string{"media": folder})
	hangs := make(chan struct{})
	p.asking["media"] = hangs
	p.usable["media"] = true // as the look before it found
	ctx, giveUp := context.WithCancel(context.Background())
	giveUp()
	if got := p.features(ctx); slices.Contains(got, "root:media") {
		t.Errorf("features %v", got)
	}
	if p.asking["media"] != hangs {
		t.Error("another look was begun")
	}
}

// A try that failed leaves no copy: the next one needs its space.
func TestFailedCopyOfASharedInputLeavesNothing(t *testing.T) {
	folder, _ := mount(t)
	clip := mustClip(t)
	r := &run{dir: t.TempDir()}
	in := agentproto.Input{Root: "media", Path: "day1/clip.mp4", Bytes: int64(len(clip)), SHA256: digest([]byte("another"))}
	if _, err := r.copyShared(t.Context(), &counting{func(int64) {}, 0}, folder, in); !errors.Is(err, errChanged) {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(r.dir); err != nil || len(left) > 0 {
		t.Errorf("%v are left: %v", left, err)
	}
}
