// Package storetest opens real stores for tests and takes the first steps of a
// job's life for them.
package storetest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"
)

// TTL and Backoff are what MustOpen's stores use unless told otherwise.
const (
	TTL     = time.Minute
	Backoff = 5 * time.Second
)

// Clock is a wall and a monotonic clock that only the test moves.
type Clock struct {
	mu   sync.Mutex
	wall time.Time
	mono time.Duration
}

// NewClock starts at a fixed instant.
func NewClock() *Clock { return &Clock{wall: time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)} }

// Now is the wall clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wall
}

// Mono is the monotonic clock.
func (c *Clock) Mono() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mono
}

// Advance lets time pass.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall, c.mono = c.wall.Add(d), c.mono+d
}

// Jump sets the wall clock while no time passes, or while the machine sleeps.
func (c *Clock) Jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall = c.wall.Add(d)
}

// Options are a store's options in dir under the test's clock.
func Options(dir string, c *Clock) store.Options {
	return store.Options{
		Path: filepath.Join(dir, "rendermac.db"), Now: c.Now, Mono: c.Mono, Rand: rand.Reader,
		LeaseTTL: TTL, DeviceTTL: 90 * time.Second, RetryBackoff: Backoff, Resume: true, Log: slog.New(slog.DiscardHandler),
	}
}

// MustOpen opens a store and closes it with the test.
func MustOpen(tb testing.TB, o store.Options) *store.DB {
	tb.Helper()
	db, err := store.Open(context.Background(), o)
	if err != nil {
		tb.Fatalf("open the store: %v", err)
	}
	tb.Cleanup(func() { db.Close() })
	return db
}

// MustAccount is the first start's account, by way of its admin key.
func MustAccount(tb testing.TB, db *store.DB) string {
	tb.Helper()
	key, err := db.FirstStart(context.Background(), "")
	if err != nil || key == "" {
		tb.Fatalf("first start: key %q, %v", key, err)
	}
	if err := db.FirstStartDone(context.Background()); err != nil {
		tb.Fatalf("first start: %v", err)
	}
	k, err := db.KeyByPlaintext(context.Background(), key)
	if err != nil {
		tb.Fatalf("admin key: %v", err)
	}
	return k.AccountID
}

// MustUpload is a complete upload of a small file.
func MustUpload(tb testing.TB, db *store.DB, account string) string {
	tb.Helper()
	u, _, err := db.CreateUploadOnce(context.Background(), store.Once{}, store.NewUpload{AccountID: account, Name: "clip.mov", Bytes: 4, PartBytes: 1 << 20})
	if err == nil {
		_, err = db.CompleteUpload(context.Background(), u.ID, fence.HashToken("clip"), nil)
	}
	if err != nil {
		tb.Fatalf("upload: %v", err)
	}
	return u.ID
}

// Job is a job that any device of MustDevice can run.
func Job(account, upload string) store.NewJob {
	return store.NewJob{
		AccountID: account, Service: "ffmpeg.transcode", Resolved: json.RawMessage(`{"preset":"web-720p"}`),
		Needs: fence.Needs{Service: "ffmpeg.transcode"}, Inputs: []store.NewInput{{UploadID: upload}},
		MaxAttempts: 3, OutputExt: "mp4", ContentType: "video/mp4",
	}
}

// MustSubmit stores one job.
func MustSubmit(tb testing.TB, db *store.DB, j store.NewJob) string {
	tb.Helper()
	made, err := db.SubmitOnce(context.Background(), store.Once{}, j)
	if err != nil {
		tb.Fatalf("submit: %v", err)
	}
	return made.IDs[0]
}

// MustPair is a paired device that has not said hello.
func MustPair(tb testing.TB, db *store.DB, name string) store.Paired {
	tb.Helper()
	p, err := db.CreatePairing(context.Background(), "")
	if err != nil {
		tb.Fatalf("pairing: %v", err)
	}
	d, err := db.Pair(context.Background(), p.Code, name, json.RawMessage(`{}`))
	if err != nil {
		tb.Fatalf("pair: %v", err)
	}
	return d
}

// MustHello opens a session.
func MustHello(tb testing.TB, db *store.DB, deviceID string, resume ...fence.Claim) store.HelloOutcome {
	tb.Helper()
	out, err := db.Hello(context.Background(), store.Hello{
		DeviceID: deviceID, Slots: 2, Services: []string{"ffmpeg.transcode"},
		Facts: json.RawMessage(`{"features":["libx265"],"memory_bytes":17179869184}`), Resume: resume,
	})
	if err != nil {
		tb.Fatalf("hello: %v", err)
	}
	return out
}

// MustDevice is a paired device with a session.
func MustDevice(tb testing.TB, db *store.DB) store.Session {
	tb.Helper()
	return MustHello(tb, db, MustPair(tb, db, "mini").DeviceID).Session
}

// MustLease leases to s; there must be a job for it.
func MustLease(tb testing.TB, db *store.DB, s store.Session) *store.Offer {
	tb.Helper()
	out, err := db.Lease(context.Background(), s, 1<<20)
	if err != nil || out.Offer == nil {
		tb.Fatalf("lease: offer %v, %v", out.Offer, err)
	}
	return out.Offer
}

// Claim is the claim of the run that an offer started.
func Claim(s store.Session, o *store.Offer) fence.Claim {
	return fence.Claim{DeviceID: s.DeviceID, SessionID: s.SessionID, JobID: o.JobID, AttemptID: o.AttemptID, Epoch: o.Epoch, Token: o.CommitToken}
}

// MustStatus checks where a job and its newest attempt stand.
func MustStatus(tb testing.TB, db *store.DB, jobID string, job fence.JobStatus, attempt fence.AttemptStatus) store.Job {
	tb.Helper()
	j, err := db.JobByID(context.Background(), jobID)
	if err != nil {
		tb.Fatalf("job: %v", err)
	}
	got := fence.AttemptStatus("")
	if n := len(j.Attempts); n > 0 {
		got = j.Attempts[n-1].Status
	}
	if j.Status != job || got != attempt {
		tb.Fatalf("job is %s and attempt %q, want %s and %q", j.Status, got, job, attempt)
	}
	return j
}
