// Package agent runs jobs on one machine. It pulls work from a RenderMac
// server over a WebSocket, fetches the inputs, runs ffmpeg in a process group
// of its own, uploads the result in parts and commits it. It fences itself
// (F17): it stops a run the moment the run can no longer be its own, and keeps
// a finished result until the server has given its final answer.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"rendermac/agentproto"
	"rendermac/media"
)

// Options are what an agent needs to know.
type Options struct {
	URL     string // the server's base address, as the pairing stored it
	Token   string // the device token, rmd_…
	DataDir string // locked while the agent runs
	WorkDir string // a folder for each run is made and removed in here
	FFmpeg  string
	FFprobe string
	Cache   int64         // bytes of inputs that are kept for later runs
	Slots   int           // runs at once; 0 is a quarter of the cores
	Stall   time.Duration // how long a program may go without any progress
	// Remotion is the user's own, which some services need.
	Remotion Remotion
	// SharedRoots are the folders that this machine has for them, by name.
	SharedRoots map[string]string
	Version     string
	Log         *slog.Logger
}

// StopError ends an agent for good: trying again would change nothing. Its text
// says what to do.
type StopError struct{ Message string }

func (e *StopError) Error() string { return e.Message }

// errShutdown is why runs stop when the agent is told to leave.
var errShutdown = errors.New("the agent is shutting down")

type agent struct {
	Options
	base    *url.URL
	log     *slog.Logger
	web     *http.Client
	device  agentproto.Device
	slots   *slots
	prover  *prover
	cache   *cache
	life    context.Context // ends when the agent is told to leave
	working sync.WaitGroup

	now        clock
	grace      time.Duration // between SIGINT, SIGTERM and SIGKILL
	patience   time.Duration // with a transfer that gains nothing
	backoff    time.Duration // the most that the first wait of a retry takes
	rootsEvery time.Duration // between looks at the shared roots

	unheard   int           // hellos of this agent that no word has answered
	unheardAt time.Duration // the newest of them

	mu    sync.Mutex
	runs  map[string]*run // by attempt id; every run that is not over
	terms agentproto.HelloOK
}

// Run works for the server until ctx ends, then says goodbye and returns nil.
// Any other end is a *StopError, or a fault of this machine.
func Run(ctx context.Context, o Options) error {
	a, err := newAgent(o)
	if err != nil {
		return err
	}
	unlock, err := a.lock()
	if err != nil {
		return err
	}
	defer unlock()
	a.device = recallFacts(ctx, a.Options)
	if len(a.device.Encoders) == 0 && ctx.Err() == nil {
		return &StopError{a.FFmpeg + " could not encode a single test frame: run rendermac doctor"}
	}
	if a.Remotion.Command != "" && !slices.Contains(a.device.Features, media.Remotion) {
		a.log.Warn("Remotion did not pass its self-test, so that this agent takes no jobs for it: run rendermac doctor")
	}
	return a.work(ctx)
}

func newAgent(o Options) (*agent, error) {
	base, err := url.Parse(o.URL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, &StopError{fmt.Sprintf("%q is no server address: give one such as http://studio.local:7420", o.URL)}
	}
	for _, program := range []*string{&o.FFmpeg, &o.FFprobe} {
		found, err := exec.LookPath(*program)
		if err != nil {
			return nil, &StopError{fmt.Sprintf("%q cannot be run: install ffmpeg (macOS: brew install ffmpeg, Debian: apt-get install ffmpeg) or set agent.ffmpeg", *program)}
		}
		if *program, err = filepath.Abs(found); err != nil {
			return nil, err
		}
	}
	if o.WorkDir, err = filepath.Abs(o.WorkDir); err != nil {
		return nil, err
	}
	if o.Slots <= 0 {
		o.Slots = max(1, runtime.NumCPU()/4)
	}
	a := &agent{
		Options: o, base: base, log: o.Log, web: webClient(),
		slots: newSlots(o.Slots), prover: newProver(o.SharedRoots), runs: map[string]*run{},
		now: machineClock, grace: 5 * time.Second, patience: 5 * time.Minute, backoff: 500 * time.Millisecond,
		rootsEvery: 30 * time.Second,
	}
	return a, nil
}

// lock keeps other agents away from the data folder, and from the work folder,
// whose leftovers are cleared.
func (a *agent) lock() (unlock func(), err error) {
	data, err := lock(a.DataDir, "agent.lock")
	if err != nil {
		return nil, err
	}
	work, err := lock(a.WorkDir, "work.lock")
	if err != nil {
		data.Close()
		return nil, err
	}
	return func() { data.Close(); work.Close() }, nil
}

// work is what an agent does from its start to its goodbye.
func (a *agent) work(ctx context.Context) error {
	life, leave := context.WithCancelCause(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, func() { leave(errShutdown) })()
	a.life = life
	var err error
	if a.cache, err = openCache(filepath.Join(a.WorkDir, cacheName), a.Cache, a.log); err != nil {
		return err
	}
	if err := a.restore(); err != nil {
		return err
	}
	err = a.serve()
	leave(errShutdown)
	a.working.Wait()
	return err
}

// serve holds one session after another until the agent leaves or the server
// refuses it for good.
func (a *agent) serve() error {
	for failures := 0; a.life.Err() == nil; failures++ {
		greeted, err := a.session(a.life)
		var stop *StopError
		switch {
		case a.life.Err() != nil:
			return nil
		case errors.Is(err, errReplaced) && a.unheard > 0 && a.now()-a.unheardAt < lateHello:
			a.unheard-- // it was this agent's own: a hello given up may be stored after the next one
		case errors.As(err, &stop):
			return stop
		case greeted:
			failures = 0
		}
		wait := fullJitter(a.backoff, failures)
		a.log.Warn("not connected", "error", err, "retry_in", wait.Round(time.Millisecond))
		a.now.sleep(a.life, wait)
	}
	return nil
}

// fullJitter is a random wait below first × 2^n, at most half a minute.
func fullJitter(first time.Duration, n int) time.Duration {
	ceiling := min(first<<min(n, 16), 30*time.Second)
	return rand.N(ceiling) + 1
}
