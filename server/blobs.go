package server

import (
	"errors"
	"io"
	"net/http"

	"github.com/labstack/echo/v4"

	"rendermac/api"
	"rendermac/artifact"
	"rendermac/failpoint"
)

// blobs serves the directory store's own objects: PUT, GET and HEAD of
// /v1/blobs/*. The signed URL is the whole permission. These are plain echo
// handlers because huma would hold bodies in memory.
type blobs struct {
	store   *artifact.Dir
	moved   func(in, out int64)                                         // bytes, once the transfer is over
	problem func(c echo.Context, status int, code, detail string) error // writes a problem+json answer
}

func (b blobs) put(c echo.Context) error {
	if b.store == nil {
		return b.elsewhere(c)
	}
	body := &counted{ReadCloser: c.Request().Body}
	c.Request().Body = body
	err := b.store.Put(c.Response(), c.Request())
	b.moved(body.n, 0)
	if err != nil {
		return b.refuse(c, err)
	}
	failpoint.Answer("putBlob")
	return c.NoContent(http.StatusOK)
}

func (b blobs) get(c echo.Context) error {
	if b.store == nil {
		return b.elsewhere(c)
	}
	w := &sendfile{Response: c.Response()}
	err := b.store.Get(w, c.Request())
	b.moved(0, w.Size)
	if err != nil {
		return b.refuse(c, err)
	}
	if w.outOfRange {
		return b.problem(c, http.StatusRequestedRangeNotSatisfiable, api.CodeBadRange, "The object is shorter than that range; Content-Range says how long it is.")
	}
	return nil
}

// elsewhere answers where the store serves its URLs itself.
func (b blobs) elsewhere(c echo.Context) error {
	return b.problem(c, http.StatusNotFound, api.CodeNotFound, "This server keeps its files in an S3 store: use the URL that it gave, as it is.")
}

func (b blobs) refuse(c echo.Context, err error) error {
	var no *artifact.Refusal
	if !errors.As(err, &no) {
		return err // the store's own fault: failed answers
	}
	if no.Status == http.StatusServiceUnavailable {
		c.Response().Header().Set(echo.HeaderRetryAfter, "2")
	}
	return b.problem(c, no.Status, no.Code, no.Detail)
}

// counted knows how many bytes of a body were read.
type counted struct {
	io.ReadCloser
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n += int64(n)
	return n, err
}

// sendfile lets the kernel copy a file to the socket, which echo's Response
// alone hides from net/http. It holds back what net/http says of a range that is
// not there, for that is no problem document.
type sendfile struct {
	*echo.Response
	outOfRange bool
}

func (s *sendfile) WriteHeader(status int) {
	if s.outOfRange = status == http.StatusRequestedRangeNotSatisfiable; !s.outOfRange {
		s.Response.WriteHeader(status)
	}
}

func (s *sendfile) Write(p []byte) (int, error) {
	if s.outOfRange {
		return len(p), nil
	}
	return s.Response.Write(p)
}

func (s *sendfile) ReadFrom(src io.Reader) (int64, error) {
	if !s.Committed {
		s.WriteHeader(http.StatusOK)
	}
	n, err := io.Copy(s.Writer, src)
	s.Size += n
	return n, err
}
