package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// asksFirst is from what length on a part waits for the server's "go on": what
// is refused, by the server or a proxy, is refused before it is sent.
const asksFirst = 1 << 20

// put sends one part until it is held. After a failure the server says whether
// it has arrived all the same, and signs its URL anew.
func (u *upload) put(ctx context.Context, p Part, to PartURL) error {
	for try := 0; ; try++ {
		err := u.putOnce(ctx, to)
		if err == nil {
			u.gain()
			return nil
		}
		if damaged(err) {
			if err := u.unchanged(ctx, p); err != nil {
				return err
			}
		}
		if !passing(err) && !refusedPart(err) && !damaged(err) || u.givesUp(try, err) {
			return failedPart(p, err)
		}
		if passing(err) {
			u.outage.begins(err, u.patience)
		}
		if err := u.pause(ctx, try, err); err != nil {
			return err
		}
		now, err := u.sign(ctx, []Part{p})
		if err != nil && passing(err) {
			continue
		}
		if err != nil {
			return err
		}
		fresh, missing := (*now)[p.Number]
		if !missing {
			u.has(p.Number)
			return nil
		}
		to = fresh
	}
}

// failedPart is the end of trying. That it came damaged each time says nothing
// against the upload: to begin it anew would not help.
func failedPart(p Part, err error) error {
	if damaged(err) {
		return fmt.Errorf("part %d arrived with other bytes than were sent, %d times: something between here and the store changes them; use another way, such as https", p.Number, partTries)
	}
	return fmt.Errorf("part %d: %w", p.Number, err)
}

// unchanged reads a part once more, of which the store got other bytes than its
// URL was bound to: here they must be the same still.
func (u *upload) unchanged(ctx context.Context, p Part) error {
	digest, err := u.digest(ctx, u.offset(p.Number), p.Bytes)
	if err == nil && digest != p.SHA256 {
		err = fmt.Errorf("%s %w", u.file.Name(), errChanged)
	}
	return err
}

// insist repeats what an upload needs for as long as its parts are repeated.
func insist[T any](ctx context.Context, u *upload, do func() (*T, error)) (*T, error) {
	for try := 0; ; try++ {
		answer, err := do()
		if err == nil && try > 0 {
			u.outage.ends()
		}
		if err == nil || !passing(err) || u.givesUp(try, err) {
			return answer, err
		}
		u.outage.begins(err, u.patience)
		if err := u.pause(ctx, try, err); err != nil {
			return nil, err
		}
	}
}

// givesUp tells whether it has been tried for long enough: a server or a network
// that is away may come back, what is refused is refused.
func (u *upload) givesUp(try int, err error) bool {
	silent := time.Since(began) - time.Duration(u.gained.Load())
	return try >= partTries-1 && (!passing(err) || silent > u.patience)
}

// refusedPart tells whether a fresh URL may help: the one used has expired, or
// its multipart has ended; or the connection to an S3 store broke off.
func refusedPart(err error) bool {
	return hasStatus(err, http.StatusForbidden) || hasStatus(err, http.StatusNotFound) ||
		hasCode(err, "RequestTimeout") || hasCode(err, "IncompleteBody")
}

// damaged tells whether the store got other bytes than the URL is bound to: the
// server's own code, and those of S3 stores.
func damaged(err error) bool {
	var e *Error
	return errors.As(err, &e) && slices.Contains(mismatches, e.Code)
}

var mismatches = []string{CodeDigestMismatch, "BadDigest", "XAmzContentChecksumMismatch", "XAmzContentSHA256Mismatch"}

func (u *upload) putOnce(ctx context.Context, p PartURL) (err error) {
	length := u.partLength(p.Number)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	body := &counted{r: io.NewSectionReader(u.file, u.offset(p.Number), length), progress: u.progress, stall: u.stall}
	request, err := u.partRequest(ctx, p, body, length)
	if err != nil {
		return err
	}
	body.watch = time.AfterFunc(u.stall, func() { cancel(&Unreachable{u.url, fmt.Errorf("part %d stood still", p.Number)}) })
	defer func() {
		sent := body.end()
		if err != nil {
			length = 0
		}
		u.progress(length - sent) // a part that was held already was not sent whole
	}()
	response, err := u.blobs.Do(request)
	if err != nil {
		return u.unreachable(ctx, err)
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode < 300:
		return nil
	case response.StatusCode == http.StatusExpectationFailed && request.Header.Get("Expect") != "":
		u.unasked.Store(true)
		length = 0 // of this try
		return u.putOnce(ctx, p)
	}
	return partRefusal(response, length, u.isOurs(request.URL.String()))
}

// partRefusal is what an answer without success is: nil where an earlier try has
// arrived, for the bytes are bound (F16).
func partRefusal(response *http.Response, length int64, ours bool) error {
	err := problem(response)
	switch {
	case hasCode(err, CodePartHeld):
		return nil
	case hasStatus(err, http.StatusRequestEntityTooLarge):
		return NewError(http.StatusRequestEntityTooLarge, CodeTooLarge, tooLarge(length, ours))
	}
	return err
}

// tooLarge says what to do about a proxy: S3 takes no parts as short as we do.
func tooLarge(length int64, ours bool) string {
	if ours {
		return fmt.Sprintf("A proxy before the server refuses bodies of %d bytes: set store.part_bytes: 1MiB on the server, or let the proxy pass more.", length)
	}
	return fmt.Sprintf("A proxy before the S3 store refuses bodies of %d bytes: let it pass them, or set store.part_bytes: 5MiB on the server.", length)
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
	if length > asksFirst && !u.unasked.Load() {
		request.Header.Set("Expect", "100-continue")
	}
	for name, value := range p.Headers {
		request.Header.Set(name, value)
	}
	request.ContentLength = length
	request.Header.Set("User-Agent", u.agent)
	return request, nil
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
