// Package server is the control plane's outside: the HTTP API, the agents'
// gateway, and the loops that drive the store: matcher, verifier, reader, sweeper,
// deliverer, retention. Handlers decide nothing: a store verb acts, and its outcome
// is what is sent.
package server

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"rendermac/artifact"
	"rendermac/failpoint"
	"rendermac/media"
	"rendermac/store"
)

// Options are what a server is given. Durations and sizes are the config's.
type Options struct {
	DB             *store.DB
	Artifacts      artifact.Store
	Blobs          *artifact.Dir        // Artifacts, where the server itself serves its URLs; else nil
	Now            func() time.Time     // the wall clock
	Mono           func() time.Duration // a clock that nobody sets (F15)
	Log            *slog.Logger
	Version        string
	Catalogue      media.Catalogue // with the server's own presets
	StoreOrigin    string          // of the store's URLs, where they are not our own
	PublicURL      string          // empty: from each request
	WideURL        string          // where other machines reach it; empty where none can
	TrustedProxies []string        // CIDRs whose X-Forwarded headers count
	LeaseTTL       time.Duration
	Heartbeat      time.Duration
	Resume         bool
	PartBytes      int64
	MaxUploadBytes int64
	MaxAttempts    int // of a job that does not say
	VerifyWorkers  int
	VerifyDeadline time.Duration
	Decoder        *Decoder         // nil: results are not decoded
	Pricing        map[string]int64 // credits by service
	SharedRoots    map[string]SharedRoot
	Backups        Backups
	Places         Places
	Retention      Retention

	PrivateWebhooks bool     // may webhooks go to loopback and private addresses
	Metrics         *Metrics // nil: of its own
	MetricsPublic   bool     // whether others than this machine may scrape
}

// Server is the running control plane.
type Server struct {
	o         Options
	hub       *hub
	matcher   *matcher
	verifier  *verifier
	roots     map[string]*sharedRoot
	reader    *reader
	sweeper   *sweeper
	outage    *outage
	feed      *feed
	wrongKeys *guesses
	deliverer *deliverer
	retention *retention
	metrics   *Metrics
	stats     glances[store.Stats]
	days      glances[store.LastDay]
	loads     glance[[]store.DeviceLoad]
	stored    glance[stored]
	health    glance[[]string] // what is away: for people, /readyz looks itself
	since     time.Time        // when it was made
	handler   http.Handler
	loops     sync.WaitGroup
	cancel    context.CancelFunc
}

// New wires a server. It serves once Start has been called.
func New(o Options) (*Server, error) {
	s := &Server{o: o, hub: newHub(), wrongKeys: newGuesses(maxWrongKeys, o.Mono), metrics: o.Metrics, since: o.Now()}
	if s.metrics == nil {
		s.metrics = NewMetrics(o.Version)
	}
	s.metrics.watch(s)
	s.matcher = newMatcher(s)
	s.verifier = newVerifier(s)
	s.roots = newSharedRoots(o.SharedRoots)
	s.reader = newReader(s)
	s.sweeper = newSweeper(s)
	s.outage = newOutage(s)
	s.deliverer = newDeliverer(s)
	s.feed = newFeed(s)
	s.retention = newRetention(s)
	var err error
	s.handler, err = s.routes()
	return s, err
}

// Handler serves every route.
func (s *Server) Handler() http.Handler { return s.handler }

// Start takes up what an earlier run has left and starts the loops.
func (s *Server) Start(ctx context.Context) error {
	ctx, s.cancel = context.WithCancel(ctx)
	if err := s.abortLeftovers(ctx); err != nil && !s.outage.met(err) {
		return err
	}
	failpoint.At("server.start")
	if err := s.verifier.takeUp(ctx); err != nil {
		return err
	}
	if err := s.reader.takeUp(ctx); err != nil {
		return err
	}
	for _, loop := range []func(context.Context){s.matcher.loop, s.verifier.loop, s.reader.loop, s.sweeper.loop, s.outage.loop, s.deliverer.loop, s.feed.loop, s.retention.loop, s.daily, (&backups{srv: s}).loop} {
		s.loops.Go(func() { loop(ctx) })
	}
	return nil
}

// EndStreams ends the streams of events, which would otherwise hold up the end of
// the listener; none begins afterwards.
func (s *Server) EndStreams() { s.feed.close() }

// Stop closes every session, so that the agents reconnect elsewhere or later,
// and waits for the loops. The caller has stopped the listener.
func (s *Server) Stop() {
	s.EndStreams()
	s.hub.closeAll()
	s.cancel()
	s.loops.Wait()
}

// daily forgets the keys and sessions that have expired, and keeps the database's
// planner informed.
func (s *Server) daily(ctx context.Context) {
	day := time.NewTicker(24 * time.Hour)
	defer day.Stop()
	for {
		if err := s.o.DB.ForgetKeys(ctx); err != nil {
			s.o.Log.Warn("could not delete the idempotency keys that have expired", "err", err)
		}
		if err := s.o.DB.ForgetSessions(ctx); err != nil {
			s.o.Log.Warn("could not delete the sessions that have expired", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-day.C:
			if err := s.o.DB.Optimize(ctx); err != nil {
				s.o.Log.Warn("could not optimize the database", "err", err)
			}
		}
	}
}
