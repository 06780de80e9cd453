package store_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

// backup copies the database as it is now.
func (f *fixture) backup(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "backup.db")
	_, err := f.DB.Backup(ctx, file)
	must(t, err)
	return file
}

// restore stops the store, restores, and starts it again.
func (f *fixture) restore(t *testing.T, file string) store.Restored {
	t.Helper()
	_ = f.Close() // a test may have done so
	f.clock.Advance(time.Second)
	r, err := store.Restore(ctx, file, f.path(), f.clock.Now())
	must(t, err)
	f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
	return r
}

func (f *fixture) path() string { return filepath.Join(f.dir, "rendermac.db") }

func TestRestore_WhatWasIssuedIsFenced(t *testing.T) {
	f := open(t)
	live, cancelling, verifying := f.lease(t), f.lease(t), f.committing(t)
	_, err := f.Cancel(ctx, cancelling.JobID)
	must(t, err)
	file := f.backup(t)
	must(t, f.progress(live, fence.AttemptRunning)) // works until the restore
	later := f.lease(t)
	f.restore(t, file)
	for _, c := range []fence.Claim{live, cancelling, later} {
		refused(t, f.progress(c, fence.AttemptRunning), fence.CodeLeaseConflict)
	}
	storetest.MustStatus(t, f.DB, live.JobID, fence.JobQueued, fence.AttemptLost)
	storetest.MustStatus(t, f.DB, cancelling.JobID, fence.JobCancelled, fence.AttemptCancelled)
	storetest.MustStatus(t, f.DB, verifying.JobID, fence.JobVerifying, fence.AttemptCommitting)
	if _, err := f.JobByID(ctx, later.JobID); fence.CodeOf(err) != fence.CodeNotFound {
		t.Errorf("a job of after the backup: %v", err)
	}
	out, err := f.Hello(ctx, store.Hello{DeviceID: f.mac.DeviceID, Slots: 4, Services: []string{"ffmpeg.transcode"}, Facts: []byte("{}"), Resume: []fence.Claim{live, later}})
	must(t, err)
	if len(out.Resumptions) != 2 || out.Resumptions[0].Resumed || out.Resumptions[1].Resumed {
		t.Errorf("resumed: %+v", out.Resumptions)
	}
	if again := storetest.MustLease(t, f.DB, out.Session); again.JobID != live.JobID || again.AttemptNumber != 2 || again.AttemptID <= later.AttemptID {
		t.Errorf("the lost job runs again as %+v", again)
	}
}

func TestRestore_SessionsCodesAndURLsAreVoid(t *testing.T) {
	f := open(t)
	code, err := f.CreatePairing(ctx, "")
	must(t, err)
	before, err := f.SigningKey(ctx)
	must(t, err)
	f.restore(t, f.backup(t))
	if _, err := f.Pair(ctx, code.Code, "new", []byte(`{}`)); err == nil {
		t.Error("a code of before the restore pairs")
	}
	after, err := f.SigningKey(ctx)
	must(t, err)
	if slices.Equal(before, after) {
		t.Error("URLs that were signed before the restore are still good")
	}
	d, err := f.DeviceByID(ctx, f.mac.DeviceID)
	must(t, err)
	if d.State != "offline" {
		t.Errorf("the device is %s", d.State)
	}
}

// Ids of events go on past all that were given, whether the database of before
// can still be asked or not.
func TestRestore_EventIDsGoOn(t *testing.T) {
	const newest = `SELECT max(id) FROM events`
	for _, lost := range []bool{false, true} {
		f := open(t)
		file := f.backup(t)
		f.restore(t, file) // so that ids are high already
		f.submit(t)
		before := column(t, rawAt(t, f.dir), newest)[0]
		must(t, f.Close())
		if lost {
			must(t, os.Remove(f.path()))
		}
		f.restore(t, file)
		f.submit(t)
		after := column(t, rawAt(t, f.dir), `SELECT min(id) FROM events WHERE type = 'server.restored'`)[0]
		if len(after) < len(before) || len(after) == len(before) && after <= before {
			t.Errorf("lost %v: after event %s comes %s", lost, before, after)
		}
		if id := column(t, rawAt(t, f.dir), newest+` HAVING max(id) < 1 << 53`); len(id) != 1 {
			t.Error("an event id is no safe integer of JSON")
		}
	}
}

// The history is read over the gap that a restore leaves in the ids.
func TestRestore_TheHistoryIsReadOverTheGap(t *testing.T) {
	f := open(t)
	first := f.submit(t)
	f.restore(t, f.backup(t))
	last := f.submit(t)
	all, _, err := f.EventsBefore(ctx, store.EventFilter{}, 0, 1000)
	must(t, err)
	if n := len(all); n < 4 || *all[0].JobID != last || all[n-1].ID != 1 {
		t.Errorf("%d events, of %+v to %+v", n, all[0], all[n-1])
	}
	var jobs []string
	for after, ended := int64(0), false; !ended; {
		list, upTo, err := f.EventsAfter(ctx, store.EventFilter{AccountID: f.account}, after, 1000)
		must(t, err)
		for _, e := range list {
			jobs = append(jobs, *e.JobID)
		}
		after, ended = upTo, upTo == all[0].ID
	}
	if !slices.Equal(jobs, []string{first, last}) {
		t.Errorf("the account sees events of %v", jobs)
	}
}

