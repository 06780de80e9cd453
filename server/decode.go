package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"time"

	"golang.org/x/sys/unix"

	"rendermac/artifact"
	"rendermac/media"
	"rendermac/program"
)

// Decoder is the ffmpeg through which results are decoded whole, and a folder
// for copies of those that lie in a bucket.
type Decoder struct{ FFmpeg, Dir string }

const (
	decodeGrace = 2 * time.Second  // between asking ffmpeg to end and killing it
	decodeStall = 10 * time.Minute // how long ffmpeg may say nothing
	// decodeMargin stays free on the disk that copies go to.
	decodeMargin = 1 << 30
)

var (
	errDecodeStalled = errors.New("ffmpeg decoded nothing for ten minutes")
	errDecodeLate    = errors.New("ffmpeg was still at work when verify.deadline came")
)

// decode says what is wrong with a result's pictures and sound, or nothing. An
// error means that nobody knows: it is tried again, until the deadline of F8.
func (s *Server) decode(ctx context.Context, object artifact.Object, info artifact.Info, container string, left time.Duration) (complaint string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, max(left, time.Second), errDecodeLate)
	defer cancel()
	file, err := s.local(ctx, object, info.Bytes)
	if err != nil {
		return "", err
	}
	defer file.close()
	if complaint, err = s.o.Decoder.run(ctx, file.File, container); complaint == "" || err != nil {
		return "", err
	}
	// What went wrong is the result's fault only where its bytes can be read.
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(file, 0, info.Bytes)); err != nil {
		return "", fmt.Errorf("read the result once more: %w", err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != info.SHA256 {
		return "", errors.New("the result could not be decoded, nor be read as before")
	}
	return complaint, nil
}

// run hands ffmpeg the open file: it needs no name and can be told no other one.
func (d *Decoder) run(ctx context.Context, file *os.File, container string) (complaint string, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(decodeStall, func() { cancel(errDecodeStalled) })
	defer stalled.Stop()
	said := new(damage)
	cmd := program.Command(os.TempDir(), d.FFmpeg, media.DecodeArgs("/dev/fd/3", container))
	cmd.ExtraFiles = []*os.File{file}
	cmd.Stdout = program.Lines(func(string) { stalled.Reset(decodeStall) })
	cmd.Stderr = program.Lines(said.line)
	err = program.Run(ctx, cmd, decodeGrace)
	var exit *exec.ExitError
	switch {
	case err == nil && said.lines == 0:
		return "", nil
	case err == nil, errors.As(err, &exit) && exit.ExitCode() > 0: // not killed
		return said.summary(), nil
	}
	return "", fmt.Errorf("decode the result: %w", err)
}

// damage is what ffmpeg says of it.
type damage struct {
	lines       int
	first, last string
}

// address is what differs from run to run.
var address = regexp.MustCompile(` @ 0x[0-9a-f]+`)

func (d *damage) line(text string) {
	text = address.ReplaceAllString(text, "")
	d.last = text
	if media.DamageOf(text) {
		if d.lines++; d.lines == 1 {
			d.first = text
		}
	}
}

func (d *damage) summary() string {
	switch d.lines {
	case 0:
		return fmt.Sprintf("ffmpeg failed: %.300s", d.last)
	case 1:
		return fmt.Sprintf("1 decoding error: %.300s", d.first)
	}
	return fmt.Sprintf("%d decoding errors, the first: %.300s", d.lines, d.first)
}

// localFile is the result as a file of this machine.
type localFile struct {
	*os.File
	close func()
}

// local is the store's own file, or a copy that has no name: whatever becomes of
// this process, it leaves nothing behind.
func (s *Server) local(ctx context.Context, object artifact.Object, bytes int64) (*localFile, error) {
	if own, ok := object.(interface{ Local() *os.File }); ok {
		return &localFile{own.Local(), func() {}}, nil
	}
	if err := room(s.o.Decoder.Dir, bytes); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(s.o.Decoder.Dir, "decode-")
	if err != nil {
		return nil, fmt.Errorf("make a copy of the result to decode: %w", err)
	}
	copied := &localFile{file, func() { file.Close() }}
	err = os.Remove(file.Name())
	if err == nil {
		_, err = io.Copy(file, io.NewSectionReader(object, 0, bytes))
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart) // where a program that is handed the open file begins
	}
	if err = errors.Join(err, ctx.Err()); err != nil {
		copied.close()
		return nil, fmt.Errorf("copy the result to decode it: %w", err)
	}
	return copied, nil
}

func room(dir string, bytes int64) error {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return fmt.Errorf("ask how much room %s has: %w", dir, err)
	}
	if free := int64(uint64(s.Bavail) * uint64(s.Bsize)); free < bytes+decodeMargin {
		return fmt.Errorf("no room to decode a result: %s needs %d bytes and has %d free", dir, bytes+decodeMargin, free)
	}
	return nil
}
