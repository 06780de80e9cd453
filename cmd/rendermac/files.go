package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"rendermac/artifact"
	"rendermac/config"
)

// openStore opens where files are kept: a folder, which this server serves
// itself, or a bucket.
func (p *plant) openStore(ctx context.Context, c *config.Config, log *slog.Logger) error {
	if c.Store.Kind == "s3" {
		return p.openBucket(ctx, c, log)
	}
	secret, err := p.db.SigningKey(ctx)
	if err != nil {
		return err
	}
	if err := p.storeIsThere(ctx, c.Store.Path); err != nil {
		return err
	}
	if p.blobs, err = artifact.OpenDir(c.Store.Path, secret, wallClock); err != nil {
		return err
	}
	p.artifacts = p.blobs
	return nil
}

// storeIsThere refuses to begin a new store in the place of one whose disk is
// not mounted: every result that waits to be verified would be missing (F8).
func (p *plant) storeIsThere(ctx context.Context, path string) error {
	used, err := p.db.HasUploads(ctx)
	if err != nil || !used || artifact.IsDir(path) {
		return err
	}
	return fmt.Errorf("the artifact store is not in %s, though the database knows of files in it: mount its disk or correct store.path; if the files are lost for good, make the folder %s and start again", path, filepath.Join(path, "objects"))
}

// openBucket starts without a bucket that cannot be reached just now. What the
// config has wrong stops the start.
func (p *plant) openBucket(ctx context.Context, c *config.Config, log *slog.Logger) error {
	bucket, err := artifact.OpenS3(s3Options(c))
	if err != nil {
		return err
	}
	p.artifacts = bucket
	used, err := p.db.HasUploads(ctx)
	if err != nil {
		return err
	}
	log.Info("files are kept on S3", "endpoint", c.Store.S3.Endpoint, "bucket", c.Store.S3.Bucket, "prefix", c.Store.S3.Prefix)
	facts, err := artifact.S3Facts{}, bucket.Find(ctx, used)
	if err == nil {
		facts, err = bucket.Probe(ctx)
	}
	switch wrong := new(artifact.SettingsError); {
	case errors.Is(err, artifact.ErrUnavailable) && !errors.As(err, &wrong):
		log.Warn("the artifact store cannot be reached: work goes on as soon as it can", "err", err)
		return nil
	case err != nil:
		return err
	}
	for _, sentence := range facts.Warnings() {
		log.Warn(sentence)
	}
	return nil
}

func s3Options(c *config.Config) artifact.S3Options {
	s := c.Store.S3
	return artifact.S3Options{
		Endpoint: s.Endpoint, PublicEndpoint: s.PublicEndpoint, Bucket: s.Bucket, Region: s.Region,
		AccessKey: s.AccessKey, SecretKey: s.SecretKey, Prefix: s.Prefix, PathStyle: s.PathStyle, Now: wallClock,
	}
}
