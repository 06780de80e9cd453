package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"rendermac/artifact"
	"rendermac/store"
)

// store checks that files can be kept where the config says.
func (d *doctor) store(ctx context.Context) {
	if d.c.Store.Kind == "s3" {
		d.bucket(ctx)
		return
	}
	d.ownFolder(ctx)
}

// files are what the database knows of the store. One that cannot be read, as
// another check says, or is of an older build, may know of any.
func (d *doctor) files(ctx context.Context) (files store.ArtifactStore, certain bool) {
	path := filepath.Join(d.c.Data, "rendermac.db")
	if _, err := os.Stat(path); err != nil {
		return store.ArtifactStore{}, true
	}
	files, err := store.PeekArtifactStore(ctx, path)
	if err != nil || files.Own == "" && files.Known == "" {
		return store.ArtifactStore{Used: true}, false
	}
	return files, true
}

// ownFolder is where files are kept on this machine. A server makes it at its first start, so one
// that is missing beside a database is away.
func (d *doctor) ownFolder(ctx context.Context) {
	path := d.c.Store.Path
	above := filepath.Dir(path)
	_, used := os.Stat(filepath.Join(d.c.Data, "rendermac.db"))
	_, reached := os.Stat(above)
	files, certain := d.files(ctx)
	anothers := artifact.CheckDir(path, cmp.Or(files.Known, files.Own))
	switch {
	case certain && errors.Is(anothers, artifact.ErrNoStore):
		d.fail("store", anothers.Error(), "see When the store is away in docs/operations.md")
	case used == nil && !artifact.IsDir(path):
		d.fail("store", path+" is not this server's store", "mount its disk, or correct store.path")
	case reached != nil && above != d.c.Data:
		d.fail("store", above+" is not there", "mount its disk, make it, or correct store.path")
	default:
		d.folder("store", path)
	}
}

// bucket writes to the bucket, and finds out what its server checks.
func (d *doctor) bucket(ctx context.Context) {
	s := d.c.Store.S3
	where := "the bucket " + s.Bucket + " at " + s.Endpoint
	files, _ := d.files(ctx)
	bucket, err := artifact.OpenS3(s3Options(d.c, files.Own, files.Used))
	if err == nil {
		err = bucket.Check(ctx)
	}
	if err != nil {
		d.noBucket(where, err)
		return
	}
	d.ok("store", where+" can be written")
	facts, err := bucket.Probe(ctx)
	if err != nil {
		d.noBucket(where, err)
		return
	}
	for _, sentence := range facts.Warnings() {
		d.warn("store", sentence, "use another S3 server, or a newer one, if others than your own Macs have URLs")
	}
	if len(facts.Warnings()) == 0 {
		d.ok("store", "its server holds each URL to the length and the SHA-256 of its part")
	}
}

// noBucket says what to do about a bucket: a fault of the settings says so itself.
func (d *doctor) noBucket(where string, err error) {
	found, do := err.Error(), "see Files on S3 in docs/operations.md"
	var settings *artifact.SettingsError
	if errors.As(err, &settings) {
		found, do, _ = strings.Cut(settings.Error(), ": ")
	} else if errors.Is(err, artifact.ErrUnavailable) {
		do = "is it running? Start it, or correct store.s3.endpoint"
	}
	d.fail("store", where+": "+found, do)
}

// folders are those that need room on this machine.
func (d *doctor) folders() []string {
	if d.c.Store.Kind == "s3" {
		return []string{d.c.Agent.WorkDir}
	}
	return []string{d.c.Store.Path, d.c.Agent.WorkDir}
}
