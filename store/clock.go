package store

import (
	"context"
	"fmt"
	"time"

	"rendermac/fence"
)

// lookAtClocks is the first statement of every batch (F15): where the wall
// clock has moved apart from the monotonic one, the machine slept or the clock
// was set, and live leases move with it. It also notes the highest time used.
func (w *writer) lookAtClocks(wall time.Time, mono time.Duration) error {
	jump := fence.ClockJump(wall.Round(0).Sub(w.wall.Round(0)), mono-w.mono)
	if jump != 0 {
		w.log.Warn("clock jumped", "by", jump)
		if err := w.tx.shift(jump); err != nil {
			return err
		}
	}
	return w.tx.exec(`INSERT INTO settings (name, value) VALUES ('clock', ?1)
		ON CONFLICT (name) DO UPDATE SET value = ?1 WHERE CAST(value AS INTEGER) < CAST(?1 AS INTEGER)`, fmt.Sprint(ms(wall)))
}

// shift moves with the clock what counts in seconds from a moment on: live
// leases, of which those of cancelling jobs are never extended, the backoffs of
// Macs that failed (F12), since when each Mac is unheard (F13), and the next tries
// of webhooks. The 24 h of a verification stay as they are.
func (t *tx) shift(by time.Duration) error {
	t.outbox = true
	for _, query := range []string{
		`UPDATE job_attempts AS a INDEXED BY job_attempts_one_live SET lease_expires_at = lease_expires_at + ?1
			WHERE ` + live + ` AND a.status <> 'committing'
			AND (?1 < 0 OR job_id IN (SELECT id FROM jobs WHERE status = 'active'))`,
		`UPDATE job_attempts SET retry_after = retry_after + ?1
			WHERE retry_after IS NOT NULL AND job_id IN (SELECT id FROM jobs WHERE status = 'queued' OR status = 'active')`,
		`UPDATE devices SET last_seen_at = last_seen_at + ?1 WHERE online = 1`,
		`UPDATE webhook_deliveries SET next_try_at = next_try_at + ?1 WHERE state = 'pending'`,
		`UPDATE webhook_lanes SET due = due + ?1`,
	} {
		if err := t.exec(query, by.Milliseconds()); err != nil {
			return err
		}
	}
	return nil
}

// recover settles what the server's absence has left, before anyone connects:
// leases that had not run out when the store was last used get a full TTL,
// unless their job is cancelling (F15); no backoff and no wait of a webhook lasts
// longer than the longest, where the clock was set back meanwhile (F12); devices
// get their TTL to return; what the revocation file names is revoked (F18);
// and a database that was restored is fenced. Last, the file is completed: a crash
// may have come between a revocation and its line.
func (db *DB) recover(ctx context.Context) error {
	revoked, err := readRevoked(revokedFile(db.o.Path))
	if err != nil {
		return err
	}
	if revoked.wrong > 0 {
		db.o.Log.Warn("some lines of the file of revocations say nothing", "file", revokedFile(db.o.Path), "lines", revoked.wrong)
	}
	var before, ids int64
	err = db.read(ctx, func(q querier) error {
		return q.one(`SELECT coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'clock'), 0),
			coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'ids'), 0)`, nil, &before, &ids)
	})
	if err != nil {
		return err
	}
	var restored bool
	err = db.w.do(ctx, func(t *tx) error {
		if err := t.idsGoOn(max(before, ids) + 1); err != nil {
			return err
		}
		err := t.exec(`UPDATE job_attempts AS a INDEXED BY job_attempts_one_live SET lease_expires_at = CASE (SELECT status FROM jobs WHERE id = job_id)
				WHEN 'active' THEN ?1 ELSE min(lease_expires_at, ?1) END
			WHERE `+live+` AND a.status <> 'committing' AND lease_expires_at > ?2`, ms(t.now.Add(t.o.LeaseTTL)), before)
		if err != nil {
			return err
		}
		err = t.exec(`UPDATE job_attempts SET retry_after = min(retry_after, ?)
			WHERE retry_after IS NOT NULL AND job_id IN (SELECT id FROM jobs WHERE status = 'queued' OR status = 'active')`, ms(t.now.Add(fence.MaxBackoff)))
		if err != nil {
			return err
		}
		for _, query := range []string{
			`UPDATE webhook_deliveries SET next_try_at = ?1 WHERE state = 'pending' AND next_try_at > ?1`,
			`UPDATE webhook_lanes SET due = ?1 WHERE due > ?1`,
		} {
			if err := t.exec(query, ms(t.now.Add(longestRetryWait))); err != nil {
				return err
			}
		}
		if err := t.exec(`UPDATE devices SET last_seen_at = ? WHERE online = 1`, ms(t.now)); err != nil {
			return err
		}
		if restored, err = t.fenceRestored(); err != nil {
			return err
		}
		for _, id := range revoked.ids {
			if _, err := t.revoke(id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if restored {
		db.o.Log.Warn("the database was restored from a backup: every run, session, code and URL of before is over, and Macs that were paired after the backup pair again")
	}
	return db.noteRevoked(ctx)
}

// idsGoOn makes ids grow past every earlier one, also past those of a start
// before this one while the clock was set back.
func (t *tx) idsGoOn(from int64) error {
	t.idMS = uint64(from)
	return t.exec(`INSERT INTO settings (name, value) VALUES ('ids', ?1) ON CONFLICT (name) DO UPDATE SET value = ?1`, fmt.Sprint(from))
}
