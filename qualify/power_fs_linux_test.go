package qualify

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

func init() { roles["powerfs"] = servePower }

// markName is the file at the root into which a client writes what it was told:
// the text lands in the log behind everything that came before it.
const markName = ".mark"

// servePower is a process that serves the recording file system, never the one
// that uses it: a process that waits for itself would hang. It ends, and takes
// its mount along, when its parent closes stdin, however the parent ends.
func servePower() {
	mount, log := os.Args[1], os.Args[2]
	l, err := newLog(log)
	if err != nil {
		panic(err)
	}
	forever := time.Hour // nobody but the kernel changes anything
	rec := &recorder{log: l, last: rootIno}
	root := &node{rec: rec, id: rootIno, mode: 0o755}
	server, err := fs.Mount(mount, root, &fs.Options{
		EntryTimeout: &forever, AttrTimeout: &forever, NullPermissions: true,
		MountOptions: fuse.MountOptions{
			DirectMountStrict: true, DisableXAttrs: true, ExplicitDataCacheControl: true,
			FsName: "qualify", Name: "power", MaxWrite: 1 << 20,
		},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println("mounted")
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = unix.Unmount(mount, unix.MNT_DETACH)
	rec.mu.Lock() // for good: what is still under way is after the end
	if err := l.close(); err != nil {
		panic(err)
	}
	_ = server
}

// recorder numbers the nodes and puts down what happens to them.
type recorder struct {
	mu   sync.Mutex // also guards the nodes' contents
	log  *opLog
	last uint64
}

// put appends to the log. The caller holds mu.
func (r *recorder) put(o op) {
	if err := r.log.enc.Encode(o); err != nil {
		panic(err)
	}
}

// node is a file or a folder, in memory. The tree itself is go-fuse's.
type node struct {
	fs.Inode
	rec  *recorder
	id   uint64
	mode uint32
	data []byte
	at   time.Time
}

// lock begins an operation.
func (n *node) lock() (unlock func()) { n.rec.mu.Lock(); return n.rec.mu.Unlock }

func (n *node) OnAdd(ctx context.Context) {
	if n.id == rootIno {
		n.AddChild(markName, n.NewPersistentInode(ctx, &marks{rec: n.rec}, fs.StableAttr{Mode: syscall.S_IFREG}), true)
	}
}

// child makes a node and its inode. The caller holds the lock.
func (n *node) child(ctx context.Context, k kind, name string, mode, typ uint32, out *fuse.EntryOut) *fs.Inode {
	n.rec.last++
	c := &node{rec: n.rec, id: n.rec.last, mode: mode & 0o7777, at: time.Now()}
	n.rec.put(op{Kind: k, Ino: c.id, Dir: n.id, Name: name, Mode: c.mode})
	c.describe(&out.Attr)
	return n.NewPersistentInode(ctx, c, fs.StableAttr{Mode: typ})
}

func (n *node) describe(a *fuse.Attr) {
	a.Mode, a.Size, a.Nlink = n.mode, uint64(len(n.data)), 1
	a.SetTimes(nil, &n.at, &n.at)
}

func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	defer n.lock()()
	return n.child(ctx, opMkdir, name, mode, syscall.S_IFDIR, out), 0
}

func (n *node) Create(ctx context.Context, name string, _, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	defer n.lock()()
	return n.child(ctx, opCreate, name, mode, syscall.S_IFREG, out), nil, fuse.FOPEN_KEEP_CACHE, 0
}

func (n *node) Unlink(_ context.Context, name string) syscall.Errno {
	defer n.lock()()
	n.rec.put(op{Kind: opRemove, Dir: n.id, Name: name})
	return 0
}

func (n *node) Rmdir(ctx context.Context, name string) syscall.Errno {
	if c := n.GetChild(name); c != nil && len(c.Children()) > 0 {
		return syscall.ENOTEMPTY
	}
	return n.Unlink(ctx, name)
}

func (n *node) Rename(_ context.Context, name string, to fs.InodeEmbedder, as string, flags uint32) syscall.Errno {
	if flags != 0 {
		return syscall.EINVAL
	}
	defer n.lock()()
	n.rec.put(op{Kind: opRename, Dir: n.id, Name: name, To: to.(*node).id, As: as})
	return 0
}

func (n *node) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_KEEP_CACHE, 0
}

func (n *node) Read(_ context.Context, _ fs.FileHandle, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	defer n.lock()()
	if off >= int64(len(n.data)) {
		return fuse.ReadResultData(nil), 0
	}
	return fuse.ReadResultData(dest[:copy(dest, n.data[off:])]), 0
}

