package artifact

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"

	"rendermac/failpoint"
)

// A journal is a file of JSON lines beside the data of an open write: first
// what is written, then what became of its parts. A line is synced before what
// it says counts.
type entry struct {
	Key       string `json:"key,omitempty"`
	ID        string `json:"id,omitempty"`
	Bytes     *int64 `json:"bytes,omitempty"` // also later, when the size changes
	PartBytes int64  `json:"part_bytes,omitempty"`
	Held      *Part  `json:"held,omitempty"`
	Drop      []int  `json:"drop,omitempty"`
}

var errDamaged = errors.New("the journal is damaged")

// append adds a line. Where that fails the file is cut back to what counted
// before; where even that fails, so that nobody knows what a restart would
// read, that comes first the next time: the disk may be back then.
func (w *write) append(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := w.root.OpenFile(w.journalName(), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if w.broken {
		if err := w.cutBack(f); err != nil {
			return err
		}
	}
	failpoint.At("artifact.journal.write.before")
	n, err := f.WriteAt(append(line, '\n'), w.journalSize)
	failpoint.At("artifact.journal.sync.before")
	if err == nil {
		err = f.Sync()
	}
	failpoint.At("artifact.journal.sync.after")
	if err != nil {
		_ = w.cutBack(f)
		return err
	}
	w.journalSize += int64(n)
	return nil
}

func (w *write) cutBack(f *os.File) error {
	err := errors.Join(f.Truncate(w.journalSize), f.Sync())
	w.broken = err != nil
	return err
}

// replay reads the journal. A last line that a crash has torn is cut off; a bad
// line before it means that the file cannot be believed.
func (w *write) replay() error {
	f, err := w.root.OpenFile(w.journalName(), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	for {
		line, rest, whole := bytes.Cut(text[w.journalSize:], []byte("\n"))
		if !whole {
			break
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			if len(rest) > 0 {
				return errDamaged
			}
			break
		}
		if err := w.apply(e); err != nil {
			return err
		}
		w.journalSize += int64(len(line)) + 1
	}
	if w.id == "" {
		return errDamaged
	}
	if w.journalSize == int64(len(text)) {
		return nil
	}
	return errors.Join(f.Truncate(w.journalSize), f.Sync())
}

// apply is what a line means, on replay as in the running server.
func (w *write) apply(e entry) error {
	if e.ID != "" {
		if w.id != "" || CheckKey(e.Key) != nil || e.Bytes == nil {
			return errDamaged
		}
		w.key, w.id, w.partBytes = e.Key, e.ID, e.PartBytes
	}
	if e.Bytes != nil {
		w.bytes = *e.Bytes
	}
	for _, n := range e.Drop {
		delete(w.held, n)
		w.drops[n]++
	}
	if e.Held != nil {
		w.held[e.Held.Number] = *e.Held
	}
	if w.layout.check() != nil {
		return errDamaged
	}
	return nil
}

// record makes a change last, then makes it true.
func (w *write) record(e entry) error {
	if err := w.append(e); err != nil {
		return err
	}
	return w.apply(e)
}
