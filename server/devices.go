package server

import (
	"context"
	"encoding/json"

	"rendermac/api"
	"rendermac/store"
)

type deviceID struct {
	ID string `path:"id"`
}

func (s *Server) listDevices(ctx context.Context, c call, in *struct{ Paging }) (*body[api.List[api.Device]], error) {
	list, err := s.o.DB.Devices(ctx, in.Cursor, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return page(list, in.Limit, func(d store.Device) string { return d.ID }, c.showDevice), nil
}

func (s *Server) getDevice(ctx context.Context, c call, in *deviceID) (*body[api.Device], error) {
	d, err := s.o.DB.DeviceByID(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return answerWith(c.showDevice(d)), nil
}

// revokeDevice ends a device for good (F18).
func (s *Server) revokeDevice(ctx context.Context, _ call, in *deviceID) (*struct{}, error) {
	ended, err := s.o.DB.Revoke(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	s.revoked(in.ID, ended)
	return nil, nil
}

// showDevice leaves out, below admin, what is not the buyers' business.
func (c call) showDevice(d store.Device) api.Device {
	out := api.Device{ID: d.ID, Name: d.Name, State: d.State, Busy: d.Busy, Services: d.Services}
	if !c.isAdmin() {
		return out
	}
	running, succeeded, failed := int64(d.Busy), int64(d.Succeeded), int64(d.Failed)
	out.Slots, out.Tags, out.LastSeenAt = &d.Slots, d.Tags, d.LastSeenAt
	out.Running, out.Succeeded, out.Failed = &running, &succeeded, &failed
	out.Device = new(api.Machine)
	_ = json.Unmarshal(d.Facts, out.Device) // what an agent said of itself: shown as far as it is understood
	return out
}