func TestF18_NoRestoreBringsADeviceOrAKeyBack(t *testing.T) {
	for _, fileLost := range []bool{false, true} { // then the database of before knows
		f := open(t)
		paired := storetest.MustPair(t, f.DB, "laptop")
		k, plaintext, err := f.CreateKey(ctx, store.NewKey{AccountID: f.account, Name: "k", Scope: "submit"})
		must(t, err)
		file := f.backup(t)
		_, err = f.Revoke(ctx, paired.DeviceID)
		must(t, err)
		must(t, f.RevokeKey(ctx, k.ID))
		revoked := filepath.Join(f.dir, "revoked")
		if fileLost {
			must(t, os.Remove(revoked))
		}
		for range 2 {
			f.restore(t, file)
			if known, err := f.KnowsToken(ctx, paired.Token); known || err != nil {
				t.Errorf("the device's token works: %v, %v", known, err)
			}
			_, err = f.KeyByPlaintext(ctx, plaintext)
			refused(t, err, fence.CodeNotFound)
		}
		text, err := os.ReadFile(revoked)
		must(t, err)
		want := fmt.Sprintf("2026-12-01T08:00:00Z %s\n2026-12-01T08:00:00Z %s\n", paired.DeviceID, k.ID)
		if string(text) != want {
			t.Errorf("the file says %q, want %q", text, want)
		}
	}
}

// Who restores a backup that is older than the only admin key can still get in.
func TestRestore_NobodyIsLockedOut(t *testing.T) {
	f := open(t)
	keys, err := f.Keys(ctx, "", 10)
	must(t, err)
	file := f.backup(t)
	_, newer, err := f.CreateKey(ctx, store.NewKey{AccountID: f.account, Name: "new", Scope: "admin"})
	must(t, err)
	must(t, f.RevokeKey(ctx, keys[0].ID))
	f.restore(t, file)
	var got string
	for range 2 { // a crash before the key is written down
		if got, err = f.FirstStart(ctx, newer); err != nil || got == "" {
			t.Fatalf("no new key: %v", err)
		}
	}
	f.reopen(t, time.Second)
	if more, err := f.FirstStart(ctx, got); err != nil || more != "" {
		t.Fatalf("a key that was written down is replaced by %q, %v", more, err)
	}
	if more, err := f.FirstStart(ctx, ""); err != nil || more != "" {
		t.Fatalf("a later start without admin.key makes %q, %v", more, err)
	}
	if k, err := f.KeyByPlaintext(ctx, got); err != nil || k.Scope != "admin" || k.AccountID != f.account {
		t.Fatalf("the new key: %+v, %v", k, err)
	}
	must(t, f.Close())
	if live := column(t, rawAt(t, f.dir), `SELECT id FROM api_keys WHERE revoked_at IS NULL`); len(live) != 1 {
		t.Errorf("%d keys are live", len(live))
	}
}

// A new machine has a backup and nothing else.
func TestRestore_IntoAnEmptyFolder(t *testing.T) {
	f := open(t)
	job, file := f.submit(t), f.backup(t)
	f.dir = filepath.Join(t.TempDir(), "new")
	if r := f.restore(t, file); r.Aside != "" || r.Unread != nil || !r.BackupOf.Equal(storetest.NewClock().Now()) {
		t.Errorf("it says %+v", r)
	}
	storetest.MustStatus(t, f.DB, job, fence.JobQueued, "")
	if key, err := f.FirstStart(ctx, ""); err != nil || key == "" {
		t.Errorf("no key at hand, and none made: %v", err)
	}
	if info, err := os.Stat(f.path()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestRestore_RefusesWhatIsNoWholeBackup(t *testing.T) {
	f := open(t)
	good, err := os.ReadFile(f.backup(t))
	must(t, err)
	job := f.submit(t)
	must(t, f.Close())
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		file := filepath.Join(dir, name)
		must(t, os.WriteFile(file, text, 0o600))
		return file
	}
	altered := func(name, query string) string {
		file := write(name, good)
		db := rawFile(t, file)
		must(t, exec(db, query))
		must(t, db.Close())
		return file
	}
	foreign := filepath.Join(dir, "foreign")
	must(t, exec(rawFile(t, foreign), `CREATE TABLE songs (name TEXT)`))
	spoilt := slices.Clone(good)
	copy(spoilt[len(spoilt)/2:], make([]byte, len(spoilt)/3))
	used := write("used", good)
	write("used-wal", []byte("log"))
	before := storedIn(t, f.dir)
	for file, says := range map[string]string{
		filepath.Join(dir, "none"): "no such file",
		dir:                        "no backup of RenderMac",
		write("empty", nil):        "no backup of RenderMac",
		write("letter", []byte("a letter to my aunt in full")): "no backup of RenderMac",
		foreign:                                      "no backup of RenderMac",
		write("head", good[:60]):                     "is damaged",
		write("truncated", good[:len(good)/2]):       "is damaged",
		write("spoilt", spoilt):                      "is damaged",
		altered("newer", `PRAGMA user_version = 99`): "install the newer RenderMac",
		altered("orphans", `PRAGMA foreign_keys = OFF; DROP TRIGGER api_keys_start; INSERT INTO api_keys VALUES ('k', 'nobody', 'n', 'read', '`+strings.Repeat("0", 64)+`', 1, NULL)`): "is damaged",
		used:     "its log is beside it",
		f.path(): "is the database itself",
	} {
		_, err := store.Restore(ctx, file, f.path(), f.clock.Now())
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", filepath.Base(file), err, says)
		}
	}
	if after := storedIn(t, f.dir); !slices.Equal(before, after) {
		t.Errorf("refusals have left %v, and before it was %v", after, before)
	}
	f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
	storetest.MustStatus(t, f.DB, job, fence.JobQueued, "")
}

