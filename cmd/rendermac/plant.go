package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rendermac/artifact"
	"rendermac/config"
	"rendermac/failpoint"
	"rendermac/lasting"
	"rendermac/server"
	"rendermac/store"
)

// plant is a server that runs in this process: database, object store, loops
// and listener.
type plant struct {
	url      string // where this machine reaches it
	wideURL  string // where other machines do; empty where it listens on loopback only
	addr     string
	adminKey string // its plaintext, on the first start only
	db       *store.DB
	failed   chan error

	release     func()
	artifacts   artifact.Store
	storeOrigin string        // of its URLs, where the server does not serve them
	blobs       *artifact.Dir // the same, where it is a folder; else nil
	server      *server.Server
	http        *http.Server
	urlFile     string
}

// startPlant takes the data directory and the port first, so that a start that
// fails on either has touched nothing.
func startPlant(ctx context.Context, c *config.Config, log *slog.Logger) (_ *plant, err error) {
	p := &plant{failed: make(chan error, 2), urlFile: config.URLFile(c.Data)}
	defer func() {
		if err != nil {
			p.stop()
			err = withoutRoom(err, c.Data)
		}
	}()
	if p.release, err = lockData(c.Data); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; stop what uses it, or choose another address with --listen", c.Listen, errors.Unwrap(err))
	}
	p.addr = listener.Addr().String()
	if at := otherMacs(p.addr); at != "" {
		p.wideURL = c.At(at)
	}
	if err := p.open(ctx, c, log); err != nil {
		listener.Close()
		return nil, err
	}
	p.url = c.At(p.addr)
	p.serve(listener, c)
	go p.watch()
	failpoint.At("cmd.url.before")
	err = os.WriteFile(p.urlFile, []byte(p.url+"\n"), 0o600)
	failpoint.At("cmd.url.after")
	return p, err
}

// open is everything behind the listener.
func (p *plant) open(ctx context.Context, c *config.Config, log *slog.Logger) (err error) {
	start := time.Now()
	mono := func() time.Duration { return time.Since(start) }
	metrics := server.NewMetrics(version)
	p.db, err = store.Open(ctx, store.Options{
		Path: filepath.Join(c.Data, "rendermac.db"), Now: wallClock, Mono: mono, Rand: rand.Reader,
		LeaseTTL: c.Lease.TTL, DeviceTTL: c.Lease.DeviceTTL, RetryBackoff: c.Jobs.RetryBackoff, Resume: c.Lease.Resume, Log: log,
		Observe: metrics.Wrote,
	})
	if err != nil {
		return err
	}
	if err := p.firstStart(ctx, c); err != nil {
		return err
	}
	if err := p.openStore(ctx, c, log); err != nil {
		return err
	}
	var proxies []string
	for _, network := range c.TrustedProxies {
		proxies = append(proxies, network.String())
	}
	decoder, err := decoderFor(c)
	if err != nil {
		return err
	}
	catalogue, err := catalogueOf(c)
	if err != nil {
		return err
	}
	s, err := server.New(server.Options{
		DB: p.db, Artifacts: p.artifacts, Blobs: p.blobs, Now: wallClock, Mono: mono, Log: log, Version: version, Catalogue: catalogue,
		StoreOrigin: p.storeOrigin, PublicURL: c.PublicURL, WideURL: p.wideURL, TrustedProxies: proxies,
		LeaseTTL: c.Lease.TTL, Heartbeat: c.Lease.Heartbeat, Resume: c.Lease.Resume,
		PartBytes: c.Store.PartBytes, MaxUploadBytes: c.Uploads.MaxBytes, MaxAttempts: c.Jobs.MaxAttempts,
		VerifyWorkers: c.Verify.Workers, VerifyDeadline: c.Verify.Deadline, Decoder: decoder, Pricing: c.Pricing, SharedRoots: serverRoots(c), Backups: server.Backups(c.Backup), Retention: server.Retention(c.Retention),
		Places:          placesOf(c),
		PrivateWebhooks: c.Webhooks.AllowPrivate,
		Metrics:         metrics, MetricsPublic: c.Metrics.Public,
	})
	if err != nil {
		return err
	}
	if err := s.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	p.server = s
	return nil
}

// firstStart writes the admin key down before it counts as made; not even a
// power cut may leave a server that nobody can enter, nor a restore.
func (p *plant) firstStart(ctx context.Context, c *config.Config) error {
	file := filepath.Join(c.Data, "admin.key")
	atHand, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("the admin key could not be read: %w", err)
	}
	if p.adminKey, err = p.db.FirstStart(ctx, strings.TrimSpace(string(atHand))); err != nil || p.adminKey == "" {
		return err
	}
	failpoint.At("cmd.adminkey.before")
	if err := lasting.WriteFile(file, p.adminKey+"\n"); err != nil {
		return fmt.Errorf("the admin key could not be written: %w", err)
	}
	failpoint.At("cmd.adminkey.after")
	return p.db.FirstStartDone(ctx)
}

func (p *plant) serve(listener net.Listener, c *config.Config) {
	p.http = &http.Server{Handler: p.server.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	p.http.RegisterOnShutdown(p.server.EndStreams)
	go func() {
		var err error
		if c.TLS.Cert != "" {
			err = p.http.ServeTLS(listener, c.TLS.Cert, c.TLS.Key)
		} else {
			err = p.http.Serve(listener)
		}
		if !errors.Is(err, http.ErrServerClosed) {
			p.failed <- err
		}
	}()
}

// watch ends the process where the database can no longer be trusted.
func (p *plant) watch() {
	<-p.db.Broken()
	p.failed <- errors.New("the database file cannot be read or written any more: check the disk, then start again")
}

const drainTime = 5 * time.Second

// stop ends the listener, then the sessions, then the loops, then the files.
func (p *plant) stop() {
	failpoint.At("cmd.stop.before")
	if p.http != nil {
		ctx, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		if p.http.Shutdown(ctx) != nil {
			p.http.Close()
		}
		os.Remove(p.urlFile)
	}
	if p.server != nil {
		p.server.Stop()
	}
	if p.db != nil {
		p.db.Close()
	}
	failpoint.At("cmd.stop.after")
	if p.release != nil {
		p.release()
	}
}
