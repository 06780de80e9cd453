package artifacttest

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"strconv"
	"testing"
)

// FreeAddress is one that stays free until a server binds it, and binds it again:
// where all of 127/8 is this machine, on a host that nobody else has.
func FreeAddress(tb testing.TB) string {
	tb.Helper()
	host := "127.0.0.1"
	if runtime.GOOS == "linux" {
		host = netip.AddrFrom4([4]byte{127, few(), few(), few()}).String()
	}
	return net.JoinHostPort(host, FreePort(tb, host))
}

func few() byte { return byte(1 + rand.IntN(254)) }

// FreePort is one below those that the system gives to whoever asks for any, so
// that no connection going out, and nobody who listens everywhere, gets it meanwhile.
func FreePort(tb testing.TB, host string) string {
	tb.Helper()
	var err error
	for range 100 {
		port := strconv.Itoa(10_000 + rand.IntN(20_000))
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort(host, port)); err == nil {
			l.Close()
			return port
		}
	}
	tb.Fatal(err)
	return ""
}
