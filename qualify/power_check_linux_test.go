package qualify

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/artifact"
	"rendermac/artifact/artifacttest"
	"rendermac/server"
	"rendermac/store"
)

// checkup starts a server in this process on what a power cut has left, lets it
// settle, and holds it against what clients had been told.
type checkup struct {
	facts
	data   string
	db     *store.DB
	dir    *artifact.Dir
	faults []string
}

func (c *checkup) wrong(format string, args ...any) {
	if len(c.faults) < 20 {
		c.faults = append(c.faults, fmt.Sprintf(format, args...))
	}
}

// leaseAfterCut is short, so that what was running ends at once.
const leaseAfterCut = 20 * time.Millisecond

// checkServer is the whole of it: faults are what a user would be wronged by.
func checkServer(data string, f facts) []string {
	c := &checkup{facts: f, data: data}
	if err := c.run(); err != nil {
		c.wrong("the server does not start: %v", err)
	}
	return c.faults
}

func (c *checkup) run() (err error) {
	quiet, began := slog.New(slog.DiscardHandler), time.Now()
	c.db, err = store.Open(context.Background(), store.Options{
		Path: filepath.Join(c.data, "rendermac.db"), Now: time.Now, Mono: func() time.Duration { return time.Since(began) }, Rand: rand.Reader,
		LeaseTTL: leaseAfterCut, DeviceTTL: leaseAfterCut, RetryBackoff: time.Millisecond, Resume: true, Log: quiet,
	})
	if err != nil {
		return err
	}
	closeDB := func() error { return c.db.Close() }
	defer func() { err = errors.Join(err, closeDB()) }()
	if err := c.adminKey(); err != nil {
		return err
	}
	secret, err := c.db.SigningKey(context.Background())
	if err != nil {
		return err
	}
	if c.dir, err = artifact.OpenDir(filepath.Join(c.data, "artifacts"), "", secret, time.Now); err != nil {
		return err
	}
	c.parts()
	s, err := server.New(server.Options{
		DB: c.db, Artifacts: c.dir, Blobs: c.dir, Now: time.Now, Mono: func() time.Duration { return time.Since(began) }, Log: quiet, LeaseTTL: leaseAfterCut, Heartbeat: leaseAfterCut / 2,
		Resume: true, PartBytes: 32 << 10, MaxUploadBytes: 1 << 40, MaxAttempts: 3, VerifyWorkers: 2, VerifyDeadline: 24 * time.Hour,
	})
	if err != nil {
		return err
	}
	if err := s.Start(context.Background()); err != nil {
		return err
	}
	c.settles()
	s.Stop()
	c.devices()
	if err := c.db.Close(); err != nil {
		return err
	}
	closeDB = func() error { return nil }
	return c.rows()
}

// adminKey is there and works, or the first start goes on and makes another.
func (c *checkup) adminKey() error {
	fresh, err := c.db.FirstStart(context.Background(), "")
	if err != nil {
		return err
	}
	told, acknowledged := c.facts[toldAdmin][""]
	if fresh != "" {
		if acknowledged {
			c.wrong("the first start begins anew, and the admin key that was given is worth nothing")
		}
		return nil
	}
	text, err := os.ReadFile(filepath.Join(c.data, "admin.key"))
	key := strings.TrimSpace(string(text))
	if err != nil || key == "" {
		c.wrong("nobody can get in: the first start is done, and admin.key is %q (%v)", key, err)
		return nil
	}
	if k, err := c.db.KeyByPlaintext(context.Background(), key); err != nil || k.Scope != "admin" {
		c.wrong("nobody can get in: the key in admin.key is refused: %v", err)
	}
	if acknowledged && key != told.Key {
		c.wrong("admin.key holds another key than it did")
	}
	return nil
}

