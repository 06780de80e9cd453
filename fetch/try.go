package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// try goes on from where the last try of the span ended.
func (d *download) try(ctx context.Context, s *span, feed func()) error {
	to, err := d.source.ask(ctx, d.o.URL)
	if err != nil {
		return err
	}
	answer, err := d.get(ctx, to, d.wanted(s))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body := fed{answer.Body, feed}
	skip, err := d.accept(answer, to, s)
	if err == nil && skip > 0 {
		_, err = io.CopyN(io.Discard, body, skip)
	}
	if err != nil {
		return err
	}
	return d.copy(body, s)
}

// wanted is the Range header's value; "" asks for everything.
func (d *download) wanted(s *span) string {
	switch {
	case d.inOrder || s.at == 0 && s.to == d.o.Bytes:
		return ""
	case s.to == d.o.Bytes:
		return fmt.Sprintf("bytes=%d-", s.at) // open, so that a longer object is noticed
	default:
		return fmt.Sprintf("bytes=%d-%d", s.at, s.to-1)
	}
}

func (d *download) get(ctx context.Context, to *signed, wanted string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to.url, nil)
	if err != nil {
		return nil, Hopeless{errors.New("the server gave an address that is none")}
	}
	for name, values := range to.header {
		req.Header[name] = values
	}
	req.Header.Set("Accept-Encoding", "identity") // a proxy that packs has no ranges of the object
	if wanted != "" {
		req.Header.Set("Range", wanted)
	}
	answer, err := d.o.Client.Do(req)
	if err != nil {
		return nil, withoutURL(err)
	}
	return answer, nil
}

// accept is how many bytes of the answer come before the span. 403 is a URL that
// has run out: the next try asks for a fresh one.
func (d *download) accept(answer *http.Response, from *signed, s *span) (skip int64, err error) {
	switch answer.StatusCode {
	case http.StatusOK:
		if d.wanted(s) != "" {
			return 0, Hopeless{errNoRanges}
		}
		return s.at, nil
	case http.StatusPartialContent:
		return 0, d.rightRange(answer.Header.Get("Content-Range"), s)
	case http.StatusRequestedRangeNotSatisfiable:
		if d.inOrder {
			return 0, Refusal(answer)
		}
		return 0, Hopeless{errNoRanges}
	case http.StatusForbidden:
		d.source.expired(from)
		return 0, Refusal(answer)
	case http.StatusNotFound, http.StatusGone:
		return 0, Hopeless{Refusal(answer)}
	default:
		return 0, Refusal(answer)
	}
}

// rightRange compares what the store says it sends with what was asked for, and
// the object's length with the promised one, where the store knows it.
func (d *download) rightRange(said string, s *span) error {
	if !strings.HasPrefix(said, fmt.Sprintf("bytes %d-", s.at)) {
		return Hopeless{errNoRanges}
	}
	_, length, _ := strings.Cut(said, "/")
	if n, err := strconv.ParseInt(length, 10, 64); err == nil && n != d.o.Bytes {
		return Hopeless{ErrDigest}
	}
	return nil
}

// copy takes what comes, and not a byte more than was promised.
func (d *download) copy(body io.Reader, s *span) error {
	buffer := make([]byte, bufferBytes)
	for {
		n, err := body.Read(buffer)
		if int64(n) > s.to-s.at {
			return Hopeless{ErrDigest}
		}
		if n > 0 {
			if _, err := d.file.WriteAt(buffer[:n], s.at); err != nil {
				return diskError(err)
			}
			d.gain(s.at, int64(n))
			s.at += int64(n)
		}
		switch {
		case err == io.EOF && s.at == s.to:
			return nil
		case err == io.EOF:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
	}
}

// fed is a body of which every byte keeps its try from being ended as idle.
type fed struct {
	io.Reader
	feed func()
}

func (f fed) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	f.feed()
	return n, err
}
