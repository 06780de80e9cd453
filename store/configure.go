package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
)

// DeviceChange is what an admin sets at a device; nil leaves a thing as it is.
type DeviceChange struct {
	Name     *string
	Draining *bool
	Slots    **int // a nil within leaves the number to the agent again
	Tags     *[]string
}

// Terms are what a device's session goes by. Of two, the one of the greater
// Revision is the newer.
type Terms struct {
	Revision int64 // the event that made them so
	Slots    int   // an admin's override, or else the agent's own
	Draining bool
}

// Configure changes a device that was not revoked. Where nothing changes, the
// Terms are none: Revision is 0.
func (db *DB) Configure(ctx context.Context, deviceID string, c DeviceChange) (Terms, error) {
	var out Terms
	err := db.w.do(ctx, func(t *tx) (err error) {
		out, err = t.configure(deviceID, c)
		return err
	})
	if err != nil {
		return Terms{}, err
	}
	return out, nil
}

func (t *tx) configure(id string, c DeviceChange) (Terms, error) {
	before, err := t.settingsOf(id)
	if err != nil {
		return Terms{}, err
	}
	after := before.with(c)
	updated := after.changes(before)
	if len(updated) == 0 && after.draining == before.draining {
		return Terms{}, nil
	}
	err = t.change("configure", `UPDATE devices SET name = ?, draining = ?, slots_override = ?, tags = ? WHERE id = ? AND revoked_at IS NULL`,
		after.name, after.draining, after.override, asJSON(after.tags), id)
	if err != nil {
		return Terms{}, err
	}
	if len(updated) > 0 {
		if err := t.event("device.updated", ref{device: id}, asJSON(updated)); err != nil {
			return Terms{}, err
		}
	}
	switch {
	case after.draining && !before.draining:
		err = t.event("device.draining", ref{device: id}, "{}")
	case before.draining && !after.draining:
		err = t.event("device.resumed", ref{device: id}, "{}")
	}
	if err != nil {
		return Terms{}, err
	}
	return t.terms(id)
}

// terms reads them as this transaction has made them.
func (t *tx) terms(id string) (Terms, error) {
	var out Terms
	err := t.one(`SELECT (SELECT max(id) FROM events), coalesce(slots_override, agent_slots), draining FROM devices WHERE id = ?`,
		[]any{id}, &out.Revision, &out.Slots, &out.Draining)
	return out, err
}

// settings are what an admin may set at a device.
type settings struct {
	name     string
	draining bool
	override *int
	tags     []string
}

func (t *tx) settingsOf(id string) (settings, error) {
	var s settings
	var tags string
	var revoked sql.NullInt64
	err := t.one(`SELECT name, draining, slots_override, tags, revoked_at FROM devices WHERE id = ?`, []any{id}, &s.name, &s.draining, &s.override, &tags, &revoked)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return s, notFound("device")
	case err == nil && revoked.Valid:
		return s, revokedOr(sql.ErrNoRows)
	case err != nil:
		return s, err
	}
	return s, json.Unmarshal([]byte(tags), &s.tags)
}

func (s settings) with(c DeviceChange) settings {
	if c.Name != nil {
		s.name = *c.Name
	}
	if c.Draining != nil {
		s.draining = *c.Draining
	}
	if c.Slots != nil {
		s.override = *c.Slots
	}
	if c.Tags != nil {
		s.tags = slices.Compact(slices.Sorted(slices.Values(*c.Tags)))
		s.tags = append([]string{}, s.tags...) // none is [], not null
	}
	return s
}

// changes are the new values of what is not as before; draining has events of
// its own.
func (s settings) changes(before settings) map[string]any {
	out := map[string]any{}
	if s.name != before.name {
		out["name"] = s.name
	}
	if asJSON(s.override) != asJSON(before.override) {
		out["slots"] = s.override
	}
	if !slices.Equal(s.tags, before.tags) {
		out["tags"] = s.tags
	}
	return out
}
