package store

import (
	"context"
	"fmt"
	"time"
)

// clockLeap is how far the clock may be ahead of the last look at it, and how long
// one that was further ahead is watched.
const clockLeap = 24 * time.Hour

// ClockSettled notes that retention looks at the clock, and says whether it may go
// by it. A clock that was set years ahead would make everything old at once, and
// nobody can tell that from a server that was away for so long: where it has leapt
// by more than a day, a day must pass by that clock before it counts. Where nobody
// has looked yet, the oldest event stands for the last look.
func (db *DB) ClockSettled(ctx context.Context) (settled bool, err error) {
	err = db.w.do(ctx, func(t *tx) error {
		now := ms(t.now)
		var look, doubt int64
		err := t.one(`SELECT coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'retention_look'), (SELECT at FROM events ORDER BY id LIMIT 1), ?1),
			coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'retention_doubt'), 0)`, []any{now}, &look, &doubt)
		if err != nil {
			return err
		}
		switch leap := clockLeap.Milliseconds(); {
		case now-look > leap:
			doubt = now
		case now < doubt || now-doubt >= leap:
			doubt = 0
		}
		settled = doubt == 0
		for name, value := range map[string]int64{"retention_look": now, "retention_doubt": doubt} {
			err := t.exec(`INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2`, name, fmt.Sprint(value))
			if err != nil {
				return err
			}
		}
		return nil
	})
	return settled, err
}