// storedIn are a folder's files and their digests.
func storedIn(t *testing.T, dir string) (all []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	must(t, err)
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		must(t, err)
		all = append(all, file.Name()+" "+store.HashSecret(string(text)))
	}
	return all
}

// A database that can no longer be read goes aside with all that belongs to it:
// nothing of it may be taken for the new one's.
func TestRestore_InThePlaceOfADamagedDatabase(t *testing.T) {
	f := open(t)
	job, file := f.submit(t), f.backup(t)
	must(t, f.Close())
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		must(t, os.WriteFile(f.path()+end, []byte("damaged"+end), 0o600))
	}
	r := f.restore(t, file)
	if r.Unread == nil {
		t.Error("it does not say that the database of before could not be read")
	}
	if text, err := os.ReadFile(r.Aside); err != nil || string(text) != "damaged" {
		t.Errorf("aside is %q, %v", text, err)
	}
	storetest.MustStatus(t, f.DB, job, fence.JobQueued, "")
}

// Random histories before and after the backup: what is restored is the rows of
// then, with no run of then alive, and it can be worked with.
func TestRestore_OfRandomHistories(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 10 {
		f := open(t)
		f.live(t, random, 12)
		file := f.backup(t)
		want := column(t, rawFile(t, file), `SELECT id FROM jobs ORDER BY id`)
		ended := column(t, rawFile(t, file), `SELECT id || status FROM jobs WHERE finished_at IS NOT NULL ORDER BY id`)
		f.live(t, random, 8)
		for range 1 + random.IntN(2) {
			f.restore(t, file)
		}
		must(t, f.Close())
		db := rawAt(t, f.dir)
		if got := column(t, db, `SELECT id FROM jobs ORDER BY id`); !slices.Equal(got, want) {
			t.Fatalf("jobs %v, want %v", got, want)
		}
		for _, job := range ended {
			if !slices.Contains(column(t, db, `SELECT id || status FROM jobs`), job) {
				t.Fatalf("an ended job has changed: %s", job)
			}
		}
		if left := column(t, db, `SELECT id FROM job_attempts WHERE ended_at IS NULL AND status <> 'committing'
			UNION ALL SELECT id FROM jobs WHERE status = 'active' OR status = 'cancelling'
			UNION ALL SELECT h.job_id FROM holds h JOIN jobs j ON j.id = h.job_id WHERE (h.state = 'held') <> (j.finished_at IS NULL)
			UNION ALL SELECT id FROM devices WHERE session_id IS NOT NULL`); len(left) > 0 {
			t.Fatalf("not fenced: %v", left)
		}
		must(t, db.Close())
		f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
		f.mac = storetest.MustHello(t, f.DB, f.mac.DeviceID).Session
		f.live(t, random, 8)
	}
}

// live does what happens in a day, in any order.
func (f *fixture) live(t *testing.T, random *rand.Rand, steps int) {
	t.Helper()
	for range steps {
		f.clock.Advance(time.Second)
		f.submit(t, func(j *store.NewJob) { j.Credits = int64(random.IntN(3)) })
		out, err := f.Lease(ctx, f.mac, 1<<20)
		must(t, err)
		if out.Offer == nil {
			continue
		}
		c := storetest.Claim(f.mac, out.Offer)
		switch random.IntN(4) {
		case 0:
			_, err = f.Fail(ctx, c, fence.RunnerFailed, "")
		case 1:
			f.commits(t, c)
			_, err = f.FinishCommit(ctx, c.AttemptID, fence.Verdict{Verified: true}, "", nil)
		case 2:
			f.commits(t, c)
		case 3:
			f.uploads(t, c)
		}
		must(t, err)
	}
}
