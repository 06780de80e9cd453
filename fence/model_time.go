package fence

import (
	"slices"
	"time"
)

// Pair makes a device known.
func (m *Model) Pair(device string) {
	m.look()
	m.Devices = append(m.Devices, &ModelDevice{Device: Device{ID: device}})
	m.sayOf(device, "device.paired")
}

// ModelAnswer is what hello says of one listed run: resumed, or how it stands
// where the secret was right.
type ModelAnswer struct {
	Resumed bool
	Status  AttemptStatus
}

// Hello is a device's new session; what it lists and may keep gets a newer
// epoch and the next of the fresh secrets (F14).
func (m *Model) Hello(device, session string, list []Claim, fresh []string) ([]ModelAnswer, bool) {
	m.look()
	d := m.Device(device)
	if d == nil || d.Revoked {
		return nil, false
	}
	d.SessionID, d.Online, d.SeenAt = session, true, m.Now
	m.sayOf(device, "device.online")
	answers, kept := make([]ModelAnswer, len(list)), []string{}
	for i, c := range list {
		if j, a := m.listed(device, c); m.Resume && !slices.Contains(kept, c.AttemptID) {
			c.DeviceID = device
			if passes, _ := CheckResume(j, a, c, m.Now); !passes || len(fresh) == len(kept) {
				continue
			}
			r := m.Run(c.AttemptID)
			r.Attempt = Resumed(a, c, fresh[len(kept)], m.Now.Add(m.LeaseTTL))
			m.say("attempt.resumed", *r, "", r.Epoch)
			kept = append(kept, r.ID)
			answers[i].Resumed = true
		}
	}
	m.leave(device, kept)
	for i, c := range list {
		j, a := m.listed(device, c)
		c.DeviceID = device
		if _, known := CheckResume(j, a, c, m.Now); known && !answers[i].Resumed {
			answers[i].Status = a.Status
		}
	}
	return answers, true
}

func (m *Model) listed(device string, c Claim) (Job, Attempt) {
	c.DeviceID = device
	_, j, a := m.claimed(c)
	return j, a
}

// Bye is a device leaving on purpose. From any but its newest session it
// changes nothing (F14).
func (m *Model) Bye(device, session string, keep []string) {
	m.look()
	d := m.Device(device)
	if d == nil || d.SessionID == "" || d.SessionID != session {
		return
	}
	d.Online, d.SeenAt = false, m.Now
	m.sayOf(device, "device.offline")
	m.leave(device, keep)
}

// Seen is a sign of life of a session.
func (m *Model) Seen(device, session string) {
	m.look()
	if d := m.Device(device); d != nil && d.SessionID != "" && d.SessionID == session {
		d.Online, d.SeenAt = true, m.Now
	}
}

// Revoke ends a device; once it is gone, nothing more happens (F18).
func (m *Model) Revoke(device string) {
	m.look()
	d := m.Device(device)
	if d == nil || d.Revoked {
		return
	}
	d.Revoked, d.SessionID, d.Online = true, "", false
	m.sayOf(device, "device.revoked")
	m.leave(device, nil)
}

// Drain keeps new runs from a device, or lets it have them again; what it runs
// goes on.
func (m *Model) Drain(device string, drained bool) {
	m.look()
	d := m.Device(device)
	if d == nil || d.Revoked || d.Draining == drained {
		return
	}
	d.Draining = drained
	m.sayOf(device, map[bool]string{true: "device.draining", false: "device.resumed"}[drained])
}

// Expire sweeps leases, admission deadlines and silent devices, and says when
// time alone will next end something (F13).
func (m *Model) Expire() (next time.Time) {
	m.look()
	for _, r := range m.Runs {
		if r.Expired(m.Now) {
			m.lose(r, LeaseExpired)
		}
	}
	for _, j := range m.late() {
		if j.Status == JobQueued { // not failed a moment ago, with one it needed
			m.settle(j, ModelRun{Attempt: Attempt{JobID: j.ID}}, JobFailed, NoCapacity)
		}
	}
	for _, d := range m.Devices {
		if d.Online && !m.Now.Before(d.SeenAt.Add(m.DeviceTTL)) {
			d.Online = false
			m.sayOf(d.ID, "device.offline")
		}
	}
	return m.next()
}

// late are the queued jobs past their admission deadline, the first due first.
func (m *Model) late() (late []*ModelJob) {
	for _, j := range m.Jobs {
		if j.Status == JobQueued && !j.admits(m.Now) {
			late = append(late, j)
		}
	}
	slices.SortStableFunc(late, func(a, b *ModelJob) int { return a.Deadline.Compare(b.Deadline) })
	return late
}

func (m *Model) next() (next time.Time) {
	for _, r := range m.Runs {
		if r.Status.Leased() {
			next = Sooner(next, r.ExpiresAt)
		}
	}
	for _, j := range m.Jobs {
		if j.Status == JobQueued {
			next = Sooner(next, j.Deadline)
		}
	}
	for _, d := range m.Devices {
		if d.Online {
			next = Sooner(next, d.SeenAt.Add(m.DeviceTTL))
		}
	}
	return next
}

// Set moves the wall clock while no time passes; the next batch sees it (F15).
func (m *Model) Set(by time.Duration) { m.Now, m.jumped = m.Now.Add(by), m.jumped+by }

// Batch is one of the writer that the rules do not speak of: it looks at the
// clocks as each does.
func (m *Model) Batch() { m.look() }

// look is the first statement of every batch: live leases, backoffs and silences
// move with a clock that was set, but leases of cancelling jobs are never
// extended (F15).
func (m *Model) look() {
	jump := ClockJump(m.jumped, 0)
	for _, r := range m.Runs {
		job := m.Job(r.JobID).Status
		if jump != 0 && r.Status.Leased() && (jump < 0 || job == JobActive) {
			r.ExpiresAt = r.ExpiresAt.Add(jump)
		}
		if jump != 0 && !r.RetryAfter.IsZero() && (job == JobQueued || job == JobActive) {
			r.RetryAfter = r.RetryAfter.Add(jump)
		}
	}
	for _, d := range m.Devices {
		if d.Online {
			d.SeenAt = d.SeenAt.Add(jump)
		}
	}
	if m.jumped = 0; m.Now.After(m.latest) {
		m.latest = m.Now
	}
}

// Restart is the server's own absence (F15): what had not run out at the highest
// time used gets a full lease, unless its job is cancelling; no backoff lasts
// longer than the longest; devices get their TTL to return.
func (m *Model) Restart(absent time.Duration) {
	m.Now, m.jumped = m.Now.Add(absent), 0
	for _, r := range m.Runs {
		if longest := m.Now.Add(MaxBackoff); (m.Job(r.JobID).Status == JobQueued || m.Job(r.JobID).Status == JobActive) && r.RetryAfter.After(longest) {
			r.RetryAfter = longest
		}
		full := m.Now.Add(m.LeaseTTL)
		switch {
		case !r.Status.Leased() || !r.ExpiresAt.After(m.latest):
		case m.Job(r.JobID).Status == JobActive || r.ExpiresAt.After(full):
			r.ExpiresAt = full
		}
	}
	for _, d := range m.Devices {
		if d.Online {
			d.SeenAt = m.Now
		}
	}
	m.look()
}

func (m *Model) sayOf(device, kind string) {
	m.say(kind, ModelRun{Attempt: Attempt{DeviceID: device}}, "", 0)
}
