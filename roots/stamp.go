package roots

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Stamp is by what a file is known again: as long as it is the same, nobody has
// touched the file.
type Stamp struct {
	Bytes             int64
	Modified, Changed time.Time // its bytes; anything noted of it, by its volume's clock
	volume, number    uint64
}

// StampOf looks at an open file.
func StampOf(f *os.File) (Stamp, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return Stamp{}, unavailable(err)
	}
	return Stamp{st.Size, time.Unix(st.Mtim.Unix()), time.Unix(st.Ctim.Unix()), uint64(st.Dev), st.Ino}, nil
}

func (s Stamp) String() string {
	return fmt.Sprintf("%d %d %d %d %d", s.Bytes, s.Modified.UnixNano(), s.Changed.UnixNano(), s.volume, s.number)
}

// SameBytes tells whether a file is what it was, whatever has been noted of it:
// its label, or who may read it.
func (s Stamp) SameBytes(other Stamp) bool {
	s.Changed, other.Changed = time.Time{}, time.Time{}
	return s == other
}

// Rested tells whether the file had been left alone for a while: a change that
// comes right after another may leave the same stamp.
func (s Stamp) Rested(now time.Time) bool {
	return now.Sub(s.Modified) > restTime && now.Sub(s.Changed) > restTime
}

const restTime = 10 * time.Second
