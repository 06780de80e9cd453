package artifact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
)

// s3Range reads an object, pinned by its ETag, from at to end, and goes on where
// a connection broke.
type s3Range struct {
	s       *S3
	ctx     context.Context
	name    string
	etag    string
	at, end int64

	body  io.ReadCloser
	tries int // without a byte
}

const (
	rangeTries = 5
	rangeWait  = 200 * time.Millisecond
)

func (r *s3Range) Read(p []byte) (int, error) {
	for r.at < r.end {
		if r.body == nil {
			if err := r.open(); err != nil {
				return 0, err
			}
		}
		n, err := r.body.Read(p[:min(int64(len(p)), r.end-r.at)])
		r.at += int64(n)
		if err != nil {
			r.Close()
		}
		if n > 0 {
			r.tries = 0
			return n, nil
		}
		if r.tries++; r.tries >= rangeTries {
			return 0, r.s.failure(r.ctx, fmt.Errorf("the download broke off: %w", cmp.Or(err, io.ErrNoProgress)))
		}
		if err := wait(r.ctx, rangeWait); err != nil {
			return 0, err
		}
	}
	return 0, io.EOF
}

func (r *s3Range) Close() error {
	if r.body == nil {
		return nil
	}
	err := r.body.Close()
	r.body = nil
	return err
}

// open asks for what is left.
func (r *s3Range) open() error {
	ctx, stop := context.WithCancel(r.ctx)
	watch := time.AfterFunc(s3Patience, stop)
	o := minio.GetObjectOptions{}
	o.Set("Range", fmt.Sprintf("bytes=%d-%d", r.at, r.end-1))
	if err := o.SetMatchETag(r.etag); err != nil {
		stop()
		return err
	}
	body, _, header, err := r.s.core.GetObject(ctx, r.s.o.Bucket, r.name, o)
	if err != nil {
		stop()
		if refusedWith(err, "PreconditionFailed") {
			return fmt.Errorf("the store's object %s was replaced while it was read", r.name)
		}
		return r.s.failure(r.ctx, err)
	}
	if got := header.Get("Content-Range"); r.at > 0 && !strings.HasPrefix(got, "bytes "+strconv.FormatInt(r.at, 10)+"-") {
		stop()
		return errors.New("the S3 server does not answer with the range that it was asked for")
	}
	r.body = &watched{body, watch, stop}
	return nil
}

// watched is a body that is given up when nothing comes.
type watched struct {
	io.ReadCloser
	watch *time.Timer
	stop  context.CancelFunc
}

func (w *watched) Read(p []byte) (int, error) {
	w.watch.Reset(s3Patience)
	return w.ReadCloser.Read(p)
}

func (w *watched) Close() error {
	w.watch.Stop()
	w.stop()
	return w.ReadCloser.Close()
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// s3Object reads an object by blocks and keeps the last few, so that a reader of
// boxes and headers does not cost a request each.
type s3Object struct{ *io.SectionReader }

func (o s3Object) Close() error { return nil }

const (
	blockBytes = 512 << 10
	blocksKept = 4
)

type s3Blocks struct {
	s3Range // a pattern for that of each block
	mu      sync.Mutex
	kept    []s3Block // the last one used comes last
}

type s3Block struct {
	number int64
	bytes  []byte
}

// ReadAt implements io.ReaderAt.
func (b *s3Blocks) ReadAt(p []byte, at int64) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for n < len(p) {
		if at >= b.end {
			return n, io.EOF
		}
		block, err := b.block(at / blockBytes)
		if err != nil {
			return n, err
		}
		copied := copy(p[n:], block[at%blockBytes:])
		n, at = n+copied, at+int64(copied)
	}
	return n, nil
}

func (b *s3Blocks) block(number int64) ([]byte, error) {
	for i, block := range b.kept {
		if block.number == number {
			b.kept = append(append(b.kept[:i:i], b.kept[i+1:]...), block)
			return block.bytes, nil
		}
	}
	r := b.s3Range
	r.at = number * blockBytes
	r.end = min(b.end, r.at+blockBytes)
	defer r.Close()
	bytes := make([]byte, r.end-r.at)
	if _, err := io.ReadFull(&r, bytes); err != nil {
		return nil, err
	}
	b.kept = append(b.kept, s3Block{number, bytes})
	b.kept = b.kept[max(0, len(b.kept)-blocksKept):]
	return bytes, nil
}

// Open implements Store. ctx ends the reading too.
func (s *S3) Open(ctx context.Context, key string) (Object, Info, error) {
	if err := s.Find(ctx); err != nil {
		return nil, Info{}, err
	}
	info, etag, err := s.stat(ctx, key)
	if err != nil {
		return nil, Info{}, err
	}
	blocks := &s3Blocks{s3Range: s3Range{s: s, ctx: ctx, name: s.name(folderObjects, key), etag: etag, end: info.Bytes}}
	return s3Object{io.NewSectionReader(blocks, 0, info.Bytes)}, info, nil
}

// SignGet implements Store.
func (s *S3) SignGet(ctx context.Context, key, name string, expires time.Time) (URL, error) {
	return s.signGet(ctx, key, name, false, expires)
}

// SignSave implements Store.
func (s *S3) SignSave(ctx context.Context, key, name string, expires time.Time) (URL, error) {
	return s.signGet(ctx, key, name, true, expires)
}

// signGet can have S3 send no more headers than these two: that a page of HTML does
// not run is up to its not being shown inline.
func (s *S3) signGet(ctx context.Context, key, name string, save bool, expires time.Time) (URL, error) {
	if err := CheckKey(key); err != nil {
		return URL{}, err
	}
	contentType, disposition := presentation(key, name, save)
	q := url.Values{"response-content-type": {contentType}, "response-content-disposition": {disposition}}
	return s.presign(ctx, http.MethodGet, key, q, nil, map[string]string{}, expires)
}
