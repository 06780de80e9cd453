package webtest

import (
	"context"
	"net/http"
	"sync"

	"rendermac/agentproto"
	"rendermac/api"

	"github.com/coder/websocket"
)

// pair makes a device by this name that no agent speaks for.
func (s *studio) pair(name string) *api.PairAnswer {
	s.Helper()
	code, err := s.client.CreatePairing(s.Context(), api.PairingRequest{Name: &name})
	must(s, err)
	device, err := s.client.Pair(s.Context(), api.PairRequest{Code: code.Code, Name: name})
	must(s, err)
	return device
}

// mac is an agent of the test's own hand: it speaks the protocol over a real
// WebSocket, takes jobs, and says of them only what the test says.
type mac struct {
	*studio
	conn *websocket.Conn
	runs []agentproto.IDs
}

// connect speaks for a device, and takes as many jobs as it has slots; they must
// be queued.
func (s *studio) connect(device *api.PairAnswer, slots int) *mac {
	s.Helper()
	conn, _, err := websocket.Dial(s.Context(), s.url+"/v1/provider/ws", &websocket.DialOptions{
		Subprotocols: []string{agentproto.Subprotocol}, HTTPHeader: http.Header{"Authorization": {"Bearer " + device.DeviceToken}},
	})
	must(s, err)
	conn.SetReadLimit(agentproto.MaxFrame)
	m := &mac{studio: s, conn: conn}
	m.say(&agentproto.Hello{Protocol: agentproto.Version, AgentVersion: "test", Slots: slots, Services: []string{"ffmpeg.transcode"}})
	m.say(&agentproto.Ready{SlotsFree: slots})
	for len(m.runs) < slots {
		if offer, is := m.hear().(*agentproto.LeaseOffer); is {
			m.runs = append(m.runs, offer.IDs)
		}
	}
	m.listen()
	return m
}

func (m *mac) say(message agentproto.Message) {
	m.Helper()
	frame, err := agentproto.Encode(message)
	must(m, err)
	must(m, m.conn.Write(m.Context(), websocket.MessageText, frame))
}

func (m *mac) hear() agentproto.Message {
	m.Helper()
	ctx, cancel := context.WithTimeout(m.Context(), Patience)
	defer cancel()
	_, frame, err := m.conn.Read(ctx)
	must(m, err)
	message, err := agentproto.Decode(frame)
	must(m, err)
	return message
}

// listen reads what the server answers until the test ends, so that it may go on.
func (m *mac) listen() {
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			if _, _, err := m.conn.Read(context.Background()); err != nil {
				return
			}
		}
	})
	m.Cleanup(func() {
		m.conn.CloseNow()
		reading.Wait()
	})
}

// progress says how far each of its runs is.
func (m *mac) progress(fraction, fps, left float64) {
	m.Helper()
	for _, run := range m.runs {
		m.say(&agentproto.Progress{IDs: run, Phase: "running", Fraction: &fraction, FPS: &fps, ETASeconds: &left})
	}
}
