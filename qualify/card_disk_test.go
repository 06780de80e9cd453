package qualify

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// mountSmall puts a disk of so many MiB in a folder's place.
func mountSmall(b *bench, dir string, mib int) {
	b.Helper()
	if os.Getuid() != 0 {
		cannot(b.now.TB, "a small disk cannot be mounted without root: this column is not measured here")
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("mode=0700,size=%dm", mib), "tmpfs", dir).CombinedOutput(); err != nil {
		cannot(b.now.TB, "a small disk cannot be mounted (%v: %s): this column is not measured here", err, strings.TrimSpace(string(out)))
	}
	b.now.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
}

// fill takes all the room there is; free gives it back.
func (b *bench) fill(dir string) (free func()) {
	b.Helper()
	path := filepath.Join(dir, "ballast")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for chunk := make([]byte, 1<<20); len(chunk) >= 512; {
		if _, err := f.Write(chunk); errors.Is(err, syscall.ENOSPC) {
			chunk = chunk[:len(chunk)/2]
		} else if err != nil {
			b.Fatal(err)
		}
	}
	return func() {
		if err := os.Remove(path); err != nil {
			b.Fatal(err)
		}
	}
}

// emptyWAL leaves SQLite no room of its own that it could write to: what it
// stores next needs the disk.
func (b *bench) emptyWAL() {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.data(), "rendermac.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	b.wait("the log is empty", func() bool {
		var busy, frames, moved int
		err := db.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
		return err == nil && busy == 0
	})
}

// fillDisk fills the disk that the phase needs: the Mac's while it downloads
// and encodes, the server's else. It is freed when the shortage has shown.
func (c *cell) fillDisk() {
	struck := time.Now()
	onMac := c.phase == "downloading" || c.phase == "running"
	dir := c.data()
	if onMac {
		dir = c.victim.work
	}
	heard := len(c.plant.said())
	if !onMac {
		c.emptyWAL()
	}
	free := c.fill(dir)
	c.release()
	if onMac {
		c.wait("the attempt has failed", func() bool { return c.look(c.job).Attempts[0].Status == "failed" })
	} else {
		c.wait("the server is short of space", func() bool { return strings.Contains(c.plant.said()[heard:], "full") })
	}
	free()
	whole := time.Now()
	end := c.ended(c.job)
	c.took("from full to the job's end", end.FinishedAt.Sub(struck))
	c.took("from room again to the job's end", end.FinishedAt.Sub(whole))
}

// loseStore takes the artifact store's folders away until that has shown. A
// running encoder does not need them: there it is for two seconds.
func (c *cell) loseStore() {
	struck := time.Now()
	heard := len(c.plant.said())
	c.swap(true)
	c.release()
	c.wait("the store was missed", func() bool {
		missed := strings.Contains(c.plant.said()[heard:], "not a directory")
		c.result.unfelt = !missed && c.phase == "running" && time.Since(struck) > 2*time.Second
		return missed || c.result.unfelt
	})
	c.swap(false)
	whole := time.Now()
	end := c.ended(c.job)
	c.took("from outage to the job's end", end.FinishedAt.Sub(struck))
	c.took("from the store's return to the job's end", end.FinishedAt.Sub(whole))
}

// swap moves the store's folders aside and puts plain files in their place, or
// brings them back.
func (c *cell) swap(away bool) {
	c.Helper()
	for _, folder := range []string{"writes", "objects", "digests"} {
		at := filepath.Join(c.data(), "artifacts", folder)
		var err error
		if away {
			err = errors.Join(os.Rename(at, at+".away"), os.WriteFile(at, nil, 0o600))
		} else {
			err = errors.Join(os.Remove(at), os.Rename(at+".away", at))
		}
		if err != nil {
			c.Fatal(err)
		}
	}
}
