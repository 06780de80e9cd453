package server

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"rendermac/agentproto"
	"rendermac/artifact"
	"rendermac/fence"
)

// mounted is a store on a disk of its own, which can be pulled away.
type mounted struct{ disk, at string }

func newMounted(t *testing.T) mounted {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: it mounts disks")
	}
	m := mounted{t.TempDir(), t.TempDir()}
	if err := syscall.Mount("tmpfs", m.disk, "tmpfs", 0, "size=64m"); err != nil { // stays: what an unmounted tmpfs held would be lost
		t.Skipf("no tmpfs can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		_ = syscall.Unmount(m.at, syscall.MNT_DETACH)
		_ = syscall.Unmount(m.disk, syscall.MNT_DETACH)
	})
	m.mount(t)
	return m
}

func (m mounted) mount(t *testing.T) {
	t.Helper()
	if err := syscall.Mount(m.disk, m.at, "", syscall.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
}

// pull unmounts the disk although files on it are open.
func (m mounted) pull(t *testing.T) {
	t.Helper()
	if err := syscall.Unmount(m.at, syscall.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
}

// held is a store whose first Open of an output waits: a verification is then in
// its middle.
type held struct {
	*artifact.Dir
	once            sync.Once
	opening, goneOn chan struct{}
}

func (h *held) Open(ctx context.Context, key string) (artifact.Object, artifact.Info, error) {
	if strings.HasPrefix(key, "outputs/") {
		h.once.Do(func() {
			close(h.opening)
			<-h.goneOn
		})
	}
	return h.Dir.Open(ctx, key)
}

// The store's disk is unmounted in the middle of an upload, a verification and a
// download, and mounted again: all three end right, and nothing was tried twice.
func TestOutage_ADiskIsUnmountedAndMountedAgain(t *testing.T) {
	disk := newMounted(t)
	store := &held{opening: make(chan struct{}), goneOn: make(chan struct{})}
	h := mustStudio(t, func(o *Options) {
		var err error
		if store.Dir, err = artifact.OpenDir(disk.at, "", bytes.Repeat([]byte{7}, 32), o.Now); err != nil {
			t.Fatal(err)
		}
		o.Artifacts, o.Blobs = store, store.Dir
	})
	verified, uploaded := h.mustMac(1).mustRun(), h.mustMac(1).mustRun()
	verified.reach(fence.AttemptUploading)
	verified.commit()
	<-store.opening

	uploaded.say(uploaded.uploadMessage())
	grant := hear[agentproto.UploadGrant](uploaded.mac)
	half, body := io.Pipe()
	sent := make(chan reply, 1)
	go func() {
		r, err := http.NewRequest(http.MethodPut, h.url+strings.TrimPrefix(grant.Parts[0].URL, h.url), half)
		if err != nil {
			panic(err)
		}
		r.ContentLength = int64(len(uploaded.output))
		sent <- h.send(r)
	}()
	middle := len(uploaded.output) / 2
	if _, err := body.Write(uploaded.output[:middle]); err != nil {
		t.Fatal(err)
	}
	input := uploaded.offer.Inputs[0]
	download, err := h.web.Get(h.url + strings.TrimPrefix(input.URL, h.url))
	if err != nil {
		t.Fatal(err)
	}
	defer download.Body.Close()

	disk.pull(t)
	close(store.goneOn)
	go func() {
		_, _ = body.Write(uploaded.output[middle:])
		body.Close()
	}()
	(<-sent).refuses(503, "store_unavailable")
	uploaded.say(uploaded.uploadMessage())
	if busy := hear[agentproto.Error](uploaded.mac); busy.Code != "busy" {
		t.Fatalf("%+v", busy)
	}
	h.get("/readyz", "").degraded("artifact store")
	verified.stands(fence.JobVerifying, fence.AttemptCommitting)
	if made, err := os.ReadDir(disk.at); err != nil || len(made) > 0 {
		t.Errorf("made below the mount point: %v, %v", made, err)
	}

	disk.mount(t)
	h.get("/readyz", "").is(200)
	hear[agentproto.CommitOK](verified.mac)
	if got, err := io.ReadAll(download.Body); err != nil || sum(got) != input.SHA256 {
		t.Errorf("the download has %d bytes, %v", len(got), err)
	}
	for {
		uploaded.say(uploaded.uploadMessage())
		answer, err := uploaded.next()
		if err != nil {
			t.Fatal(err)
		}
		if again, granted := answer.(*agentproto.UploadGrant); granted {
			for _, p := range again.Parts {
				uploaded.putPart(p).is(200)
			}
			break
		}
	}
	uploaded.commit()
	hear[agentproto.CommitOK](uploaded.mac)
	for _, r := range []*run{verified, uploaded} {
		if j := r.stands(fence.JobSucceeded, fence.AttemptSucceeded); len(j.Attempts) != 1 {
			t.Errorf("%d attempts", len(j.Attempts))
		}
		at := h.get("/v1/jobs/"+r.JobID+"/output", h.read).is(302).Header.Get("Location")
		if got := h.get(strings.TrimPrefix(at, h.url), "").is(200); sum(got.body) != sum(r.output) {
			t.Errorf("the output has %d bytes", len(got.body))
		}
	}
}
