package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"time"
)

// Device is a paired Mac.
type Device struct {
	ID, Name   string
	State      string // online, offline, draining, revoked
	Slots      int
	Busy       int // live attempts
	Services   []string
	Facts      json.RawMessage
	Tags       []string
	LastSeenAt *time.Time
	Succeeded  int
	Failed     int
	Running    []string // job ids

	Draining     bool // also while it is offline
	AgentVersion string
	AgentSlots   int // as many as the agent says itself
	Override     *int
	PairedAt     time.Time
	OnlineSince  *time.Time // of the time online now, or of the last one
	RevokedAt    *time.Time
}

const deviceState = `CASE WHEN d.revoked_at IS NOT NULL THEN 'revoked' WHEN d.online = 0 THEN 'offline' WHEN d.draining = 1 THEN 'draining' ELSE 'online' END`

const deviceColumns = `d.id, d.name, ` + deviceState + `,
	coalesce(d.slots_override, d.agent_slots), d.services, d.facts, d.tags, d.last_seen_at,
	(SELECT count(*) FROM job_attempts a WHERE a.device_id = d.id AND a.ended_at IS NOT NULL AND a.status = 'succeeded'),
	(SELECT count(*) FROM job_attempts a WHERE a.device_id = d.id AND a.ended_at IS NOT NULL AND a.status IN ('failed', 'lost')),
	(SELECT coalesce(group_concat(a.job_id), '') FROM job_attempts a INDEXED BY job_attempts_one_live WHERE a.device_id = d.id
		AND ` + live + `),
	d.draining, d.agent_version, d.agent_slots, d.slots_override, d.paired_at, d.online_since, d.revoked_at`

func scanDevice(rows *sql.Rows) (Device, error) {
	var d Device
	var services, facts, tags, running string
	var seen, online, revoked sql.NullInt64
	var paired int64
	err := rows.Scan(&d.ID, &d.Name, &d.State, &d.Slots, &services, &facts, &tags, &seen, &d.Succeeded, &d.Failed, &running,
		&d.Draining, &d.AgentVersion, &d.AgentSlots, &d.Override, &paired, &online, &revoked)
	if err != nil {
		return d, err
	}
	_ = json.Unmarshal([]byte(services), &d.Services) // our own rows: asJSON wrote them
	_ = json.Unmarshal([]byte(tags), &d.Tags)
	d.Facts, d.LastSeenAt = json.RawMessage(facts), timeOrNil(seen)
	d.PairedAt, d.OnlineSince, d.RevokedAt = fromMS(paired), timeOrNil(online), timeOrNil(revoked)
	if running != "" {
		d.Running = strings.Split(running, ",")
	}
	d.Busy = len(d.Running)
	return d, nil
}

// DeviceByID loads one device.
func (db *DB) DeviceByID(ctx context.Context, id string) (Device, error) {
	list, err := db.devices(ctx, `WHERE d.id = ?`, id)
	if err == nil && len(list) == 0 {
		err = notFound("device")
	}
	if err != nil {
		return Device{}, err
	}
	return list[0], nil
}

// Devices lists devices of these states after an id, in the order in which their
// pairing codes were made.
func (db *DB) Devices(ctx context.Context, states []string, after string, limit int) ([]Device, error) {
	return db.devices(ctx, `WHERE d.id > ? AND `+deviceState+` IN (SELECT value FROM json_each(?)) ORDER BY d.id LIMIT ?`, after, asJSON(states), limit)
}

func (db *DB) devices(ctx context.Context, where string, args ...any) ([]Device, error) {
	var out []Device
	err := db.read(ctx, func(q querier) error {
		return q.each(`SELECT `+deviceColumns+` FROM devices d `+where, args, func(rows *sql.Rows) error {
			d, err := scanDevice(rows)
			out = append(out, d)
			return err
		})
	})
	return out, err
}

// OnlineServices counts the online devices that offer each service.
func (db *DB) OnlineServices(ctx context.Context) (map[string]int, error) {
	out := map[string]int{}
	err := db.read(ctx, func(q querier) error {
		return q.each(`SELECT s.value, count(*) FROM devices d, json_each(d.services) s
			WHERE d.online = 1 AND d.draining = 0 AND d.revoked_at IS NULL GROUP BY s.value`, nil, func(rows *sql.Rows) error {
			var name string
			var n int
			err := rows.Scan(&name, &n)
			out[name] = n
			return err
		})
	})
	return out, err
}
