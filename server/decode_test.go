package server

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rendermac/agentproto"
	"rendermac/api"
	"rendermac/fence"
)

func decoding(t *testing.T) func(*Options) {
	t.Helper()
	ffmpeg, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return func(o *Options) { o.Decoder = &Decoder{FFmpeg: ffmpeg, Dir: dir} }
}

// spoiled has other bytes in the middle of its media: nothing but a decoder
// sees it, since the Mac's digest is that of what it sent.
func spoiled(t *testing.T) []byte {
	t.Helper()
	data := bytes.Clone(clip(t).output)
	at := bytes.Index(data, []byte("mdat"))
	for i := at + (len(data)-at)/3; i < at+(len(data)-at)/2; i++ {
		data[i] ^= 0x5a
	}
	return data
}

func TestDecode_FindsWhatTheStructureHides(t *testing.T) {
	for _, on := range []bool{false, true} {
		change := func(*Options) {}
		if on {
			change = decoding(t)
		}
		h := mustStudio(t, change)
		m := h.mustMac(1)

		r := m.mustRun()
		r.reach(fence.AttemptUploading)
		r.commit()
		hear[agentproto.CommitOK](m)
		m.say(&agentproto.Ready{SlotsFree: 1})

		r = m.mustRun()
		r.output = spoiled(t)
		r.reach(fence.AttemptUploading)
		r.commit()
		if !on {
			hear[agentproto.CommitOK](m)
			continue
		}
		got := hear[agentproto.CommitRejected](m)
		if got.Code != fence.VerificationFailed || !strings.Contains(got.Message, "decoding error") || strings.Contains(got.Message, "0x") {
			t.Errorf("%+v", got)
		}
		if j := r.stands(fence.JobFailed, fence.AttemptFailed); j.Artifact != nil {
			t.Errorf("%+v", j.Artifact)
		}
	}
}

// A result in a bucket is copied first; the copy has no name.
func TestDecode_FromS3(t *testing.T) {
	var dir string
	h, _ := mustServeS3(t, decoding(t), func(o *Options) { dir = o.Decoder.Dir })
	r := h.mustRunOf(h.mustUploadToS3())
	r.output = spoiled(t)
	r.say(r.uploadMessage())
	for _, p := range hear[agentproto.UploadGrant](r.mac).Parts {
		h.sendTo(p.URL, p.Headers, r.output)
	}
	r.commit()
	if got := hear[agentproto.CommitRejected](r.mac); got.Code != fence.VerificationFailed || !strings.Contains(got.Message, "decoding error") {
		t.Errorf("%+v", got)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// stuck is an ffmpeg that never ends, and tells its process.
func stuck(t *testing.T) (program, told string) {
	t.Helper()
	dir := t.TempDir()
	program, told = filepath.Join(dir, "ffmpeg"), filepath.Join(dir, "pid")
	if err := unix.Mkfifo(told, 0o600); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\ntrap '' INT TERM\necho $$ > " + told + "\nwhile :; do sleep 60; done\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return program, told
}

func TestDecode_ACancelEndsFFmpeg(t *testing.T) {
	program, told := stuck(t)
	h := mustStudio(t, func(o *Options) { o.Decoder = &Decoder{FFmpeg: program, Dir: os.TempDir()} })
	r := h.mustMac(1).mustRun()
	r.reach(fence.AttemptUploading)
	r.commit()
	pid, err := os.ReadFile(told) // waits until it runs
	if err != nil {
		t.Fatal(err)
	}
	r.cancel()
	if got := hear[agentproto.CommitRejected](r.mac); got.Code != fence.BuyerCancelled {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err == nil {
		t.Error("ffmpeg outlived the cancel")
	}
}

// Without its ffmpeg the server knows nothing of a result: it tries again.
func TestF8_ADecoderThatIsMissingIsNoFailedVerification(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "ffmpeg")
	content, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	inBubble(t, func(b *bubble) {
		r := b.mustMac(1).mustRun()
		r.reach(fence.AttemptUploading)
		r.commit()
		time.Sleep(time.Hour)
		if j := r.stands(fence.JobVerifying, fence.AttemptCommitting); j.Status != api.JobVerifying {
			b.Fatalf("%+v", j)
		}
		if err := os.Symlink(content, missing); err != nil {
			b.Fatal(err)
		}
		hear[agentproto.CommitOK](r.mac)
	}, func(o *Options) {
		o.Decoder = &Decoder{FFmpeg: missing, Dir: os.TempDir()}
		o.Heartbeat = 10 * time.Minute
	})
}

func TestDecode_RoomIsLookedForFirst(t *testing.T) {
	if err := room(t.TempDir(), 1<<60); err == nil || !strings.Contains(err.Error(), "no room to decode") {
		t.Error(err)
	}
	if err := room(t.TempDir(), 1); err != nil {
		t.Error(err)
	}
}
