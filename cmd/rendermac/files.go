package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"rendermac/artifact"
	"rendermac/config"
	"rendermac/server"
)

// openStore opens where files are kept: a folder, which this server serves
// itself, or a bucket.
func (p *plant) openStore(ctx context.Context, c *config.Config, log *slog.Logger) error {
	if c.Store.Kind == "s3" {
		return p.openBucket(ctx, c, log)
	}
	return p.openFolder(ctx, c.Store.Path)
}

// openFolder begins no new store in the place of one whose disk is not mounted:
// every result that waits to be verified would be missing (F8).
func (p *plant) openFolder(ctx context.Context, path string) error {
	secret, err := p.db.SigningKey(ctx)
	if err != nil {
		return err
	}
	known, err := p.db.StoreID(ctx)
	if err != nil {
		return err
	}
	own, err := p.db.OwnStoreID(ctx)
	if err != nil {
		return err
	}
	used, err := p.db.HasFiles(ctx)
	if err != nil {
		return err
	}
	id := cmp.Or(known, own)
	if used {
		p.blobs, err = artifact.AwaitDir(path, id, secret, wallClock)
	} else {
		p.blobs, err = artifact.OpenDir(path, id, secret, wallClock)
	}
	if err != nil {
		return err
	}
	p.artifacts = p.blobs
	if id := p.blobs.ID(); id != "" && id != known {
		return p.db.SetStoreID(ctx, id)
	}
	return nil
}

// openBucket starts without a bucket that cannot be reached just now. What the
// config has wrong stops the start.
func (p *plant) openBucket(ctx context.Context, c *config.Config, log *slog.Logger) error {
	used, err := p.db.HasFiles(ctx)
	if err != nil {
		return err
	}
	id, err := p.db.OwnStoreID(ctx)
	if err != nil {
		return err
	}
	bucket, err := artifact.OpenS3(s3Options(c, id, used))
	if err != nil {
		return err
	}
	p.artifacts = bucket
	if p.storeOrigin, err = bucket.Origin(ctx); err != nil {
		return err
	}
	log.Info("files are kept on S3", "endpoint", c.Store.S3.Endpoint, "bucket", c.Store.S3.Bucket, "prefix", c.Store.S3.Prefix)
	facts, err := artifact.S3Facts{}, bucket.Find(ctx)
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

func s3Options(c *config.Config, id string, used bool) artifact.S3Options {
	s := c.Store.S3
	return artifact.S3Options{
		Endpoint: s.Endpoint, PublicEndpoint: s.PublicEndpoint, Bucket: s.Bucket, Region: s.Region,
		AccessKey: s.AccessKey, SecretKey: s.SecretKey, Prefix: s.Prefix, PathStyle: s.PathStyle, ID: id, Used: used, Now: wallClock,
	}
}

// placesOf names no secret.
func placesOf(c *config.Config) server.Places {
	p := server.Places{Data: c.Data, Config: c.File}
	if c.Store.Kind == "s3" {
		p.Bucket, p.Endpoint, p.Prefix = c.Store.S3.Bucket, c.Store.S3.Endpoint, c.Store.S3.Prefix
	} else {
		p.Folder = c.Store.Path
	}
	return p
}
