package server

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/store"
)

// The swarm: many agents and buyers at once on one server, each with faults of
// its own, and afterwards the books are checked: the event history, the rows,
// the files, and what agents and buyers themselves have heard.
const (
	swarmAgents = 64
	swarmBuyers = 16
	swarmTTL    = 4 * time.Second
	settling    = 3 * time.Minute // bounds what is waited for after the faults; nothing comes near it
)

var (
	swarmSeed = flag.Uint64("swarm.seed", 0, "replay the swarm's fault schedule of this seed")
	swarmFor  = flag.Duration("swarm.for", swarmTime(), "how long the swarm has faults")
)

func swarmTime() time.Duration {
	if os.Getenv("RENDERMAC_SOAK") != "" {
		return 10 * time.Minute
	}
	return 30 * time.Second
}

// swarm is the studio under fire, and all that was seen of it.
type swarm struct {
	*httpServer
	seed   uint64
	start  time.Time
	calm   atomic.Bool // no more faults: agents behave
	hold   atomic.Bool // agents keep runs until all their slots are full at once
	client *http.Client
	input  string // the upload that every job reads
	pairs  sync.Mutex
	agents []*swarmAgent

	swarmLedger
}

func TestF1_to_F18_SwarmOfAgentsAndBuyers(t *testing.T) {
	seed := cmp.Or(*swarmSeed, rand.Uint64())
	t.Logf("replay: go test ./server -run Swarm -swarm.seed=%d -swarm.for=%v", seed, *swarmFor)
	clip(t)
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	before := runtime.NumGoroutine()
	t.Run("run", func(t *testing.T) { newSwarm(t, seed).run() })
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	if !eventually(func() bool { return runtime.NumGoroutine() <= before }) {
		stacks := make([]byte, 1<<20)
		t.Fatalf("%d goroutines before, %d after Stop:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
	}
}

// eventually looks at a condition for which there is no signal.
func eventually(holds func() bool) bool {
	for until := time.Now().Add(settling); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(until) {
			return false
		}
	}
	return true
}

func newSwarm(t *testing.T, seed uint64) *swarm {
	s := &swarm{seed: seed, start: time.Now(), client: &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: swarmAgents + swarmBuyers},
		CheckRedirect: noRedirects.CheckRedirect,
	}}
	s.swarmLedger.init()
	s.httpServer = mustServeOf(t, func(o *store.Options) {
		o.Now, o.Mono = time.Now, func() time.Duration { return time.Since(s.start) }
		o.LeaseTTL, o.DeviceTTL, o.RetryBackoff = swarmTTL, swarmTTL+time.Second, 50*time.Millisecond
	}, func(o *Options) {
		o.Now, o.LeaseTTL, o.Heartbeat, o.VerifyWorkers, o.PartBytes = time.Now, swarmTTL, swarmTTL/3, 2, 64<<10
		o.Pricing = map[string]int64{"ffmpeg.transcode": 3}
	})
	s.clock.Jump(time.Since(s.clock.Now())) // the object store's, which signs URLs
	s.mustStart()
	s.input = s.mustUpload(s.submit, "clip.mov", clip(t).input).ID
	for n := range swarmAgents {
		a := newSwarmAgent(s, n)
		a.pair()
		s.agents = append(s.agents, a)
	}
	return s
}

func (s *swarm) rng(stream int) *rand.Rand { return rand.New(rand.NewPCG(s.seed, uint64(stream))) }

func (s *swarm) now() int64 { return int64(time.Since(s.start)) }

// wrong notes that a rule was broken; the run goes on.
func (s *swarm) wrong(format string, args ...any) {
	s.Helper()
	s.Errorf("seed %d: %s", s.seed, fmt.Sprintf(format, args...))
}

func (s *swarm) run() {
	leave, agents := make(chan struct{}), sync.WaitGroup{}
	dismiss := sync.OnceFunc(func() { close(leave); agents.Wait() })
	defer dismiss()
	for _, a := range s.agents {
		agents.Go(func() { a.live(leave) })
	}
	s.buy()
	s.calm.Store(true)
	s.settled("after the faults")
	s.fillEverySlot()
	s.settled("after every slot was full")
	s.slotsAreFree()
	dismiss()
	s.client.CloseIdleConnections()
	s.srv.Stop()
	if err := s.db.Close(); err != nil {
		s.Fatal(err)
	}
	s.check()
}

// buy lets the buyers and the faults go on for their time, and on a machine
// that is too slow for it until each fault has happened.
func (s *swarm) buy() {
	ctx, enough := context.WithCancel(context.Background())
	var buyers sync.WaitGroup
	for n := range swarmBuyers {
		b := &swarmBuyer{swarm: s, rng: s.rng(1000 + n), open: map[string]bool{}}
		buyers.Go(func() { b.live(ctx) })
	}
	time.Sleep(*swarmFor)
	eventually(func() bool { return len(s.missing()) == 0 })
	enough()
	buyers.Wait()
}

// settled waits until no job is alive.
func (s *swarm) settled(when string) {
	var live []api.JobItem
	if !eventually(func() bool { live = s.list("queued,active,verifying,cancelling"); return live != nil && len(live) == 0 }) {
		for _, j := range live {
			s.Logf("%+v", into[api.Job](s.get("/v1/jobs/"+j.ID, s.read)))
		}
		s.Fatalf("seed %d: stuck %s: %d jobs", s.seed, when, len(live))
	}
}

// list is nil where the server was too busy to answer.
func (s *swarm) list(statuses string) []api.JobItem {
	var list api.List[api.JobItem]
	if status, body, _ := s.call("GET", "/v1/jobs?limit=500&status="+statuses, s.read, nil); status == http.StatusOK {
		_ = json.Unmarshal(body, &list)
	}
	return list.Items
}

// fillEverySlot gives out jobs, which the agents keep, until each device has
// its slots full. What is queued and does not move waits for a device that has
// not ended it yet (F3): then others are submitted beside it.
func (s *swarm) fillEverySlot() {
	b := &swarmBuyer{swarm: s, rng: s.rng(2000), open: map[string]bool{}}
	s.hold.Store(true)
	defer s.hold.Store(false)
	queued := 0
	if !eventually(func() bool {
		missing, before := 0, queued
		for _, a := range s.agents {
			if !a.full.Load() {
				missing += a.slots
			}
		}
		if queued = len(s.list("queued")); queued == before {
			for range missing {
				b.order(plainJob)
			}
			queued += missing
		}
		return missing == 0
	}) {
		for _, a := range s.agents {
			if !a.full.Load() {
				s.Logf("agent %d (%s) never had its %d slots full", a.n, a.id, a.slots)
			}
		}
		s.Fatalf("seed %d: a slot was lost", s.seed)
	}
}

// slotsAreFree looks at what the hub believes, now that nothing runs.
func (s *swarm) slotsAreFree() {
	busy := ""
	if !eventually(func() bool {
		busy = ""
		for _, ses := range s.srv.hub.waiting() {
			if _, load, _ := ses.load(); load != 0 {
				busy += " " + ses.DeviceID
			}
		}
		return busy == "" && len(s.srv.hub.waiting()) == len(s.agents)
	}) {
		s.wrong("%d of %d devices wait for work, busy:%s", len(s.srv.hub.waiting()), len(s.agents), busy)
	}
}
