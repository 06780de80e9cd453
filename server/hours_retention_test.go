package server

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rendermac/store"
)

// The loop removes by itself within the hour, and not at all for a day where the
// clock has leapt a year ahead.
func TestRetention_ByTheHour(t *testing.T) {
	inBubble(t, func(b *bubble) {
		kept := func() int64 {
			synctest.Wait()
			n, err := b.db.StoredBytes(context.Background(), store.Uploads)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		b.mustUpload(b.submit, "a.mov", []byte("clip"))
		time.Sleep(testDay - time.Minute)
		if kept() != 4 {
			t.Error("gone before its time")
		}
		time.Sleep(time.Hour + 2*time.Minute)
		if kept() != 0 {
			t.Error("still there an hour after its time")
		}
		if said := b.log.String(); !strings.Contains(said, "uploads=1 upload_bytes=4") {
			t.Errorf("the log says %s", said)
		}

		b.mustUpload(b.submit, "b.mov", []byte("film"))
		b.wall.set(365 * testDay)
		time.Sleep(testDay)
		if kept() != 4 {
			t.Error("gone by a clock that has leapt a year")
		}
		if said := b.log.String(); !strings.Contains(said, "the clock is more than two days ahead") {
			t.Errorf("the log says %s", said)
		}
		time.Sleep(2 * time.Hour)
		if kept() != 0 {
			t.Error("still there after a day of that clock")
		}
	}, func(o *Options) { o.Retention.Uploads = testDay })
}
