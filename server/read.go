package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"rendermac/failpoint"
	"rendermac/fence"
	"rendermac/media"
	"rendermac/media/probe"
	"rendermac/roots"
	"rendermac/store"
)

// readInputs reads a job's inputs by path, by their positions. Its error is a
// *roots.Fault where one is not to be had; after any other it may be later.
func (s *Server) readInputs(ctx context.Context, job *store.Unread) (map[int]store.ReadFile, error) {
	files := map[int]store.ReadFile{}
	for i, in := range job.Inputs {
		if in.Path == "" {
			continue
		}
		file, err := s.readInput(ctx, job.AccountID, in.Path)
		var fault *roots.Fault
		switch {
		case errors.As(err, &fault):
			return nil, &roots.Fault{Message: "the input " + in.Path + " " + fault.Message}
		case err != nil:
			return nil, fmt.Errorf("the input %s: %w", in.Path, err)
		}
		files[i] = *file
	}
	return files, nil
}

// readInput asks again whether the account may: the config may be another since.
func (s *Server) readInput(ctx context.Context, account, path string) (*store.ReadFile, error) {
	name, file, _ := roots.Split(path)
	root, err := s.rootFor(ctx, account, name)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, &roots.Fault{Message: "is under no shared root that this account may use any more"}
	}
	var out *store.ReadFile
	err = root.call(ctx, func() error {
		read, err := s.readShared(ctx, root, path, file)
		if err == nil {
			out = read
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// readShared reads a file whole, unless it was read before and nobody has
// touched it since.
func (s *Server) readShared(ctx context.Context, root *sharedRoot, path, file string) (*store.ReadFile, error) {
	f, err := roots.Open(root.Path, file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	before, err := roots.StampOf(f)
	if err != nil {
		return nil, err
	}
	stamp := ""
	if before.Rested(s.o.Now()) {
		stamp = before.String()
		if known, err := s.o.DB.KnownFile(ctx, path, stamp); known != nil || err != nil {
			return known, err
		}
	}
	failpoint.At("server.read.before")
	out, err := digestOf(ctx, f)
	if err != nil {
		return nil, err
	}
	out.Stamp = stamp
	if out.Media, err = mediaOf(f, out.Bytes); err != nil {
		return nil, unread(err)
	}
	return out, unchanged(root, file, before, out.Bytes)
}

// digestOf reads to the end, or until ctx ends.
func digestOf(ctx context.Context, f *os.File) (*store.ReadFile, error) {
	sum, buffer := sha256.New(), make([]byte, 1<<20)
	for out := new(store.ReadFile); ; {
		n, err := f.Read(buffer)
		sum.Write(buffer[:n])
		out.Bytes += int64(n)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, io.EOF):
			out.SHA256 = hex.EncodeToString(sum.Sum(nil))
			return out, nil
		case err != nil:
			return nil, unread(err)
		}
	}
}

// unread is a volume that went away while it was read.
func unread(err error) error { return fmt.Errorf("%w (%w)", roots.ErrUnavailable, err) }

// unchanged looks at the path anew: another file may stand there by now.
func unchanged(root *sharedRoot, file string, before roots.Stamp, bytes int64) error {
	f, err := roots.Open(root.Path, file)
	if err != nil {
		return err
	}
	defer f.Close()
	after, err := roots.StampOf(f)
	if err == nil && (!before.SameBytes(after) || bytes != before.Bytes) {
		err = errChanging
	}
	return err
}

// mediaOf says what a file is, or nothing where its kind is not read here: that
// is no fault, ffmpeg reads more kinds than the server does.
func mediaOf(f io.ReaderAt, bytes int64) (json.RawMessage, error) {
	m, err := probe.File(f, bytes)
	var unknown *probe.Error
	if errors.As(err, &unknown) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(m)
}

// needsOf is what a device must have, now that all inputs have been read.
func needsOf(job *store.Unread, files map[int]store.ReadFile) fence.Needs {
	needs := job.Needs
	service, ok := media.Lookup(job.Service)
	if !ok {
		return needs // this build does not know it any more: no device will
	}
	var all []*probe.Media
	var paths []string
	for i, in := range job.Inputs {
		if file, read := files[i]; read {
			in.Media = file.Media
		}
		all, paths = append(all, readMedia(in.Media)), append(paths, in.Path)
	}
	needs.Features = canonical(append(service.Needs(job.Resolved, all...), rootNeeds(paths...)...))
	return needs
}