func (n *node) Write(_ context.Context, _ fs.FileHandle, data []byte, off int64) (uint32, syscall.Errno) {
	defer n.lock()()
	n.at = time.Now()
	n.data = written(n.data, data, off)
	n.rec.put(op{Kind: opWrite, Ino: n.id, Off: off, Data: data})
	return uint32(len(data)), 0
}

func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	defer n.lock()()
	n.describe(&out.Attr)
	return 0
}

func (n *node) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	defer n.lock()()
	if size, ok := in.GetSize(); ok {
		n.data = resized(n.data, int64(size))
		n.rec.put(op{Kind: opTruncate, Ino: n.id, Off: int64(size)})
	}
	if mode, ok := in.GetMode(); ok {
		n.mode = mode & 0o7777
		n.rec.put(op{Kind: opChmod, Ino: n.id, Mode: n.mode})
	}
	n.describe(&out.Attr)
	return 0
}

func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	defer n.lock()()
	n.rec.put(op{Kind: opSync, Ino: n.id})
	return 0
}

// Statfs says that there is room: nothing here is about a full disk.
func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	*out = fuse.StatfsOut{Blocks: 1 << 28, Bfree: 1 << 28, Bavail: 1 << 28, Files: 1 << 20, Ffree: 1 << 20, Bsize: 4096, Frsize: 4096, NameLen: 255}
	return 0
}

// written is data with more written into it; the gap before it is zeros.
func written(data, more []byte, off int64) []byte {
	if end := off + int64(len(more)); end > int64(len(data)) {
		data = resized(data, end)
	}
	copy(data[off:], more)
	return data
}

// resized cuts data, or lengthens it with zeros.
func resized(data []byte, size int64) []byte {
	if size <= int64(len(data)) {
		return data[:size]
	}
	return append(data, make([]byte, size-int64(len(data)))...)
}

// marks is the file of the clients.
type marks struct {
	fs.Inode
	rec *recorder
}

func (m *marks) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_DIRECT_IO, 0
}

func (m *marks) Setattr(context.Context, fs.FileHandle, *fuse.SetAttrIn, *fuse.AttrOut) syscall.Errno {
	return 0
}

func (m *marks) Write(_ context.Context, _ fs.FileHandle, text []byte, _ int64) (uint32, syscall.Errno) {
	m.rec.mu.Lock()
	defer m.rec.mu.Unlock()
	m.rec.put(op{Kind: opMark, Data: text})
	return uint32(len(text)), 0
}

// plug is a mounted recording file system.
type plug struct {
	testing.TB
	mount, log string
	cmd        *exec.Cmd
	stdin      io.Closer
	marks      *os.File
	done       bool
}

// mountPower mounts one. What is missing for that skips the test.
func mountPower(t testing.TB) *plug {
	t.Helper()
	if os.Geteuid() != 0 {
		cannot(t, "a power cut is simulated on a FUSE file system, and only root may mount one here: run the tests as root")
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		cannot(t, "a power cut is simulated on a FUSE file system, and this machine has no /dev/fuse: load the kernel's module fuse")
	}
	dir := t.TempDir()
	p := &plug{TB: t, mount: filepath.Join(dir, "mount"), log: filepath.Join(dir, "log")}
	if err := os.Mkdir(p.mount, 0o755); err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(os.Args[0], p.mount, p.log)
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), "QUALIFY_ROLE=powerfs"), os.Stderr
	said, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.pull)
	if n, _ := io.ReadFull(said, make([]byte, len("mounted\n"))); n == 0 {
		t.Fatal("the recording file system could not be mounted")
	}
	if p.marks, err = os.OpenFile(filepath.Join(p.mount, markName), os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	return p
}

// mark puts down what a client was told, before anything that comes later.
func (p *plug) mark(text []byte) {
	if _, err := p.marks.Write(text); err != nil {
		p.Errorf("mark: %v", err)
	}
}

// pull ends the recording; processes that use the mount must have ended.
func (p *plug) pull() {
	if p.done {
		return
	}
	p.done = true
	if p.marks != nil {
		p.marks.Close()
	}
	p.stdin.Close()
	if err := p.cmd.Wait(); err != nil {
		p.Errorf("the recording file system: %v", err)
	}
	_ = unix.Unmount(p.mount, unix.MNT_DETACH) // had the process died
}
