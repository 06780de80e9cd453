package server

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"rendermac/agentproto"

	"github.com/coder/websocket"
)

// hub knows the newest session of each device.
type hub struct {
	mu       sync.Mutex
	sessions map[string]*session      // by device
	arriving map[string]chan struct{} // devices whose hello is between its transaction and its place here
	revoked  map[string]bool          // devices, since the start (F18)
	closed   bool
	live     sync.WaitGroup // agents that have said hello and not left yet
}

func newHub() *hub {
	return &hub{sessions: map[string]*session{}, arriving: map[string]chan struct{}{}, revoked: map[string]bool{}}
}

// begin lets an agent in that has said hello, until its end; not where the
// server stops.
func (h *hub) begin() (end func(), ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, false
	}
	h.live.Add(1)
	return h.live.Done, true
}

// arrive goes before a hello's transaction, and arrived after its session has
// its place here: hellos of one device follow one another, and what is sent to
// it meanwhile waits for the session that the store already knows (F14).
func (h *hub) arrive(deviceID string) (arrived func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.arriving[deviceID] != nil {
		h.await(deviceID)
	}
	landing := make(chan struct{})
	h.arriving[deviceID] = landing
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.arriving, deviceID)
		close(landing)
	}
}

// await gives up the lock until the hello that is under way has its place here.
func (h *hub) await(deviceID string) {
	if landing := h.arriving[deviceID]; landing != nil {
		h.mu.Unlock()
		<-landing
		h.mu.Lock()
	}
}

// register makes s its device's session and gives back what it replaces.
// refused is the close code where s may not begin: the server stops, or the
// device was revoked between the hello and here (F18).
func (h *hub) register(s *session) (replaced *session, refused websocket.StatusCode) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, agentproto.CloseGoingAway
	case h.revoked[s.DeviceID]:
		return nil, agentproto.CloseRevoked
	}
	old := h.sessions[s.DeviceID]
	h.sessions[s.DeviceID] = s
	return old, 0
}

func (h *hub) remove(s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sessions[s.DeviceID] == s {
		delete(h.sessions, s.DeviceID)
	}
}

// of is the device's session of this moment; one that is just arriving is waited
// for, but no later one: that one's hello has seen what is to be told.
func (h *hub) of(deviceID string) *session {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.await(deviceID)
	return h.sessions[deviceID]
}

// revoke gives back the device's session, and lets it have none any more.
func (h *hub) revoke(deviceID string) *session {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.revoked[deviceID] = true
	return h.sessions[deviceID]
}

// send reaches the device on its session of this moment, if it has one.
func (h *hub) send(deviceID string, m agentproto.Message) {
	if s := h.of(deviceID); s != nil {
		s.send(m)
	}
}

// release frees the slot of an attempt that was finalized (F11).
func (h *hub) release(deviceID, attemptID string) {
	if s := h.of(deviceID); s != nil {
		s.release(attemptID)
	}
}

// all lists the sessions.
func (h *hub) all() []*session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.sessions))
}

// waiting lists the sessions with a slot to fill, the idlest first and among
// equals the one that has waited longest.
func (h *hub) waiting() []*session {
	h.mu.Lock()
	defer h.mu.Unlock()
	type place struct {
		s          *session
		busy       float64
		lastOffers int64
	}
	var places []place
	for _, s := range h.sessions {
		if free, busy, last := s.load(); free > 0 {
			places = append(places, place{s, busy, last})
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.busy, b.busy), cmp.Compare(a.lastOffers, b.lastOffers), cmp.Compare(a.s.DeviceID, b.s.DeviceID))
	})
	out := make([]*session, len(places))
	for i, p := range places {
		out[i] = p.s
	}
	return out
}

// occupancy counts the sessions, their slots, and those that are taken.
func (h *hub) occupancy() (sessions, slots, busy int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sessions {
		has, takes := s.occupancy()
		slots, busy = slots+has, busy+takes
	}
	return len(h.sessions), slots, busy
}

// closeAll tells every agent that the server goes away, lets none in, and waits
// until all sessions have ended.
func (h *hub) closeAll() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	for _, s := range h.all() { // register lets no more in
		go s.close(agentproto.CloseGoingAway, "the server is going away")
	}
	h.live.Wait()
}
