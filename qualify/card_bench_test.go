package qualify

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rendermac/api"
)

// setup is what a fault needs of its site.
type setup struct {
	ttl     time.Duration
	macs    int
	line    bool // between the Mac and the server
	disks   bool // small ones, for the server's data and for the Mac's work
	backoff time.Duration
}

// Where a Mac comes back, its lease must not have run out meanwhile, however
// busy this machine is; where it does not, another Mac waits for the job.
var (
	patient    = setup{ttl: 20 * time.Second, macs: 1, backoff: 100 * time.Millisecond}
	twoMacs    = setup{ttl: ttl, macs: 2, backoff: 100 * time.Millisecond}
	onALine    = setup{ttl: 20 * time.Second, macs: 1, line: true, backoff: 100 * time.Millisecond}
	smallDisks = setup{ttl: 20 * time.Second, macs: 1, disks: true, backoff: 2 * time.Second}
)

// bench is a site that lasts for a column of the card.
type bench struct {
	*site
	setup
	now      *lasting
	reels    reels
	plant    *process // the server
	client   *api.Client
	macs     []*worker
	line     *line
	logs     []*process
	uploads  map[string]string // by reel
	accepted map[string]string // every job that was submitted, and how it must end
}

func newBench(life, now testing.TB, s setup, reels reels) *bench {
	b := &bench{setup: s, now: &lasting{now, life}, reels: reels, uploads: map[string]string{}, accepted: map[string]string{}}
	b.site = newSite(b.now, "")
	if s.disks {
		mountSmall(b, b.data(), 48)
	}
	config := fmt.Sprintf("lease: {ttl: %s, heartbeat: 500ms, device_ttl: 10s}\njobs: {retry_backoff: %s}\n", s.ttl, s.backoff)
	b.put(filepath.Join(b.data(), "config.yaml"), config)
	b.startServer()
	b.client = b.buyer()
	if s.line {
		b.line = newLine(b, strings.TrimPrefix(b.url, "http://"))
	}
	for i := range s.macs {
		b.macs = append(b.macs, b.newMac(fmt.Sprintf("mac%d", i+1)))
	}
	return b
}

func (b *bench) put(path, text string) {
	b.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) startServer() {
	b.Helper()
	b.plant = b.serve()
	b.logs = append(b.logs, b.plant)
}

// order wants a reel's transcode; every reel is uploaded once a bench.
func (b *bench) order(f reel) string {
	b.Helper()
	if b.uploads[f.path] == "" {
		up, err := b.client.Upload(context.Background(), f.path, func(int64) {})
		if err != nil {
			b.Fatal(err)
		}
		b.uploads[f.path] = up.ID
	}
	id := b.uploads[f.path]
	j, err := b.client.Submit(context.Background(), api.JobRequest{Service: "ffmpeg.transcode", Params: json.RawMessage(f.params), Inputs: []api.Input{{UploadID: &id}}})
	if err != nil {
		b.Fatal(err)
	}
	b.accepted[j.ID] = api.JobSucceeded
	return j.ID
}

// look asks for a job until the server has an answer.
func (b *bench) look(id string) (j *api.Job) {
	b.Helper()
	b.wait("the server tells of the job", func() bool {
		var err error
		j, err = b.client.Job(context.Background(), id)
		return err == nil
	})
	return j
}

// wait is until, with fewer questions: many cells ask at once.
func (b *bench) wait(what string, so func() bool) {
	b.Helper()
	if !inTime(100*time.Millisecond, so) {
		b.Fatalf("waited in vain until %s\n%s", what, b.story())
	}
}

// ended waits for a job's end.
func (b *bench) ended(id string) (j *api.Job) {
	b.Helper()
	b.wait("job "+id+" has ended", func() bool { j = b.look(id); return j.Ended() })
	return j
}

// story is what all processes have logged, for a test that fails.
func (b *bench) story() string {
	var all strings.Builder
	for _, p := range b.logs {
		fmt.Fprintf(&all, "--- %s\n%s\n", strings.Join(p.cmd.Args[1:], " "), p.said())
	}
	return all.String()
}