// parts that were answered with 200 are held, as long as their run may go on.
func (c *checkup) parts() {
	for _, p := range c.facts[toldPart] {
		if c.told(p.ID, wishCancel, wishFail) {
			continue
		}
		held, err := c.dir.Held(context.Background(), p.Key)
		if errors.Is(err, artifact.ErrNotFound) {
			object, _, err := c.dir.Open(context.Background(), p.Key)
			if err != nil {
				c.wrong("part %d of %s was held, and there is neither an upload nor an object: %v", p.Part, p.Key, err)
				continue
			}
			object.Close()
			continue
		}
		if !slices.ContainsFunc(held, func(h artifact.Part) bool { return h.Number == p.Part && h.SHA256 == p.Sum }) {
			c.wrong("part %d of %s is held no more: %v, %v", p.Part, p.Key, held, err)
		}
	}
}

// settles waits until nothing is in a status that only the server ends.
func (c *checkup) settles() {
	view, err := sql.Open("sqlite", "file:"+filepath.Join(c.data, "rendermac.db")+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		c.wrong("%v", err)
		return
	}
	defer view.Close()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(3 * time.Millisecond) // the store gives no signal
	defer tick.Stop()
	for left := 1; left > 0; <-tick.C {
		err := view.QueryRow(`SELECT count(*) FROM jobs WHERE status IN ('active', 'verifying', 'cancelling')`).Scan(&left)
		if err != nil || time.Now().After(deadline) {
			c.wrong("%d jobs are stuck (%v)", left, err)
			return
		}
	}
}

// devices that were paired can come back, and revoked ones cannot (F18): not
// even after a restore, for which their ids stand in a file.
func (c *checkup) devices() {
	text, _ := os.ReadFile(filepath.Join(c.data, "revoked"))
	noted := strings.Fields(string(text))
	for id, d := range c.facts[toldPaired] {
		known, err := c.db.KnowsToken(context.Background(), d.Key)
		switch {
		case err != nil:
			c.wrong("device %s: %v", id, err)
		case c.told(id, toldRevoked) && known:
			c.wrong("device %s was revoked and its token works", id)
		case c.told(id, toldRevoked) && !slices.Contains(noted, id):
			c.wrong("device %s was revoked and the file `revoked` does not say so: a restore would let it in again", id)
		case !c.told(id, wishRevoke) && !known:
			c.wrong("device %s was paired and its token does not work", id)
		}
	}
}

// rows looks at the database as a file.
func (c *checkup) rows() error {
	db, err := sql.Open("sqlite", filepath.Join(c.data, "rendermac.db"))
	if err != nil {
		return err
	}
	defer db.Close()
	if said := column(db, "PRAGMA integrity_check"); !slices.Equal(said, []string{"ok"}) {
		c.wrong("integrity_check: %v", said)
	}
	if said := column(db, "SELECT parent FROM pragma_foreign_key_check"); len(said) > 0 {
		c.wrong("foreign_key_check: %v", said)
	}
	if err := c.jobs(db); err != nil {
		return err
	}
	return c.objects(db)
}

func column(db *sql.DB, query string) (out []string) {
	rows, err := db.Query(query)
	if err != nil {
		return []string{err.Error()}
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		_ = rows.Scan(&s)
		out = append(out, s)
	}
	if rows.Err() != nil {
		out = append(out, rows.Err().Error())
	}
	return out
}

// table is two columns as a map.
func table(db *sql.DB, query string) (map[string]string, error) {
	rows, err := db.Query(query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var k, v string
		if err := rows.Scan(&k, &v); err != nil {
			return nil, err
		}
		out[k] = v
	}
	return out, rows.Err()
}

