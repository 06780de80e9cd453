package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"

	"rendermac/agentproto"
	"rendermac/fence"
	"rendermac/media"
	"rendermac/media/probe"
	"rendermac/unzip"
)

// mostFrames is more than an hour at 60 a second.
const mostFrames = 250_000

// unpackFrames makes a sequence of the zip's images, under names of our own.
func (r *run) unpackFrames(ctx context.Context, zip string) ([]media.Input, error) {
	dir := r.unpackedPath(0)
	files, err := r.unpack(ctx, zip, dir, unzip.Limits{Bytes: math.MaxInt64, Entries: mostFrames, Skip: media.NotAFrame})
	if err != nil {
		return nil, err
	}
	files, err = media.OrderFrames(files)
	if err != nil {
		return nil, failed(fence.RunnerFailed, "%s", err)
	}
	in := media.Input{Path: r.framesPath(0), Demuxer: "image2"}
	bytes, err := r.lineUp(ctx, &in, dir, files)
	if err != nil {
		return nil, err
	}
	m, err := r.ffprobe(ctx, filepath.Join(in.Path, in.Files[0]), "")
	if err != nil {
		return nil, err
	}
	in.Media = m.Sequence(len(files), bytes)
	raw, err := json.Marshal(in.Media)
	if err != nil {
		return nil, fmt.Errorf("encode what ffprobe said: %w", err)
	}
	r.report.probed([]agentproto.RawJSON{raw})
	return []media.Input{in}, nil
}

// framesPath is the folder of the images of an input.
func (r *run) framesPath(i int) string { return r.inputPath(i) + "-frames" }

// lineUp moves the images from the folder they were unpacked into to one where
// they are numbered from 1. All must look like the first.
func (r *run) lineUp(ctx context.Context, in *media.Input, from string, files []string) (bytes int64, err error) {
	if err := os.Mkdir(in.Path, 0o700); err != nil {
		return 0, diskFailure(err)
	}
	var first probe.Picture
	for i, name := range files {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		is, size, err := headOf(filepath.Join(from, filepath.FromSlash(name)))
		if err != nil {
			return 0, imageFault(name, err)
		}
		if i == 0 {
			first = is
		}
		if fault := is.Unlike(first); fault != "" {
			return 0, failed(fence.RunnerFailed, "the zip's image %.60q %s %.60q: all must be alike", path.Base(name), fault, path.Base(files[0]))
		}
		ours := media.FrameName(i + 1)
		if err := os.Rename(filepath.Join(from, filepath.FromSlash(name)), filepath.Join(in.Path, ours)); err != nil {
			return 0, diskFailure(err)
		}
		in.Files = append(in.Files, ours)
		bytes += size
	}
	return bytes, nil
}

func headOf(path string) (probe.Picture, int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return probe.Picture{}, 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return probe.Picture{}, 0, err
	}
	head, err := probe.Head(file, info.Size())
	return head, info.Size(), err
}

func imageFault(name string, err error) error {
	var wrong *probe.Error
	if errors.As(err, &wrong) {
		return failed(fence.RunnerFailed, "the zip's image %.60q %s", path.Base(name), wrong.Message)
	}
	return err
}
