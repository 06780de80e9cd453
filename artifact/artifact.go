// Package artifact holds the bytes: what buyers upload and what Macs render.
//
// Store is the contract, for a directory (Dir) as for S3; package artifacttest
// is one suite for both. An object is written in parts, each through a signed
// URL that can write nothing but that part (F16), and is then published once,
// read-only. It never changes afterwards.
package artifact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"
	"unicode"
)

// Part is one part of a multipart write. Numbers begin at 1.
type Part struct {
	Number int    `json:"number"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256,omitempty"` // hex; "" in a URL binds it to the length only
}

// Info describes a published object.
type Info struct {
	Key    string
	Bytes  int64
	SHA256 string // hex; "" until Complete has hashed what it published
}

// URL is a signed URL and the headers that must be sent with it. A Dir's URL is
// path and query only; the server puts its own base before it.
type URL struct {
	URL     string
	Headers map[string]string
}

// Object is a published object, open for reading.
type Object interface {
	io.ReadSeekCloser
	io.ReaderAt
}

// Store keeps objects under keys such as outputs/<job id>/<attempt id>.mp4.
type Store interface {
	// Begin opens a multipart write of key, or finds it open, also after a
	// restart. A write found open takes on the new sizes: parts that keep their
	// place and length stay held, the others are dropped. ErrPublished if the
	// object is there already, ErrFull if there is no room for it.
	Begin(ctx context.Context, key string, bytes, partBytes int64) error
	// SignPart gives a URL that can PUT this part of the open write and do
	// nothing else: it is bound to method, key, part, length, SHA-256, expires
	// and owner, the id of the attempt or upload. A store whose parts are all bound
	// to digests, or none of them, drops what it holds when the first digest comes,
	// and answers ErrBound where there is none any more.
	SignPart(ctx context.Context, key string, p Part, owner string, expires time.Time) (URL, error)
	// Held lists the parts that are safely held, by number.
	Held(ctx context.Context, key string) ([]Part, error)
	// Drop forgets parts whose bytes a new grant no longer wants, held or on
	// their way, and ends the URLs that were signed for them before.
	Drop(ctx context.Context, key string, numbers []int) error
	// Complete ends every open writer, publishes the object read-only, and only
	// then hashes it. With ErrIncomplete nothing was published and the write is
	// still open. Completing what is published answers the same again.
	Complete(ctx context.Context, key string) (Info, error)
	// Abort ends every open writer, every URL and what was written. A key that
	// has no open write is no error; a published object stays.
	Abort(ctx context.Context, key string) error
	// Pending lists the keys of all open writes, so that those whose grant has
	// ended can be aborted.
	Pending(ctx context.Context) ([]string, error)

	// Open reads a published object.
	Open(ctx context.Context, key string) (Object, Info, error)
	// SignGet gives a URL that downloads the object under the given file name.
	SignGet(ctx context.Context, key, name string, expires time.Time) (URL, error)
	// SignSave is SignGet for a browser that is to keep the object, even one that
	// it could show: what a page says of its links counts for its own host only.
	SignSave(ctx context.Context, key, name string, expires time.Time) (URL, error)
	// Delete removes a published object; a key that has none is no error.
	Delete(ctx context.Context, key string) error
	// Check says whether the store can write just now.
	Check(ctx context.Context) error
}

// What a Store's verbs may answer.
var (
	ErrNotFound   = errors.New("the store has no such object or open upload")
	ErrIncomplete = errors.New("parts are missing: send them, then complete the upload")
	// ErrBound is a part without a digest of a write whose parts are bound to theirs.
	ErrBound     = errors.New("this upload's parts are bound to their SHA-256: say what this one's is")
	ErrPublished = errors.New("the object is published already and cannot be written again")
	ErrFull      = errors.New("the store is full")
	// ErrUnavailable is a store that cannot be reached just now: what was asked
	// for may work later, and nothing is known to be lost.
	ErrUnavailable = errors.New("the store cannot be reached just now")
)

// FullError is ErrFull with the numbers.
type FullError struct{ Need, Free int64 }

func (e *FullError) Error() string {
	return fmt.Sprintf("the store is full: %d bytes are needed and %d are free; make room and try again", e.Need, e.Free)
}

func (e *FullError) Unwrap() error { return ErrFull }

const (
	maxParts   = 10_000 // S3's limit, kept by every store
	maxKey     = 512
	maxElement = 255
)

// PartBytes is the part size for an object: want, grown to whole MiB so that
// the object needs no more parts than a store takes.
func PartBytes(bytes, want int64) int64 {
	if (layout{bytes, want}).parts() <= maxParts {
		return want
	}
	const mib = 1 << 20
	least := (bytes + maxParts - 1) / maxParts
	return (least + mib - 1) / mib * mib
}

// CheckKey refuses a key that is no plain relative path.
func CheckKey(key string) error {
	if len(key) > maxKey || key == "." || !fs.ValidPath(key) || strings.ContainsRune(key, '\\') ||
		strings.ContainsFunc(key, unicode.IsControl) {
		return fmt.Errorf("%.80q is not a key: it must be a relative path of at most %d bytes", key, maxKey)
	}
	for element := range strings.SplitSeq(key, "/") {
		if len(element) > maxElement {
			return fmt.Errorf("%.80q is not a key: an element is longer than %d bytes", key, maxElement)
		}
	}
	return nil
}

// layout is how an object is cut into parts: all of partBytes but the last. An
// empty object is one empty part.
type layout struct{ bytes, partBytes int64 }

func (l layout) check() error {
	if l.bytes < 0 || l.partBytes < 1 || l.parts() > maxParts {
		return fmt.Errorf("%d bytes cannot be written in parts of %d: at most %d parts are allowed", l.bytes, l.partBytes, maxParts)
	}
	return nil
}

func (l layout) parts() int64 {
	if l.bytes == 0 {
		return 1
	}
	return (l.bytes-1)/l.partBytes + 1
}

// length of part n, or -1 if there is no such part.
func (l layout) length(n int) int64 {
	if n < 1 || int64(n) > l.parts() {
		return -1
	}
	return min(l.partBytes, l.bytes-l.offset(n))
}

func (l layout) offset(n int) int64 { return int64(n-1) * l.partBytes }
