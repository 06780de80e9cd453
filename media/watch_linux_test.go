package media

import (
	"testing"

	"golang.org/x/sys/unix"
)

// watch tells whether anything has opened the file since.
func watch(tb testing.TB, path string) func() bool {
	tb.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { unix.Close(fd) })
	if _, err := unix.InotifyAddWatch(fd, path, unix.IN_OPEN|unix.IN_ACCESS); err != nil {
		tb.Fatal(err)
	}
	return func() bool {
		n, _ := unix.Read(fd, make([]byte, 4096))
		return n > 0
	}
}
