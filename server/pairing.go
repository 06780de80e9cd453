package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"rendermac/api"
	"rendermac/fence"
	"rendermac/store"
)

func (s *Server) createPairing(ctx context.Context, c call, in *struct{ Body *api.PairingRequest }) (*body[api.Pairing], error) {
	name := ""
	if in.Body != nil && in.Body.Name != nil {
		name = *in.Body.Name
	}
	p, err := s.o.DB.CreatePairing(ctx, name)
	if err != nil {
		return nil, err
	}
	command := "rendermac pair " + s.baseForOthers(c) + " " + p.Code
	return answerWith(api.Pairing{Code: p.Code, ExpiresAt: p.ExpiresAt, Command: command}), nil
}

// pairing redeems codes. The code is the only secret here, so that guessing is
// slowed down per address.
type pairing struct {
	*Server
	guesses guesses
}

func (p *pairing) pair(ctx context.Context, c call, in *struct{ Body api.PairRequest }) (*body[api.PairAnswer], error) {
	now, from := p.o.Now(), c.echo.RealIP()
	if wait := p.guesses.begin(from, now); wait > 0 {
		seconds := int(math.Ceil(wait.Seconds()))
		return nil, refuse(http.StatusTooManyRequests, api.CodeTooManyRequests,
			fmt.Sprintf("Too many bad pairing codes came from this address; wait %d s.", seconds)).with("Retry-After", fmt.Sprint(seconds))
	}
	facts, err := json.Marshal(in.Body.Device)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(strings.TrimSpace(in.Body.Name), in.Body.Device.Model, "Mac")
	paired, err := p.o.DB.Pair(ctx, in.Body.Code, name, facts)
	if fence.CodeOf(err) != store.CodeBadCode {
		p.guesses.takeBack(from, now)
	}
	if err != nil {
		return nil, err
	}
	p.o.Log.Info("device paired", "device", paired.DeviceID, "from", from)
	return answerWith(api.PairAnswer{DeviceID: paired.DeviceID, DeviceToken: paired.Token}), nil
}

const (
	maxGuesses  = 5
	guessWindow = time.Minute
)

// guesses counts bad codes by address. A code counts from the moment it is
// tried, so that many at once gain nothing, until it has turned out to be good.
type guesses struct {
	mu     sync.Mutex
	recent []guess // oldest first
	counts map[string]int
}

type guess struct {
	from string
	at   time.Time
}

// begin counts a try, or says how long its address must wait.
func (g *guesses) begin(from string, now time.Time) (wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.recent) > 0 && now.Sub(g.recent[0].at) >= guessWindow {
		g.remove(0)
	}
	if g.counts[from] >= maxGuesses {
		first := slices.IndexFunc(g.recent, func(r guess) bool { return r.from == from })
		return max(time.Second, guessWindow-now.Sub(g.recent[first].at))
	}
	if g.counts == nil {
		g.counts = map[string]int{}
	}
	g.counts[from]++
	g.recent = append(g.recent, guess{from, now})
	return 0
}

// takeBack forgets the try that begin counted at that time.
func (g *guesses) takeBack(from string, at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.recent, guess{from, at}); i >= 0 {
		g.remove(i)
	}
}

func (g *guesses) remove(i int) {
	from := g.recent[i].from
	if g.counts[from]--; g.counts[from] == 0 {
		delete(g.counts, from)
	}
	g.recent = slices.Delete(g.recent, i, i+1)
}
