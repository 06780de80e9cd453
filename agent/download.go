package agent

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"rendermac/agentproto"
	"rendermac/failpoint"
	"rendermac/fence"
)

// wholeTries is how often an input whose digest is wrong is fetched anew.
const wholeTries = 3

var errDigest = errors.New("the bytes that arrived are not the ones the server promised")

// download fetches every input into the run's folder, under names of our own.
func (r *run) download(ctx context.Context) ([]string, error) {
	var total int64
	for _, in := range r.offer.Inputs {
		total += in.Bytes
	}
	// What the output will need is known once the inputs have been read.
	if err := r.room(total, "the inputs"); err != nil {
		return nil, err
	}
	var moved atomic.Int64
	var paths []string
	for i := range r.offer.Inputs {
		path := filepath.Join(r.dir, "input-"+strconv.Itoa(i+1))
		t := &transfer{a: r.a, moving: func(n int64) { r.report.done(float64(moved.Add(n)), float64(total)) }}
		if err := r.fetch(ctx, t, i, path); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// fetch is one input, whole and with the right digest, or the reason why not.
func (r *run) fetch(ctx context.Context, t *transfer, i int, path string) error {
	if in := r.offer.Inputs[i]; in.Root != "" {
		return r.fetchShared(ctx, t, in, path)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return diskFailure(err)
	}
	defer file.Close()
	failpoint.At("agent.input.before")
	d := &download{r: r, t: t, input: i, file: file, sum: sha256.New()}
	for range wholeTries {
		if err = t.persist(ctx, d.try); !errors.Is(err, errDigest) {
			break
		}
		if err := d.restart(); err != nil {
			return err
		}
	}
	var f *failure
	switch {
	case err == nil:
		return diskFailure(file.Close())
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &f):
		return f
	default:
		return failed(fence.DownloadFailed, "input %d could not be fetched: %s", i+1, err)
	}
}

// download is an input's file as far as it has come.
type download struct {
	r     *run
	t     *transfer
	input int
	file  *os.File
	sum   hash.Hash
	have  int64
}

func (d *download) restart() error {
	d.have = 0
	d.sum.Reset()
	_, err := d.file.Seek(0, io.SeekStart)
	return errors.Join(err, d.file.Truncate(0))
}

// try goes on from where the last try ended.
func (d *download) try(ctx context.Context) error {
	in := d.r.offer.Inputs[d.input]
	header := map[string]string{}
	if d.have > 0 {
		header["Range"] = fmt.Sprintf("bytes=%d-", d.have)
	}
	answer, err := d.r.a.do(ctx, http.MethodGet, in.URL, nil, 0, header)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	switch from := "bytes " + strconv.FormatInt(d.have, 10) + "-"; {
	case answer.StatusCode == http.StatusPartialContent && strings.HasPrefix(answer.Header.Get("Content-Range"), from):
	case answer.StatusCode == http.StatusOK:
		if err := d.restart(); err != nil {
			return hopeless{err}
		}
	default:
		return d.refused(ctx, problemOf(answer))
	}
	if err := d.copy(answer.Body, in.Bytes); err != nil {
		return err
	}
	failpoint.At("agent.input.after")
	if in.SHA256 != "" && hexSum(d.sum) != strings.ToLower(in.SHA256) {
		return hopeless{errDigest}
	}
	return nil
}

// copy takes what comes, and not a byte more than was promised.
func (d *download) copy(body io.Reader, promised int64) error {
	n, err := io.Copy(diskWriter{d.file, d.sum}, d.t.body(io.LimitReader(body, promised-d.have+1)))
	d.have += n
	d.t.gained = max(d.t.gained, d.have)
	switch {
	case err != nil:
		return err
	case d.have > promised:
		return hopeless{errDigest}
	case d.have < promised:
		return io.ErrUnexpectedEOF
	}
	return nil
}

// refused is what to do about an answer without the bytes. 403 is a URL that
// has run out: a fresh one is asked for.
func (d *download) refused(ctx context.Context, p *problem) error {
	switch p.Status {
	case http.StatusForbidden:
		return errors.Join(p, d.r.freshInputs(ctx))
	case http.StatusNotFound, http.StatusGone:
		return hopeless{p}
	case http.StatusRequestedRangeNotSatisfiable:
		return errors.Join(p, d.restart())
	default:
		return p
	}
}

func (r *run) freshInputs(ctx context.Context) error {
	answer, err := r.insist(ctx, func(ids agentproto.IDs, _ string) agentproto.Message { return &agentproto.Inputs{IDs: ids} })
	if err != nil {
		return err
	}
	fresh, ok := answer.(*agentproto.InputsOK)
	if !ok || len(fresh.Inputs) != len(r.offer.Inputs) {
		return hopeless{refused("fresh input URLs", answer)}
	}
	r.offer.Inputs = fresh.Inputs
	return nil
}

// diskWriter writes to the file and to its digest. That the disk fails is not
// the network's fault: it ends the transfer.
type diskWriter struct {
	file *os.File
	sum  hash.Hash
}

func (w diskWriter) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	w.sum.Write(p[:n])
	if err != nil {
		err = hopeless{diskFailure(failed(fence.InternalError, "the work folder cannot be written: %s", err))}
	}
	return n, err
}
