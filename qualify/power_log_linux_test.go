package qualify

import (
	"bufio"
	"encoding/gob"
	"errors"
	"io"
	"os"
	"path"
)

// What a power cut can take is found by recording once and cutting many times,
// as CrashMonkey and ALICE do: every operation that changes the file system goes
// into a log, in order, and so does every acknowledgement that a client got.

// kind is what an operation does.
type kind byte

const (
	opCreate kind = iota // Ino comes to be at Dir/Name
	opMkdir
	opWrite    // Data at Off of Ino
	opTruncate // Ino to Off bytes
	opChmod
	opRename // Dir/Name becomes To/As
	opRemove // Dir/Name: a file or an empty folder
	opSync   // of a file's content or of a folder's names
	opMark   // Data was acknowledged to a client
)

// op is one line of the log. Nodes bear numbers, since names change.
type op struct {
	Kind     kind
	Ino, Dir uint64
	Name     string
	To       uint64
	As       string
	Off      int64
	Mode     uint32
	Data     []byte
}

const rootIno = 1

// opLog is written by the file system's process. The caller serializes.
type opLog struct {
	file *os.File
	buf  *bufio.Writer
	enc  *gob.Encoder
}

func newLog(path string) (*opLog, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	buf := bufio.NewWriterSize(file, 1<<20)
	return &opLog{file, buf, gob.NewEncoder(buf)}, nil
}

func (l *opLog) close() error { return errors.Join(l.buf.Flush(), l.file.Close()) }

// recording is a log, read whole.
type recording struct {
	file  string
	kept  bool // file outlives the test
	ops   []op
	paths map[uint64]string // where each node stood when it was made
}

func readLog(file string) (*recording, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := &recording{file: file, paths: map[uint64]string{rootIno: ""}}
	for dec := gob.NewDecoder(bufio.NewReaderSize(f, 1<<20)); ; {
		var o op
		if err := dec.Decode(&o); err == io.EOF {
			return r, nil
		} else if err != nil {
			return nil, err
		}
		r.ops = append(r.ops, o)
		if o.Kind == opCreate || o.Kind == opMkdir {
			r.paths[o.Ino] = path.Join(r.paths[o.Dir], o.Name)
		}
	}
}