// jobs stand where their clients were told that they stand, or further on.
func (c *checkup) jobs(db *sql.DB) error {
	jobs, err := table(db, "SELECT id, status FROM jobs")
	if err != nil {
		return err
	}
	for id := range c.facts[toldJob] {
		status, there := jobs[id]
		accepted, isAccepted := c.facts[toldAccepted][id]
		switch {
		case !there:
			c.wrong("job %s was submitted and is not there", id)
		case c.told(id, toldCancel):
			if status != api.JobCancelled {
				c.wrong("job %s was cancelled and is %s", id, status)
			}
		case c.told(id, toldOK):
			if status != api.JobSucceeded {
				c.wrong("job %s had succeeded and is %s", id, status)
			}
		case c.told(id, toldFailed) || isAccepted && accepted.Sum == "":
			if status != api.JobFailed && !c.told(id, wishCancel) {
				c.wrong("job %s had failed, or had to, and is %s", id, status)
			}
		case isAccepted:
			if status != api.JobSucceeded && !(status == api.JobCancelled && c.told(id, wishCancel)) {
				c.wrong("the commit of job %s was accepted and it is %s", id, status)
			}
		case status == api.JobFailed && !c.told(id, wishFail), status == api.JobCancelled && !c.told(id, wishCancel):
			c.wrong("job %s is %s, and nobody wished that", id, status)
		}
	}
	return nil
}

// objects of completed uploads and succeeded jobs are there, with their bytes.
func (c *checkup) objects(db *sql.DB) error {
	uploads, err := table(db, "SELECT id, object_key || ' ' || sha256 FROM uploads WHERE status = 'complete'")
	if err != nil {
		return err
	}
	for id, u := range c.facts[toldUpload] {
		if _, sum, _ := strings.Cut(uploads[id], " "); sum != u.Sum {
			c.wrong("upload %s was completed with %s, and the database has %q", id, u.Sum, sum)
		}
	}
	outputs, err := table(db, `SELECT j.id, coalesce(a.object_key || ' ' || a.sha256, '') FROM jobs j LEFT JOIN artifacts a ON a.job_id = j.id WHERE j.status = 'succeeded'`)
	if err != nil {
		return err
	}
	for id, a := range outputs {
		_, sum, _ := strings.Cut(a, " ")
		for _, told := range []string{toldOK, toldAccepted} {
			if f, ok := c.facts[told][id]; ok && f.Sum != sum {
				c.wrong("job %s succeeded with %q, and its Mac has committed %q", id, sum, f.Sum)
			}
		}
	}
	for _, all := range []map[string]string{uploads, outputs} {
		for id, what := range all {
			key, want, _ := strings.Cut(what, " ")
			if got, err := c.sum(key); got != want {
				c.wrong("%s: the bytes of %s are not what they were: %v", id, key, err)
			}
		}
	}
	return nil
}

func (c *checkup) sum(key string) (string, error) {
	object, info, err := c.dir.Open(context.Background(), key)
	if err != nil {
		return "", err
	}
	defer object.Close()
	h := sha256.New()
	if _, err := io.Copy(h, object); err != nil {
		return "", err
	}
	sum := hex.EncodeToString(h.Sum(nil))
	if info.SHA256 != "" && info.SHA256 != sum {
		return "", fmt.Errorf("the digest beside it says %s", info.SHA256)
	}
	return sum, nil
}

// checkBinary starts the product itself on what a power cut has left: it must
// come up with no one's help, and let its admin in.
func checkBinary(t *testing.T, data string) []string {
	s := &site{TB: t, home: t.TempDir(), server: newPoints(t), url: "http://" + artifacttest.FreeAddress(t)}
	p := start(t, s.home, s.server, "serve", "--data", data, "--listen", strings.TrimPrefix(s.url, "http://"))
	defer p.term()
	until(t, "the server is ready or has ended", func() bool { return p.gone() || s.ready() })
	if p.gone() {
		return []string{"the binary does not start: " + p.said()}
	}
	key, err := os.ReadFile(filepath.Join(data, "admin.key"))
	if err != nil {
		return []string{"the binary runs, and nobody can get in: " + err.Error()}
	}
	if _, err := api.NewClient(s.url, strings.TrimSpace(string(key)), "qualify").Devices(context.Background()); err != nil {
		return []string{"the binary runs, and nobody can get in: " + err.Error()}
	}
	return nil
}
