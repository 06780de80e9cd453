package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// uploadsKept is how long a server keeps an upload that no job needs, unless it
// is told otherwise; a server that has forgotten one says so.
const uploadsKept = 7 * 24 * time.Hour

// memory is the note of one file's unfinished upload, open and locked. Without a
// file it remembers nothing: that is a convenience lost, no fault.
type memory struct{ file *os.File }

// note is what is remembered of it.
type note struct {
	UploadID string    `json:"upload_id"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
}

// recall opens the note of a file's upload to this server with this key. Where
// another process is at the same file, each goes its own way.
func (c *Client) recall(folder, path string) *memory {
	abs, err := filepath.Abs(path)
	if folder == "" || err != nil || os.MkdirAll(folder, 0o700) != nil {
		return &memory{}
	}
	forgetOld(folder)
	key := sha256.Sum256([]byte(c.key))
	sum := sha256.Sum256([]byte(c.url + "\n" + hex.EncodeToString(key[:]) + "\n" + abs))
	name := filepath.Join(folder, hex.EncodeToString(sum[:16])+".json")
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return &memory{}
	}
	if unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil || !isAt(file, name) {
		file.Close()
		return &memory{}
	}
	return &memory{file}
}

// isAt tells whether the open file has not been removed meanwhile.
func isAt(file *os.File, name string) bool {
	there, err := os.Stat(name)
	mine, fault := file.Stat()
	return errors.Join(err, fault) == nil && os.SameFile(there, mine)
}

func forgetOld(folder string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > uploadsKept {
			os.Remove(filepath.Join(folder, e.Name()))
		}
	}
}

func (m *memory) read() (n note) {
	if m.file != nil {
		text, _ := io.ReadAll(io.NewSectionReader(m.file, 0, 64<<10))
		_ = json.Unmarshal(text, &n) // what is cut off says nothing
	}
	return n
}

// upload is the id of the upload that is remembered, or "" where the file has
// changed since.
func (m *memory) upload(now os.FileInfo) string {
	n := m.read()
	if n.Bytes != now.Size() || !n.Modified.Equal(now.ModTime()) {
		return ""
	}
	return n.UploadID
}

func (m *memory) keep(id string, info os.FileInfo) {
	if m.file == nil {
		return
	}
	text, _ := json.Marshal(note{id, info.Size(), info.ModTime()}) // plain values
	_, err := m.file.WriteAt(text, 0)
	if err := errors.Join(err, m.file.Truncate(int64(len(text)))); err != nil {
		m.forget()
	}
}

func (m *memory) forget() {
	if m.file != nil {
		_ = m.file.Truncate(0)
	}
}

// release lets others at the note, and leaves none that says nothing.
func (m *memory) release() {
	if m.file == nil {
		return
	}
	if info, err := m.file.Stat(); err == nil && info.Size() == 0 {
		os.Remove(m.file.Name())
	}
	m.file.Close()
}

// ForgetUpload ends the memory of a file's upload: it has become a job's input.
func (c *Client) ForgetUpload(folder, path, id string) {
	m := c.recall(folder, path)
	defer m.release()
	if m.read().UploadID == id {
		m.forget()
	}
}
