package qualify

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"crypto/sha256"
	wire "encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"rendermac/api"
	"rendermac/artifact/artifacttest"
)

// studio is a server whose data lie on a recording file system, and its
// clients, who put down what they are told.
type studio struct {
	*plug
	site          *site
	outside       string // a folder on an ordinary disk
	config        string
	input, output []byte // a film, and its transcode
	server        *process
	killed        atomic.Bool // from here on clients may fail
	trying        context.Context
	giveUp        context.CancelFunc // a client would else try again for minutes

	mu      sync.Mutex
	ordered []string // jobs of this load that a Mac can do
}

func newStudio(t testing.TB) *studio {
	t.Helper()
	p := mountPower(t)
	s := &studio{plug: p, outside: t.TempDir()}
	s.site = &site{TB: t, home: p.mount, server: newPoints(t), url: "http://" + artifacttest.FreeAddress(t)}
	s.config = filepath.Join(s.outside, "config.yaml")
	// Small parts, so that an object has several; leases that outlive a slow test.
	config := "lease: {ttl: 60s, heartbeat: 20s}\nstore: {part_bytes: 32KiB}\n"
	if err := os.WriteFile(s.config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s.input, s.output = film(t)
	return s
}

// boot starts the server and waits until it is ready.
func (s *studio) boot() {
	s.Helper()
	s.killed.Store(false)
	s.trying, s.giveUp = context.WithCancel(context.Background())
	s.tell(fact{What: wishStart})
	s.server = start(s, s.outside, s.site.server, "serve", "--config", s.config,
		"--data", s.site.data(), "--listen", strings.TrimPrefix(s.site.url, "http://"))
	until(s, "the server is ready", func() bool {
		if s.server.gone() {
			s.Fatalf("the server has ended:\n%s", s.server.said())
		}
		return s.site.ready()
	})
	key, err := os.ReadFile(filepath.Join(s.site.data(), "admin.key"))
	if err != nil {
		s.Fatal(err)
	}
	s.tell(fact{What: toldAdmin, Key: strings.TrimSpace(string(key))})
}

// load is a stretch of work of several buyers and Macs at once. halfway is
// called in the midst of it; what fails after that is the server's end.
func (s *studio) load(orders int, halfway func()) {
	s.Helper()
	b := s.site.buyer()
	input := s.upload(b)
	if input == "" {
		s.Fatal("the first upload failed")
	}
	victim := s.newMac(b, true)
	macs := []*rawMac{victim, s.newMac(b, false), s.newMac(b, false)}
	var once sync.Once
	var buyers sync.WaitGroup
	for range 3 {
		buyers.Go(func() {
			for i := range orders {
				if i == orders/2 {
					once.Do(func() { s.revoke(b, victim); halfway() })
				}
				s.order(b)
			}
		})
	}
	for range 4 { // most of it only fills the WAL, which is what makes checkpoints
		buyers.Go(func() {
			for range orders * 12 {
				s.orderNothing(b, input)
			}
		})
	}
	buyers.Wait()
	s.settle(b)
	for _, m := range macs {
		m.leave()
	}
}

// settle waits until every job of a load has ended, or the server has.
func (s *studio) settle(b *api.Client) {
	s.Helper()
	for _, id := range s.ordered {
		until(s, "job "+id+" has ended", func() bool {
			j, err := b.Job(s.trying, id)
			return s.killed.Load() || err == nil && j.Ended()
		})
	}
	s.ordered = nil
}

// over says whether something failed, which only the server's end may make it.
func (s *studio) over(what string, err error) bool {
	if err != nil && !s.killed.Load() {
		s.Errorf("%s: %v", what, err)
	}
	return err != nil
}

// upload sends a film that no one else has, and answers its id.
func (s *studio) upload(b *api.Client) (id string) {
	bytes := unique(s.input)
	file := filepath.Join(s.outside, crand.Text()+".mov")
	if err := os.WriteFile(file, bytes, 0o600); err != nil {
		s.Error(err)
		return ""
	}
	defer os.Remove(file)
	up, err := b.Upload(s.trying, file, func(int64) {})
	if s.over("upload", err) {
		return ""
	}
	s.tell(fact{What: toldUpload, ID: up.ID, Sum: hexSum(bytes)})
	return up.ID
}

// order uploads a film, wants it transcoded, and sometimes not after all.
func (s *studio) order(b *api.Client) {
	up := s.upload(b)
	if up == "" {
		return
	}
	tries := 10
	j, err := b.Submit(s.trying, api.JobRequest{
		Service: "ffmpeg.transcode", Params: []byte(filmParams), Inputs: []api.Input{{UploadID: &up}}, MaxAttempts: &tries,
	})
	if s.over("submit", err) {
		return
	}
	s.tell(fact{What: toldJob, ID: j.ID})
	s.mu.Lock()
	s.ordered = append(s.ordered, j.ID)
	s.mu.Unlock()
	if rand.IntN(4) == 0 {
		s.cancel(b, j.ID)
	}
}

// cancel may come too late.
func (s *studio) cancel(b *api.Client, id string) {
	s.tell(fact{What: wishCancel, ID: id})
	if _, err := b.Cancel(s.trying, id); err == nil {
		s.tell(fact{What: toldCancel, ID: id})
	}
}

// orderNothing submits a job that no Mac may take, with much text.
func (s *studio) orderNothing(b *api.Client, input string) {
	labels := map[string]string{}
	for i := range 32 {
		labels[strconv.Itoa(i)] = strings.Repeat(string(rune('a'+rand.IntN(26))), 255)
	}
	j, err := b.Submit(s.trying, api.JobRequest{
		Service: "ffmpeg.transcode", Params: []byte(filmParams), Inputs: []api.Input{{UploadID: &input}},
		Requires: &api.Requires{Tags: []string{"nobody"}}, Labels: labels,
	})
	if s.over("submit", err) {
		return
	}
	s.tell(fact{What: toldJob, ID: j.ID})
	if rand.IntN(20) == 0 {
		s.cancel(b, j.ID)
	}
}

func (s *studio) revoke(b *api.Client, m *rawMac) {
	s.tell(fact{What: wishRevoke, ID: m.id})
	if !s.over("revoke", b.RevokeDevice(context.Background(), m.id)) {
		s.tell(fact{What: toldRevoked, ID: m.id})
	}
}

// unique is media with a box of random bytes behind it, so that no two objects
// are the same.
func unique(media []byte) []byte {
	more := make([]byte, 8+rand.IntN(60_000))
	_, _ = crand.Read(more)
	wire.BigEndian.PutUint32(more, uint32(len(more)))
	copy(more[4:], "free")
	return append(bytes.Clone(media), more...)
}

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
