package fetch

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// ErrDigest is bytes that are not the object's, or too many of them, again and again.
var ErrDigest = errors.New("the bytes that arrived are not the ones the server promised")

var (
	errIdle     = errors.New("the connection stands still")
	errNoRanges = errors.New("the store does not answer with the range that was asked for")
)

// Hopeless is an error that trying again would not change.
type Hopeless struct{ Err error }

func (h Hopeless) Error() string { return h.Err.Error() }
func (h Hopeless) Unwrap() error { return h.Err }

// DiskError is this machine's fault, not the network's: a full disk, most often.
type DiskError struct{ Err error }

func (e DiskError) Error() string { return "the file cannot be written: " + e.Err.Error() }
func (e DiskError) Unwrap() error { return e.Err }

func diskError(err error) error {
	if err == nil {
		return nil
	}
	return Hopeless{DiskError{err}}
}

// RefusedError is an answer of the store's without the bytes.
type RefusedError struct {
	Status     int
	Code       string // as a problem document or an S3 store names it; "" if it names none
	Detail     string
	RetryAfter time.Duration
}

func (e *RefusedError) Error() string {
	switch {
	case e.Detail != "":
		return fmt.Sprintf("the store answered %d: %s", e.Status, e.Detail)
	case e.Code != "":
		return fmt.Sprintf("the store answered %d: %s", e.Status, e.Code)
	}
	return fmt.Sprintf("the store answered %d", e.Status)
}

// Refusal reads what an answer without success says of itself, be it a problem
// document or S3's XML. Of the rest of the text nothing is shown: an S3 store
// repeats the signature in it.
func Refusal(answer *http.Response) *RefusedError {
	e := &RefusedError{Status: answer.StatusCode}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	var said struct {
		Code    string `json:"code" xml:"Code"`
		Detail  string `json:"detail" xml:"-"`
		Message string `json:"-" xml:"Message"`
	}
	if json.Unmarshal(text, &said) != nil {
		xml.Unmarshal(text, &said) // a proxy answers in words of its own
	}
	e.Code, e.Detail = clip(said.Code), clip(said.Detail+said.Message)
	if n, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && n > 0 {
		e.RetryAfter = min(time.Duration(n)*time.Second, 5*time.Minute)
	}
	return e
}

func clip(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}

// withoutURL keeps a signed URL out of logs and messages.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
