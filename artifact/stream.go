package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"sync"
)

// Reading and writing take one core and hashing another: with both in turn a
// third of the throughput is lost (parts.md).
const (
	bufferSize = 256 << 10
	bufferings = 4 // buffers between the two
)

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// stream copies src to dst until src ends and says how much it was and what its
// SHA-256 is.
func stream(dst io.Writer, src io.Reader) (n int64, sum string, err error) {
	idle, filled := make(chan []byte, bufferings), make(chan []byte, bufferings)
	for range bufferings {
		b := buffers.Get().(*[bufferSize]byte)
		defer buffers.Put(b)
		idle <- b[:]
	}
	hash, hashed := sha256.New(), make(chan struct{})
	go func() {
		defer close(hashed)
		for b := range filled {
			hash.Write(b)
			idle <- b[:bufferSize]
		}
	}()
	n, err = pump(dst, src, idle, filled)
	close(filled)
	<-hashed
	return n, hex.EncodeToString(hash.Sum(nil)), err
}

// pump fills idle buffers, writes them, and passes them on.
func pump(dst io.Writer, src io.Reader, idle <-chan []byte, filled chan<- []byte) (n int64, err error) {
	for {
		b := <-idle
		read, err := io.ReadFull(src, b)
		if _, failed := dst.Write(b[:read]); failed != nil {
			return n, failed
		}
		n += int64(read)
		filled <- b[:read]
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// withContext stops reading when the context has ended.
type withContext struct {
	ctx context.Context
	io.Reader
}

func (r withContext) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}
