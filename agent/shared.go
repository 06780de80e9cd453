package agent

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"rendermac/agentproto"
	"rendermac/failpoint"
	"rendermac/fence"
	"rendermac/fetch"
	"rendermac/roots"
)

var errChanged = errors.New("the bytes are not those that the server has read")

// fetchShared brings a file under a shared root into the run's folder: as a clone
// where root and folder are on one volume that can make one, else as a copy. The
// run works on that, whatever becomes of the file, and only if it has the digest
// that the server found.
func (r *run) fetchShared(ctx context.Context, in agentproto.Input, path string, shown func(have int64)) error {
	folder, ok := r.a.SharedRoots[in.Root]
	if !ok {
		return failed(fence.NoCapacity, "this Mac has no folder for the shared root %s: set shared_roots.%s.path in its config", in.Root, in.Root)
	}
	failpoint.At("agent.shared.before")
	t := &transfer{a: r.a}
	err := t.persist(ctx, func(ctx context.Context) error {
		feed := t.feed // of this try: a later one has its own
		return r.takeShared(ctx, folder, in, path, &counting{func(have int64) { feed(); shown(have) }, 0})
	})
	var fault *roots.Fault
	var f *failure
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &f):
		return f
	case errors.As(err, &fault):
		return failed(fence.DownloadFailed, "%s/%s on this Mac's mount %s", in.Root, in.Path, fault.Message)
	case errors.Is(err, errChanged):
		return failed(fence.DownloadFailed, "%s/%s is not the file that the server has read: it was changed since, or another volume is mounted here", in.Root, in.Path)
	}
	return failed(fence.NoCapacity, "the shared root %s cannot be read on this Mac: %s", in.Root, err)
}

// takeShared is one try. What hangs with a network volume that has gone is left
// behind with a file of its own, which goes with the run's folder.
func (r *run) takeShared(ctx context.Context, folder string, in agentproto.Input, path string, moved *counting) error {
	type taken struct {
		file string
		err  error
	}
	done := make(chan taken, 1)
	go func() {
		file, err := r.copyShared(ctx, moved, folder, in)
		done <- taken{file, err}
	}()
	select {
	case got := <-done:
		if got.err != nil {
			return got.err
		}
		return os.Rename(got.file, path)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// counting tells how much has passed.
type counting struct {
	shown func(have int64)
	have  int64
}

func (c *counting) Write(p []byte) (int, error) {
	c.have += int64(len(p))
	c.shown(c.have)
	return len(p), nil
}

// copyShared leaves nothing of a try that failed: the next one needs the space.
func (r *run) copyShared(ctx context.Context, moved *counting, folder string, in agentproto.Input) (_ string, err error) {
	from, err := roots.Open(folder, in.Path)
	if err != nil {
		var fault *roots.Fault
		if errors.As(err, &fault) {
			err = fetch.Hopeless{Err: err}
		}
		return "", err
	}
	defer from.Close()
	to, cloned, err := r.sharedTarget(from)
	if err != nil {
		return "", fetch.Hopeless{Err: diskFailure(err)}
	}
	defer to.Close()
	defer func() {
		if err != nil {
			os.RemoveAll(filepath.Dir(to.Name()))
		}
	}()
	sum := sha256.New()
	if cloned {
		_, err = io.Copy(io.MultiWriter(sum, moved), endable{ctx, to})
	} else {
		_, err = io.Copy(io.MultiWriter(disk{to}, sum, moved), endable{ctx, io.LimitReader(from, in.Bytes+1)})
	}
	if err != nil {
		return "", err
	}
	if hexSum(sum) != strings.ToLower(in.SHA256) {
		return "", fetch.Hopeless{Err: errChanged}
	}
	failpoint.At("agent.shared.after")
	return to.Name(), diskFailure(to.Close())
}

// sharedTarget is a file of its own in the run's folder: a clone, at its start, or
// an empty one.
func (r *run) sharedTarget(from *os.File) (to *os.File, cloned bool, err error) {
	dir, err := os.MkdirTemp(r.dir, "shared-*")
	if err != nil {
		return nil, false, err
	}
	path := filepath.Join(dir, "input")
	if cloneFile(from, path) == nil {
		to, err = os.Open(path)
		return to, true, err
	}
	to, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // another volume, or one that cannot clone
	return to, false, err
}

// disk writes to the work folder. That it fails is no fault of the shared root:
// trying again would not change it.
type disk struct{ *os.File }

func (d disk) Write(p []byte) (int, error) {
	n, err := d.File.Write(p)
	if err != nil {
		err = fetch.Hopeless{Err: diskFailure(failed(fence.InternalError, "the work folder cannot be written: %s", err))}
	}
	return n, err
}
