package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	partsAtOnce = 4
	// A request asks for the URLs of so many bytes, of so many parts at most.
	bytesPerBatch = 64 << 20
	partsPerBatch = 256
	// noPart is beyond the last part of any upload.
	noPart = 10_001
	// uploadRounds is how often parts are sent that the store had and has lost.
	uploadRounds = 3
)

// Resume is how an upload goes on where an earlier one of this file, in a
// process that has ended, has stopped.
type Resume struct {
	Folder string           // where unfinished uploads are remembered; "" is nowhere
	GoesOn func(held int64) // called where there is an earlier one: so much of it is there
	Waits  Waits            // nil tells nobody
}

// Upload sends a file in parts, several at once, each retried alone, while its
// digest is computed here; the server must arrive at the same one. Progress is
// called with bytes sent, or taken back where a part starts over.
func (c *Client) Upload(ctx context.Context, path string, progress func(int64)) (*UploadDone, error) {
	return c.ResumeUpload(ctx, path, Resume{}, progress)
}

// ResumeUpload is Upload, going on with an earlier one where there is one. It is
// remembered until ForgetUpload: it may yet be asked for once more.
func (c *Client) ResumeUpload(ctx context.Context, path string, r Resume, progress func(int64)) (*UploadDone, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	m := c.recall(r.Folder, path)
	defer m.release()
	u, err := c.takeUp(ctx, m, file, info, r.GoesOn, progress)
	if err != nil {
		return nil, err
	}
	u.outage.tell = r.Waits
	done, err := u.run(ctx)
	if hasCode(err, CodeDigestMismatch) { // what was there, or on its way, was another file's
		m.forget()
		u.progress(-u.told.Load())
		if u, err = c.begin(ctx, m, file, info, progress); err != nil {
			return nil, err
		}
		u.outage.tell = r.Waits
		done, err = u.run(ctx)
	}
	// The next one begins anew: with the parts that a server has then, after a 413.
	if errors.Is(err, errChanged) || hasCode(err, CodeDigestMismatch) || hasStatus(err, http.StatusRequestEntityTooLarge) {
		m.forget()
	}
	return done, err
}

var errChanged = errors.New("changed while it was uploaded: wait until it is finished, then try again")

// upload is one file on its way.
type upload struct {
	*Client
	id        string
	partBytes int64
	held      []int // the parts that were there when last asked
	file      *os.File
	info      os.FileInfo
	progress  func(int64)
	told      atomic.Int64 // what progress has heard, in all
	gained    atomic.Int64 // when a part last arrived
	outage    outage
	unasked   atomic.Bool // a proxy cannot be asked first: parts are sent at once
}

func (c *Client) newUpload(page Upload, file *os.File, info os.FileInfo, progress func(int64)) *upload {
	u := &upload{Client: c, id: page.ID, partBytes: page.PartBytes, held: page.Held, file: file, info: info}
	u.progress = func(n int64) {
		u.told.Add(n)
		progress(n)
	}
	u.gain()
	return u
}

// takeUp goes on with the upload that is remembered, if the server still has it
// and the file is the same, and begins one if not.
func (c *Client) takeUp(ctx context.Context, m *memory, file *os.File, info os.FileInfo, goesOn func(int64), progress func(int64)) (*upload, error) {
	id := m.upload(info)
	if id == "" {
		return c.begin(ctx, m, file, info, progress)
	}
	page, err := again(ctx, c, func() (*Upload, error) { return c.lookAt(ctx, id) })
	if hasStatus(err, http.StatusNotFound) || err == nil && (page.Bytes != info.Size() || page.PartBytes < 1) {
		return c.begin(ctx, m, file, info, progress)
	}
	if err != nil {
		return nil, err
	}
	u := c.newUpload(*page, file, info, progress)
	held := u.heldBytes()
	if goesOn != nil {
		goesOn(held)
	}
	u.progress(held)
	return u, nil
}

