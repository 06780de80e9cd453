package qualify

import (
	"crypto/sha256"
	wire "encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

func init() { roles["pad"] = bePad }

// bePad makes the file that it is called with as large as QUALIFY_PAD says.
func bePad() {
	size, err := strconv.ParseInt(os.Getenv("QUALIFY_PAD"), 10, 64)
	if err == nil {
		err = pad(os.Args[1], size)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// stakes is how many places of a padding say where they stand.
const stakes = 4096

// pad appends a box that players skip (`free`, ISO/IEC 14496-12 8.1.2) until an
// mp4 has that size. It is a hole but for its stakes: a byte too many or too few,
// or a part at another's place, changes the digest.
func pad(file string, size int64) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	at, err := f.Seek(0, io.SeekEnd)
	if err != nil || at+16 > size {
		return errors.Join(err, fmt.Errorf("%d bytes cannot be padded to %d", at, size))
	}
	header := wire.BigEndian.AppendUint64([]byte{0, 0, 0, 1, 'f', 'r', 'e', 'e'}, uint64(size-at))
	err = errors.Join(f.Truncate(size), writeAt(f, at, header))
	for step, stake := max(8, (size-at)/stakes), at+16; err == nil && stake+8 <= size; stake += step {
		err = writeAt(f, stake, wire.BigEndian.AppendUint64(nil, uint64(stake)))
	}
	return errors.Join(err, f.Close())
}

func writeAt(f *os.File, at int64, b []byte) error {
	_, err := f.WriteAt(b, at)
	return err
}

// bigFilm is a film of a second that has that size.
func bigFilm(t testing.TB, size int64) (file string) {
	t.Helper()
	file = crashFilm(t)
	if err := pad(file, size); err != nil {
		t.Fatal(err)
	}
	return file
}

// ffmpegLarge is the real ffmpeg, whose results are then padded to a size.
const ffmpegLarge = ffmpegTests + `ffmpeg "$@" || exit
for result; do :; done
result=${result#file:}
[ ! -f "$result" ] || QUALIFY_ROLE=pad QUALIFY_PAD=%d exec '%s' "$result"
`

// largeTools is a folder with an ffmpeg whose results have that size.
func largeTools(t testing.TB, size int64) (ffmpeg string) {
	t.Helper()
	folder := t.TempDir()
	ffmpeg = filepath.Join(folder, "ffmpeg")
	probe, err := exec.LookPath("ffprobe")
	if err == nil {
		err = os.Symlink(probe, filepath.Join(folder, "ffprobe"))
	}
	if err == nil {
		err = os.WriteFile(ffmpeg, fmt.Appendf(nil, ffmpegLarge, size, os.Args[0]), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ffmpeg
}

// digest is a file's SHA-256.
func digest(t testing.TB, file string) string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
