package server

import (
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"rendermac/api"
)

const (
	guessWindow = time.Minute
	maxNetworks = 10_000 // in each half of the memory
)

// guesses counts wrong secrets by address: an IPv4 address, or a whole IPv6 /64,
// which is one household's. A try counts from the moment it is made, so that many
// at once gain nothing, until it has turned out to be good.
//
// The newer half of the memory becomes the older one each minute, or when it is
// full: someone with more than maxNetworks addresses needs no patience anyway.
type guesses struct {
	max  int // a minute
	mono func() time.Duration

	mu           sync.Mutex
	newer, older map[netip.Prefix][]time.Duration // when each network tried, the oldest first
	since        time.Duration
}

func newGuesses(most int, mono func() time.Duration) *guesses {
	return &guesses{max: most, mono: mono, newer: map[netip.Prefix][]time.Duration{}}
}

// begin counts a try, or says how long its address must wait.
func (g *guesses) begin(from string) (at, wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, network := g.mono(), networkOf(from)
	g.turn(at)
	tries, known := g.newer[network]
	if !known {
		tries = g.older[network]
	}
	tries = slices.DeleteFunc(tries, func(t time.Duration) bool { return at-t >= guessWindow })
	if len(tries) >= g.max {
		g.newer[network] = tries
		return at, max(time.Second, guessWindow-(at-tries[0]))
	}
	g.newer[network] = append(tries, at)
	return at, 0
}

func (g *guesses) turn(now time.Duration) {
	if now-g.since >= guessWindow || len(g.newer) >= maxNetworks {
		g.older, g.newer, g.since = g.newer, map[netip.Prefix][]time.Duration{}, now
	}
}

// takeBack forgets the try that begin counted at that time.
func (g *guesses) takeBack(from string, at time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, half := range []map[netip.Prefix][]time.Duration{g.newer, g.older} {
		network := networkOf(from)
		if i := slices.Index(half[network], at); i >= 0 {
			half[network] = slices.Delete(half[network], i, i+1)
			return
		}
	}
}

// networkOf is the zero one for what is no address.
func networkOf(from string) netip.Prefix {
	addr, err := netip.ParseAddr(from)
	if err != nil {
		return netip.Prefix{}
	}
	addr, bits := addr.Unmap().WithZone(""), 64
	if addr.Is4() {
		bits = 32
	}
	network, _ := addr.Prefix(bits) // errs only beyond the address's length
	return network
}

// tooMany tells an address to wait.
func tooMany(what string, wait time.Duration) *refusal {
	seconds := int(math.Ceil(wait.Seconds()))
	return refuse(http.StatusTooManyRequests, api.CodeTooManyRequests,
		fmt.Sprintf("Too many %s came from this address; wait %d s.", what, seconds)).with("Retry-After", fmt.Sprint(seconds))
}
