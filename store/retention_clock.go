package store

import (
	"context"
	"fmt"
	"time"
)

// How far the clock may be ahead of the last look at it that was noted, how long
// one that was further ahead is watched, and how often a look is noted: an idle
// server need not write every hour.
const (
	clockLeap    = 48 * time.Hour
	clockWatched = 24 * time.Hour
	lookNoted    = 24 * time.Hour
)

// clockLook is the last look at the clock, since when it is in doubt, if it is, and
// whether all that was noted.
type clockLook struct {
	at, doubt int64
	noted     bool
}

// ClockSettled notes that retention looks at the clock, and says whether it may go
// by it. A clock that was set years ahead would make everything old at once, and
// nobody can tell that from a server that was away for so long: where it has leapt
// by more than two days, one must pass by that clock before it counts. Where nobody
// has looked yet, the oldest event stands for the last look.
func (db *DB) ClockSettled(ctx context.Context) (settled bool, err error) {
	now := ms(db.o.Now())
	var last clockLook
	err = db.read(ctx, func(q querier) (err error) {
		last, err = lastLook(q, now)
		return err
	})
	next := last.then(now)
	if err != nil || next == last {
		return next.doubt == 0 && err == nil, err
	}
	err = db.w.do(ctx, func(t *tx) error {
		now := ms(t.now)
		last, err := lastLook(t.querier, now)
		if err != nil {
			return err
		}
		next = last.then(now)
		for name, value := range map[string]int64{"retention_look": next.at, "retention_doubt": next.doubt} {
			err := t.exec(`INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2`, name, fmt.Sprint(value))
			if err != nil {
				return err
			}
		}
		return nil
	})
	return next.doubt == 0 && err == nil, err
}

func lastLook(q querier, now int64) (l clockLook, err error) {
	err = q.one(`SELECT coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'retention_look'), (SELECT at FROM events ORDER BY id LIMIT 1), ?1),
		coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'retention_doubt'), 0),
		EXISTS (SELECT 1 FROM settings WHERE name = 'retention_look')`, []any{now}, &l.at, &l.doubt, &l.noted)
	return l, err
}

// then is what to note now, or the same where nothing is to be.
func (l clockLook) then(now int64) clockLook {
	next := l
	switch {
	case now-l.at > clockLeap.Milliseconds():
		next.doubt = now
	case now < l.doubt || now-l.doubt >= clockWatched.Milliseconds():
		next.doubt = 0
	}
	if !l.noted || next.doubt != l.doubt || now < l.at || now-l.at >= lookNoted.Milliseconds() {
		next.at, next.noted = now, true
	}
	return next
}
