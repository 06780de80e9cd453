package server

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"rendermac/api"
	"rendermac/store"
)

type deviceID struct {
	ID string `path:"id"`
}

func (s *Server) listDevices(ctx context.Context, c call, in *struct {
	Paging
	State []string `query:"state" enum:"online,offline,draining,revoked" default:"online,offline,draining" doc:"any of these"`
},
) (*body[api.List[api.Device]], error) {
	list, err := s.o.DB.Devices(ctx, in.State, in.Cursor, in.Limit+1)
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

// changeDevice sets what an admin may set; the device's session goes by it at once.
func (s *Server) changeDevice(ctx context.Context, c call, in *struct {
	ID   string `path:"id"`
	Body api.DeviceChange
},
) (*body[api.Device], error) {
	if faults := changeFaults(in.Body); len(faults) > 0 {
		return nil, invalid(faults...)
	}
	terms, err := s.o.DB.Configure(ctx, in.ID, store.DeviceChange(in.Body))
	if err != nil {
		return nil, err
	}
	s.configured(in.ID, terms)
	return s.getDevice(ctx, c, &deviceID{in.ID})
}

var tagWord = regexp.MustCompile(`^[\pL\pN][\pL\pN._-]*$`)

// changeFaults are those that the schema does not see.
func changeFaults(c api.DeviceChange) (faults []api.Fault) {
	if c.Name != nil && !isLabel(*c.Name) {
		faults = append(faults, api.Fault{Location: "name", Message: unreadable})
	}
	if c.Tags != nil {
		faults = append(faults, tagFaults("tags", *c.Tags)...)
	}
	return faults
}

// tagFaults are of tags that no device can bear, and no job ask for.
func tagFaults(at string, tags []string) (faults []api.Fault) {
	for i, tag := range tags {
		if len(tag) > maxTag || !tagWord.MatchString(tag) {
			faults = append(faults, api.Fault{Location: fmt.Sprintf("%s[%d]", at, i), Message: "must be one word of letters, digits, '.', '_' and '-'"})
		}
	}
	return faults
}

const (
	maxTag     = 64 // bytes
	unreadable = "must have something to read, and no control characters"
)

// isLabel says whether people can read a name: it is not blank and has no
// control characters.
func isLabel(name string) bool {
	return strings.TrimSpace(name) != "" && !hasControls(name)
}

func hasControls(text string) bool { return strings.ContainsFunc(text, unicode.IsControl) }

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
