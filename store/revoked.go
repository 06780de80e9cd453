package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"rendermac/failpoint"
	"rendermac/fence"
	"rendermac/lasting"
)

// revokedFile holds the ids of revoked devices and keys beside the database, a
// line each: no restore takes it back (F18).
func revokedFile(database string) string { return filepath.Join(filepath.Dir(database), "revoked") }

// revocation is one line of it.
type revocation struct {
	id string
	at time.Time
}

// revokedLine is a line as it is written, or as the first build wrote it: the id
// alone.
var revokedLine = regexp.MustCompile(`^(?:\S+ )?((?:dev|key)_[0-9a-z]{26})$`)

// revokedText is what the file says.
type revokedText struct {
	size  int64
	ids   []string
	known map[string]bool
	wrong int  // lines that say nothing
	torn  bool // the last line has no end
}

func readRevoked(path string) (revokedText, error) {
	r := revokedText{known: map[string]bool{}}
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return r, err
	}
	r.size, r.torn = int64(len(text)), len(text) > 0 && text[len(text)-1] != '\n'
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if found := revokedLine.FindStringSubmatch(line); found != nil {
			r.ids, r.known[found[1]] = append(r.ids, found[1]), true
		} else if line != "" {
			r.wrong++
		}
	}
	return r, nil
}

// writeRevoked appends those that the file does not have yet, and no power cut
// takes them away again. After an error nothing of them counts as written.
func writeRevoked(path string, all []revocation) error {
	r, err := readRevoked(path)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, v := range all {
		if !r.known[v.id] {
			fmt.Fprintf(&text, "%s %s\n", v.at.UTC().Format(time.RFC3339), v.id)
		}
	}
	if text.Len() == 0 {
		return nil
	}
	if r.torn {
		return appendLasting(path, "\n"+text.String(), r.size)
	}
	return appendLasting(path, text.String(), r.size)
}

func appendLasting(path, text string, size int64) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	failpoint.At("store.revoked.write.before")
	_, err = f.WriteString(text)
	failpoint.At("store.revoked.sync.before")
	if err == nil {
		err = f.Sync()
	}
	failpoint.At("store.revoked.sync.after")
	if err == nil {
		err = lasting.Folder(filepath.Dir(path))
	}
	if err != nil { // else the next one would find it there, and sync nothing
		return errors.Join(err, f.Truncate(size))
	}
	return nil
}

// noteRevoked completes the file with what the database knows, and with those
// that it does not know yet.
func (db *DB) noteRevoked(ctx context.Context, soon ...revocation) error {
	db.noting.Lock()
	defer db.noting.Unlock()
	err := db.read(ctx, func(q querier) error {
		known, err := q.revocations()
		soon = append(known, soon...)
		return err
	})
	if err != nil {
		return err
	}
	path := revokedFile(db.o.Path)
	if err := writeRevoked(path, soon); err != nil {
		db.o.Log.Error("a revocation could not be noted", "file", path, "err", err)
		code := CodeUnavailable
		if IsFull(err) {
			code = CodeStorageFull
		}
		return &fence.Error{Code: code, Rule: "F18", Message: "the revocation could not be written to the file " + path + ", so a restore might undo it: free some space on its disk or make it writable, then revoke again"}
	}
	return nil
}

// revocations are all that the database knows, the oldest first.
func (q querier) revocations() (all []revocation, err error) {
	err = q.each(`SELECT id, revoked_at FROM devices WHERE revoked_at IS NOT NULL
		UNION ALL SELECT id, revoked_at FROM api_keys WHERE revoked_at IS NOT NULL ORDER BY 2, 1`, nil, func(rows *sql.Rows) error {
		var v revocation
		var at int64
		err := rows.Scan(&v.id, &at)
		v.at = fromMS(at)
		all = append(all, v)
		return err
	})
	return all, err
}
