package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"
)

// Tried is what came of one try.
type Tried struct {
	ID         string
	Round      int           // the delivery's, as it was sent
	Tries      int           // before it
	Status     int           // of the answer; 0 where none came
	Error      string        // why it does not count; empty: it was taken
	Gone       bool          // the receiver wants no more of it
	RetryAfter time.Duration // what the receiver asked for
}

// TriedOutcome is where a delivery stands after a try.
type TriedOutcome struct {
	State string // empty: the delivery was begun anew meanwhile, and this try counts for nothing
	Next  time.Time
}

// RecordTry notes a try of a pending delivery, and when the next one is due.
func (db *DB) RecordTry(ctx context.Context, r Tried) (TriedOutcome, error) {
	var out TriedOutcome
	err := db.w.do(ctx, func(t *tx) (err error) {
		var delivered time.Time
		switch {
		case r.Error == "":
			out, delivered = TriedOutcome{State: "delivered"}, t.now
		case r.Gone || r.Tries+1 >= maxTries:
			out = TriedOutcome{State: "failed"}
		default:
			wait, err := t.retryWait(r.Tries + 1)
			if err != nil {
				return err
			}
			out = TriedOutcome{State: "pending", Next: t.now.Add(max(wait, min(r.RetryAfter, maxRetryAfter)))}
		}
		n, err := t.affect(`UPDATE webhook_deliveries SET state = ?, tries = tries + 1, next_try_at = ?, last_status = nullif(?, 0), last_error = ?, delivered_at = ?
			WHERE id = ? AND state = 'pending' AND round = ? AND tries = ?`,
			out.State, msOrNull(out.Next), r.Status, orNull(r.Error), msOrNull(delivered), r.ID, r.Round, r.Tries)
		if err == nil && n == 0 {
			out = TriedOutcome{}
			return nil
		}
		return cmpErr(err, t.moveLane(r.ID))
	})
	return out, err
}

// retryWaits is how long after each failed try the next one comes: ten tries
// within a day, a receiver's short absence costs it seconds, a long one little.
var retryWaits = []time.Duration{
	5 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 90 * time.Minute,
	2 * time.Hour, 4 * time.Hour, 6 * time.Hour, 10 * time.Hour,
}

// maxTries is the first and one after each wait.
var maxTries = len(retryWaits) + 1

// maxRetryAfter bounds what a receiver may ask for.
const maxRetryAfter = time.Hour

// retryWait is the wait after the n-th try, a tenth more or less, so that what
// failed together does not come back together.
func (t *tx) retryWait(n int) (time.Duration, error) {
	dice, err := t.secret(4)
	if err != nil {
		return 0, fmt.Errorf("draw a wait: %w", err)
	}
	share := float64(binary.BigEndian.Uint32(dice)) / (1 << 32)
	return time.Duration(float64(retryWaits[n-1]) * (0.9 + 0.2*share)).Truncate(time.Millisecond), nil
}

// longestRetryWait is the longest of them (F15).
const longestRetryWait = 11 * time.Hour
