package agent

import (
	"context"
	"errors"
	"math"

	"rendermac/fence"
	"rendermac/media"
	"rendermac/unzip"
)

// understand finds out what the inputs are: by ffprobe, or by unpacking the zip
// that the service takes.
func (r *run) understand(ctx context.Context, service *media.Service, paths []string) ([]media.Input, error) {
	switch service.Archive {
	case media.Frames:
		return r.unpackFrames(ctx, paths[0])
	case media.Bundle:
		files, err := r.unpack(ctx, paths[0], r.unpackedPath(0), unzip.Limits{Bytes: 4 << 30, Entries: 50_000})
		return []media.Input{{Path: r.unpackedPath(0), Files: files}}, err
	}
	return r.probeInputs(ctx, paths)
}

// unpackedPath is the folder of an input that is a zip.
func (r *run) unpackedPath(i int) string { return r.inputPath(i) + "-unpacked" }

// unpack takes a zip apart into a folder of the run's own.
func (r *run) unpack(ctx context.Context, path, dir string, limits unzip.Limits) ([]string, error) {
	watched, feed, stop := watchdog(ctx, r.a.Stall, failed(fence.InternalError, "unpacking the zip made no progress for %s", r.a.Stall))
	defer stop()
	limits.Room = func(bytes int64) error {
		feed()
		return r.room(min(bytes, math.MaxInt64-spare), "what the zip holds")
	}
	limits.Wrote = func(int64) { feed() }
	files, err := unzip.Extract(watched, path, dir, limits)
	var wrong *unzip.Refused
	switch {
	case errors.As(err, &wrong):
		return nil, failed(fence.RunnerFailed, "%s", wrong.Message)
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return files, diskFailure(err)
}
