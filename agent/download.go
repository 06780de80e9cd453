package agent

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"rendermac/agentproto"
	"rendermac/failpoint"
	"rendermac/fence"
	"rendermac/fetch"
)

// How many ranges of one input are on their way together: an object store
// answers the faster the more it is asked, our own server reads one disk in order.
const (
	rangesOfStore = 4
	rangesOfOurs  = 1
)

var wholeDigest = regexp.MustCompile(`^[0-9a-f]{64}$`)

// download brings every input into the run's folder, under names of our own.
func (r *run) download(ctx context.Context) ([]string, error) {
	var total, before int64
	for _, in := range r.offer.Inputs {
		total += in.Bytes
	}
	// What the output will need is known once the inputs have been read.
	if err := r.room(r.holdInputs(), "the inputs"); err != nil {
		return nil, err
	}
	var paths []string
	for i, in := range r.offer.Inputs {
		start := before
		path, err := r.input(ctx, i, func(have int64) { r.report.done(float64(start+have), float64(total)) })
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
		before += in.Bytes
	}
	return paths, nil
}

// holdInputs keeps what the cache has of the inputs, and says how much of the
// disk the others will take. Bytes without a digest cannot be told from others:
// they are the run's own.
func (r *run) holdInputs() (missing int64) {
	r.holds = make([]*hold, len(r.offer.Inputs))
	for i, in := range r.offer.Inputs {
		need := in.Bytes
		if digest := strings.ToLower(in.SHA256); wholeDigest.MatchString(digest) && in.URL != "" {
			r.holds[i], need = r.a.cache.hold(digest, in.Bytes)
		}
		missing += need
	}
	return missing
}

// letInputsGo gives the space of the inputs back; the folder goes in the end anyway.
func (r *run) letInputsGo() {
	for i, h := range r.holds {
		os.Remove(r.inputPath(i))
		os.RemoveAll(r.unpackedPath(i))
		os.RemoveAll(r.framesPath(i))
		if h != nil {
			h.release()
		}
	}
	r.holds = nil
}

func (r *run) inputPath(i int) string { return filepath.Join(r.dir, "input-"+strconv.Itoa(i+1)) }

// input is where one input is, whole and with the right digest, by what kind it is.
func (r *run) input(ctx context.Context, i int, shown func(have int64)) (string, error) {
	in, path, h := r.offer.Inputs[i], r.inputPath(i), r.holds[i]
	switch {
	case in.Root != "":
		return path, r.fetchShared(ctx, in, path, shown)
	case h == nil:
		return path, r.fetch(ctx, i, path, shown)
	}
	err := h.fill(ctx, in.Bytes, shown, func(coming string, have func(int64)) error { return r.fetch(ctx, i, coming, have) })
	if err != nil {
		return "", err
	}
	return h.link(path), nil
}

// fetch brings one input into a file, or says why not. Where patience has ended
// the server is asked once more: it knows whether the store is away, and is then
// busy for as long as that lasts.
func (r *run) fetch(ctx context.Context, i int, path string, have func(int64)) error {
	failpoint.At("agent.input.before")
	var most int64
	for asked := false; ; {
		before := most
		err := fetch.To(ctx, r.fetching(i, path, func(here int64) {
			most = max(most, here)
			have(here)
		}))
		asked = asked && most == before
		switch f := (*failure)(nil); {
		case err == nil:
			failpoint.At("agent.input.after")
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &f):
			return f
		case errors.As(err, new(fetch.DiskError)):
			lacking := func() int64 { return r.offer.Inputs[i].Bytes - most - freeBytes(r.a.WorkDir) }
			if !diskFull(err) || !r.a.cache.giveWay(lacking) {
				return r.undone(path, err)
			}
		case asked || errors.As(err, new(fetch.Hopeless)) || errors.Is(err, fetch.ErrDigest):
			return failed(fence.DownloadFailed, "input %d could not be fetched: %s", i+1, err)
		default:
			asked = true
			if err := r.freshInputs(ctx); err != nil {
				return err
			}
		}
	}
}

// journalSuffix is what package fetch calls the file beside what it brings.
const journalSuffix = ".ranges"

// undone is a disk that fails: what has come is not worth its space.
func (r *run) undone(path string, err error) error {
	os.Remove(path)
	os.Remove(path + journalSuffix)
	if diskFull(err) {
		return diskFailure(err)
	}
	return failed(fence.InternalError, "the work folder cannot be written: %s", err)
}

// fetching is how package fetch goes about input i.
func (r *run) fetching(i int, path string, have func(here int64)) fetch.Options {
	in := r.offer.Inputs[i]
	atOnce := rangesOfOurs
	if at, err := r.a.base.Parse(in.URL); err == nil && at.Host != r.a.base.Host {
		atOnce = rangesOfStore
	}
	var here int64
	return fetch.Options{
		Path: path, Bytes: in.Bytes, SHA256: in.SHA256, AtOnce: atOnce,
		URL: r.freshURL(i), Client: r.a.web, Log: r.log,
		Retry: fetch.Retry{
			Backoff: r.a.backoff, Patience: r.a.patience, Idle: r.a.patience / 5,
			Now: r.a.now, Sleep: r.a.now.sleep,
		},
		Progress: func(n int64) {
			here += n
			have(here)
		},
	}
}

// freshURL is the input's URL, and at each later call a fresh one.
func (r *run) freshURL(i int) func(context.Context) (string, http.Header, error) {
	known := true
	return func(ctx context.Context) (string, http.Header, error) {
		if !known {
			if err := r.freshInputs(ctx); err != nil {
				return "", nil, fetch.Hopeless{Err: err}
			}
		}
		known = false
		at, err := r.a.base.Parse(r.offer.Inputs[i].URL)
		if err != nil {
			return "", nil, fetch.Hopeless{Err: errNoAddress}
		}
		return at.String(), nil, nil
	}
}

func (r *run) freshInputs(ctx context.Context) error {
	answer, err := r.insist(ctx, func(ids agentproto.IDs, _ string) agentproto.Message { return &agentproto.Inputs{IDs: ids} })
	if err != nil {
		return err
	}
	fresh, ok := answer.(*agentproto.InputsOK)
	if !ok || len(fresh.Inputs) != len(r.offer.Inputs) {
		return failed(fence.DownloadFailed, "%s", refused("fresh input URLs", answer))
	}
	for i := range fresh.Inputs {
		r.offer.Inputs[i].URL = fresh.Inputs[i].URL
	}
	return nil
}
