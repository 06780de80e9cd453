package server

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"rendermac/web"
)

// How old facts may be that cost something to find out. A page that is open asks
// again with every event, at most once a second; several share a look.
const (
	storedShown = 500 * time.Millisecond
	healthShown = 10 * time.Second
)

// presets lists each once, with all the services that take it as the same.
func (s *Server) presets() (list []web.Preset) {
	for _, service := range s.o.Catalogue.All() {
		for _, p := range offerOf(service, 0).Presets {
			at := slices.IndexFunc(list, func(have web.Preset) bool { return have.Name == p.Name && have.Title == p.Title })
			if at < 0 {
				at, list = len(list), append(list, web.Preset{OfferPreset: p})
			}
			list[at].Services = append(list[at].Services, service.Name)
		}
	}
	return list
}

func (s *Server) storageFacts() (web.Storage, error) {
	sum, err := s.storedBytes(storedShown)
	if err != nil {
		return web.Storage{}, err
	}
	at := s.o.Places
	facts := web.Storage{
		Folder: at.Folder, Bucket: at.Bucket, Endpoint: at.Endpoint, Prefix: at.Prefix,
		Outputs: sum.outputs, Uploads: sum.uploads, Retention: web.Retention(s.o.Retention),
	}
	if s.o.Blobs != nil { // a bucket has no end that can be asked for
		if free, err := s.o.Blobs.Free(); err == nil { // its disk may be away: the health says so
			facts.Free = &free
		}
	}
	return facts, nil
}

// backupFacts finds the backups in the folder itself, those too that somebody has
// made there by hand and let be named.
func (s *Server) backupFacts() web.Backups {
	o, now := s.o.Backups, s.o.Now()
	facts := web.Backups{Every: o.Every, Keep: o.Keep, Folder: o.Folder}
	made, err := backupsIn(o.Folder, now)
	if err != nil && !os.IsNotExist(err) {
		facts.Fault = "The folder cannot be read: " + err.Error()
		return facts
	}
	due := s.since // it is made then, if it is due already
	if facts.Count = len(made); facts.Count > 0 {
		last := made[len(made)-1]
		facts.Last = &web.Backup{At: last, File: BackupFile(last)}
		if info, err := os.Stat(filepath.Join(o.Folder, facts.Last.File)); err == nil { // it may be removed just now
			facts.Last.Bytes = info.Size()
		}
		if next := last.Add(o.Every); next.After(due) {
			due = next
		}
	}
	facts.Late = o.Every > 0 && now.Sub(due) > backupRetry
	return facts
}

func (s *Server) serverFacts(ctx context.Context, c call) (web.Server, error) {
	files, err := s.o.DB.Files()
	if err != nil {
		return web.Server{}, err
	}
	sqlite, err := s.o.DB.SQLite(ctx)
	if err != nil {
		return web.Server{}, err
	}
	away, err := s.health.get(s.o.Mono, healthShown, func() ([]string, error) { return s.away(context.WithoutCancel(ctx)), nil })
	return web.Server{
		URL: s.base(c.echo), WideURL: cmp.Or(s.o.PublicURL, s.o.WideURL), StartedAt: s.since, Data: s.o.Places.Data, Config: s.o.Places.Config,
		Database: files.Database + files.WAL, Go: runtime.Version(), SQLite: sqlite,
		System: fmt.Sprintf("%s on %s", runtime.GOOS, runtime.GOARCH), Away: away,
		Metrics: s.base(c.echo) + "/metrics", Public: s.o.MetricsPublic,
	}, err
}
