package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	partsAtOnce = 4
	partTries   = 8
)

// Upload sends a file in parts, several at once, each retried alone, while its
// digest is computed here; the server must arrive at the same one. Progress is
// called with bytes sent, or taken back where a part starts over.
func (c *Client) Upload(ctx context.Context, path string, progress func(int64)) (*UploadDone, error) {
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
	created, err := once[UploadCreated](ctx, c, "/v1/uploads",
		UploadRequest{Name: filepath.Base(path), Bytes: info.Size()})
	if err != nil {
		return nil, err
	}
	u := &upload{c, created, file, info.Size(), progress}
	digest, err := u.send(ctx)
	if err != nil {
		return nil, fmt.Errorf("the upload broke off: %w", err)
	}
	if now, err := os.Stat(path); err != nil || now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime()) {
		return nil, fmt.Errorf("%s changed while it was uploaded: wait until it is finished, then try again", path)
	}
	return u.complete(ctx, digest)
}

type upload struct {
	*Client
	*UploadCreated
	file     *os.File
	bytes    int64
	progress func(int64)
}

// send puts every part, page by page, and computes the file's digest meanwhile.
func (u *upload) send(ctx context.Context) (digest string, err error) {
	hashing, ctx := errgroup.WithContext(ctx)
	hashing.Go(func() (err error) {
		digest, err = u.digest(ctx)
		return err
	})
	hashing.Go(func() error {
		parts, ctx := errgroup.WithContext(ctx)
		parts.SetLimit(partsAtOnce)
		err := u.eachPart(ctx, func(p PartURL) {
			parts.Go(func() error { return u.put(ctx, p) })
		})
		if failed := parts.Wait(); failed != nil {
			return failed
		}
		return err
	})
	return digest, hashing.Wait()
}

// eachPart hands on every part's URL. A page is asked for when the one before it
// has been handed on, so that its URLs are fresh.
func (u *upload) eachPart(ctx context.Context, do func(PartURL)) error {
	page := Upload{Parts: u.Parts, NextPart: u.NextPart}
	for {
		for _, p := range page.Parts {
			do(p)
		}
		if page.NextPart == nil {
			return nil
		}
		next, err := u.missing(ctx, *page.NextPart)
		if err != nil {
			return err
		}
		page = *next
	}
}

// missing asks what is held, and for fresh URLs of what is not.
func (u *upload) missing(ctx context.Context, from int) (*Upload, error) {
	return again(ctx, u.Client, func() (*Upload, error) {
		return call[Upload](ctx, u.Client, http.MethodGet, "/v1/uploads/"+u.ID+"?from_part="+strconv.Itoa(from), nil)
	})
}

// put sends one part until it is held. After a failure the server says whether
// it has arrived all the same, and signs its URL anew.
func (u *upload) put(ctx context.Context, p PartURL) error {
	for try := range partTries {
		err := u.putOnce(ctx, p)
		if err == nil {
			return nil
		}
		if try == partTries-1 || !passing(err) && !refusedURL(err) {
			return fmt.Errorf("part %d: %w", p.Number, err)
		}
		if err := sleep(ctx, u.backoff(try)); err != nil {
			return err
		}
		now, err := u.missing(ctx, p.Number)
		if err != nil {
			return err
		}
		if slices.Contains(now.Held, p.Number) {
			return nil
		}
		if at := slices.IndexFunc(now.Parts, func(q PartURL) bool { return q.Number == p.Number }); at >= 0 {
			p = now.Parts[at]
		}
	}
	panic("unreachable")
}

// refusedURL tells whether a fresh URL may help: the one used has expired.
func refusedURL(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == http.StatusForbidden
}

func (u *upload) putOnce(ctx context.Context, p PartURL) (err error) {
	offset := int64(p.Number-1) * u.PartBytes
	length := min(u.PartBytes, u.bytes-offset)
	if p.Number < 1 || length < 0 {
		return errors.New("the server asked for a part that the file does not have")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	body := &counted{r: io.NewSectionReader(u.file, offset, length), progress: u.progress, stall: u.stall}
	body.watch = time.AfterFunc(u.stall, func() { cancel(&Unreachable{u.url, fmt.Errorf("part %d stood still", p.Number)}) })
	defer func() {
		if sent := body.end(); err != nil {
			u.progress(-sent)
		}
	}()
	request, err := u.partRequest(ctx, p, body, length)
	if err != nil {
		return err
	}
	response, err := u.blobs.Do(request)
	if err != nil {
		return u.unreachable(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode < 300 {
		return nil
	}
	err = problem(response)
	var e *Error
	if errors.As(err, &e) && e.Code == CodePartHeld {
		return nil // an earlier try arrived; the bytes are bound (F16)
	}
	return err
}

func (u *upload) partRequest(ctx context.Context, p PartURL, body io.Reader, length int64) (*http.Request, error) {
	to, err := u.resolve(p.URL)
	if err != nil {
		return nil, err
	}
	if length == 0 {
		body = http.NoBody
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, to, body)
	if err != nil {
		return nil, err
	}
	for name, value := range p.Headers {
		request.Header.Set(name, value)
	}
	request.ContentLength = length
	request.Header.Set("User-Agent", u.agent)
	return request, nil
}

// resolve is an address the server gave, which may lack scheme and host.
func (c *Client) resolve(ref string) (string, error) {
	base, err := url.Parse(c.url)
	if err != nil {
		return "", err
	}
	to, err := base.Parse(ref)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" {
		return "", errors.New("the server gave an address that cannot be used")
	}
	return to.String(), nil
}

// complete closes the upload. Repeating it answers the same, so a lost answer is
// asked for again.
func (u *upload) complete(ctx context.Context, digest string) (*UploadDone, error) {
	return again(ctx, u.Client, func() (*UploadDone, error) {
		return call[UploadDone](ctx, u.Client, http.MethodPost, "/v1/uploads/"+u.ID+"/complete", UploadComplete{SHA256: &digest})
	})
}

// digest reads the file once, stopping with ctx.
func (u *upload) digest(ctx context.Context) (string, error) {
	hash, buffer := sha256.New(), make([]byte, 1<<20)
	for at := int64(0); at < u.bytes; {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		n, err := u.file.ReadAt(buffer[:min(int64(len(buffer)), u.bytes-at)], at)
		hash.Write(buffer[:n])
		if at += int64(n); err != nil && at < u.bytes {
			return "", fmt.Errorf("%s became shorter while it was read: %w", u.file.Name(), err)
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// again repeats what may be repeated while its errors are passing ones. A server
// that has never answered is not waited for: its address may be wrong.
func again[T any](ctx context.Context, c *Client, do func() (*T, error)) (*T, error) {
	for try := 0; ; try++ {
		answer, err := do()
		if err == nil || !passing(err) || try == partTries-1 || !c.heard.Load() {
			return answer, err
		}
		if err := sleep(ctx, c.backoff(try)); err != nil {
			return nil, err
		}
	}
}

// counted reports what is read of a part, and holds off the watch that ends a
// request which stands still. The transport may go on reading after an early
// answer, so it is told when that is over.
type counted struct {
	r        io.Reader
	progress func(int64)
	watch    *time.Timer
	stall    time.Duration

	mu    sync.Mutex
	sent  int64
	ended bool
}

func (b *counted) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return 0, io.ErrClosedPipe
	}
	n, err := b.r.Read(p)
	b.sent += int64(n)
	b.progress(int64(n))
	b.watch.Reset(b.stall)
	return n, err
}

// end stops the reading and says how much was read.
func (b *counted) end() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	b.watch.Stop()
	return b.sent
}