func (c *Client) begin(ctx context.Context, m *memory, file *os.File, info os.FileInfo, progress func(int64)) (*upload, error) {
	made, err := once[UploadCreated](ctx, c, "/v1/uploads", UploadRequest{Name: filepath.Base(file.Name()), Bytes: info.Size(), Parts: []Part{}})
	if err != nil {
		return nil, err
	}
	if made.PartBytes < 1 {
		return nil, errors.New("the server does not say how long its parts are")
	}
	m.keep(made.ID, info)
	return c.newUpload(Upload{ID: made.ID, PartBytes: made.PartBytes}, file, info, progress), nil
}

// run sends what is missing and completes the upload. What the store has lost
// meanwhile is sent again.
func (u *upload) run(ctx context.Context) (*UploadDone, error) {
	digest, err := u.send(ctx)
	for round := 1; ; round++ {
		if err != nil {
			return nil, fmt.Errorf("the upload broke off: %w", err)
		}
		if now, err := os.Stat(u.file.Name()); err != nil || now.Size() != u.info.Size() || !now.ModTime().Equal(u.info.ModTime()) {
			return nil, fmt.Errorf("%s %w", u.file.Name(), errChanged)
		}
		done, err := u.complete(ctx, digest)
		if !hasCode(err, CodeUploadIncomplete) || round == uploadRounds {
			return done, err
		}
		err = u.look(ctx)
		if err == nil {
			u.progress(u.heldBytes() - u.told.Load())
			err = u.sendParts(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("the upload broke off: %w", err)
		}
	}
}

// send puts every part that is missing, and computes the file's digest meanwhile.
func (u *upload) send(ctx context.Context) (digest string, err error) {
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() (err error) {
		digest, err = u.digest(ctx, 0, u.info.Size())
		return err
	})
	both.Go(func() error { return u.sendParts(ctx) })
	return digest, both.Wait()
}

// look asks what is held.
func (u *upload) look(ctx context.Context) error {
	now, err := insist(ctx, u, func() (*Upload, error) { return u.lookAt(ctx, u.id) })
	if err == nil {
		u.held = now.Held
	}
	return err
}

func (c *Client) lookAt(ctx context.Context, id string) (*Upload, error) {
	return call[Upload](ctx, c, http.MethodGet, "/v1/uploads/"+id+"?from_part="+strconv.Itoa(noPart), nil)
}

// complete closes the upload. Repeating it answers the same, so a lost answer is
// asked for again.
func (u *upload) complete(ctx context.Context, digest string) (*UploadDone, error) {
	return insist(ctx, u, func() (*UploadDone, error) {
		return call[UploadDone](ctx, u.Client, http.MethodPost, "/v1/uploads/"+u.id+"/complete", UploadComplete{SHA256: &digest})
	})
}

// heldBytes is how many bytes are there.
func (u *upload) heldBytes() (sum int64) {
	for _, n := range u.held {
		sum += u.partLength(n)
	}
	return sum
}

func (u *upload) partLength(n int) int64 { return min(u.partBytes, u.info.Size()-u.offset(n)) }

func (u *upload) offset(n int) int64 { return int64(n-1) * u.partBytes }

// digest reads so much of the file once, stopping with ctx.
func (u *upload) digest(ctx context.Context, at, length int64) (string, error) {
	hash, buffer := sha256.New(), make([]byte, 1<<20)
	for end := at + length; at < end; {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		n, err := u.file.ReadAt(buffer[:min(int64(len(buffer)), end-at)], at)
		hash.Write(buffer[:n])
		if at += int64(n); err != nil && at < end {
			return "", fmt.Errorf("%s became shorter while it was read: %w", u.file.Name(), err)
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

func (u *upload) gain() {
	u.gained.Store(int64(time.Since(began)))
	u.outage.ends()
}

// began is what times are counted from: by a clock that stands still while the
// machine sleeps, so that a closed lid is not taken for a silent server.
var began = time.Now()
