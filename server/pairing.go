package server

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"rendermac/api"
	"rendermac/fence"
	"rendermac/store"
)

func (s *Server) createPairing(ctx context.Context, c call, in *struct{ Body *api.PairingRequest }) (*body[api.Pairing], error) {
	name := ""
	if in.Body != nil && in.Body.Name != nil {
		name = *in.Body.Name
	}
	if name != "" && !isLabel(name) {
		return nil, invalid(api.Fault{Location: "name", Message: unreadable})
	}
	p, err := s.o.DB.CreatePairing(ctx, name)
	if err != nil {
		return nil, err
	}
	command := "rendermac pair " + s.baseForOthers(c) + " " + p.Code
	return answerWith(api.Pairing{Code: p.Code, DeviceID: p.DeviceID, ExpiresAt: p.ExpiresAt, Command: command}), nil
}

// pairing redeems codes. The code is the only secret here, so that guessing is
// slowed down per address.
type pairing struct {
	*Server
	guesses *guesses
}

const (
	maxBadCodes   = 5   // a minute and address
	maxDeviceName = 400 // bytes of a hundred characters at most
)

func (p *pairing) pair(ctx context.Context, c call, in *struct{ Body api.PairRequest }) (*body[api.PairAnswer], error) {
	if hasControls(in.Body.Name) {
		return nil, invalid(api.Fault{Location: "name", Message: unreadable})
	}
	from := c.echo.RealIP()
	at, wait := p.guesses.begin(from)
	if wait > 0 {
		return nil, tooMany("bad pairing codes", wait)
	}
	facts, err := json.Marshal(in.Body.Device)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(strings.TrimSpace(in.Body.Name), in.Body.Device.Model)
	if !isLabel(name) || len(name) > maxDeviceName { // a model is not asked for, so that it is no reason to refuse
		name = "Mac"
	}
	paired, err := p.o.DB.Pair(ctx, in.Body.Code, name, facts)
	if fence.CodeOf(err) != store.CodeBadCode {
		p.guesses.takeBack(from, at)
	}
	if err != nil {
		return nil, err
	}
	p.o.Log.Info("device paired", "device", paired.DeviceID, "from", from)
	return answerWith(api.PairAnswer{DeviceID: paired.DeviceID, DeviceToken: paired.Token}), nil
}
