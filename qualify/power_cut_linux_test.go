package qualify

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// disk is what stands on a disk at one moment of a recording, and what may
// stand there. The model is POSIX to the letter, which is stricter than ext4
// and APFS are:
//
//   - What a sync of a file has covered is there: content, size and mode. Of
//     what came later any part may be there: each write whole, not at all, or
//     some of its sectors; later ones without earlier ones; its data without
//     the new size, or the new size with zeros for data.
//   - A sync of a file says nothing of its name. A name made, changed or removed
//     is sure once the folder has been synced, and a folder's own name once the
//     folder above it has been.
//   - The changes of one folder reach the disk in their order: some first ones
//     are there and the rest is not. Two folders do not wait for each other.
//   - A rename is there or not: the file is never under both names or neither.
//     Where it leads to another folder, that folder is there too, up to the root.
type disk struct {
	nodes   map[uint64]*onDisk
	pending []change // of names, oldest first
	at      int      // operations applied
}

// onDisk is a node: what is sure, and what came after it.
type onDisk struct {
	folder  bool
	mode    uint32
	data    []byte
	names   map[string]uint64 // a folder's
	pending []placed          // writes, truncations and modes since the last sync
}

// placed is an operation and its place in the log.
type placed struct {
	*op
	at int
}

// change is one change of names: a removal, an addition, or both at once.
type change struct {
	placed
	ino uint64 // that gets a name; 0 where none does
}

func newDisk() *disk {
	return &disk{nodes: map[uint64]*onDisk{rootIno: {folder: true, mode: 0o755, names: map[string]uint64{}}}}
}

// deaf says which nodes' syncs do nothing: to prove that the harness would see.
type deaf func(path string) bool

// play goes on with a recording until so many operations have been applied.
func (d *disk) play(r *recording, until int, ignored deaf) {
	for ; d.at < until; d.at++ {
		o := placed{&r.ops[d.at], d.at}
		switch o.Kind {
		case opCreate, opMkdir:
			d.nodes[o.Ino] = &onDisk{folder: o.Kind == opMkdir, mode: o.Mode, names: map[string]uint64{}}
			d.pending = append(d.pending, change{o, o.Ino})
		case opRename:
			d.pending = append(d.pending, change{o, d.named(o.Dir, o.Name)})
		case opRemove:
			d.pending = append(d.pending, change{o, 0})
		case opWrite, opTruncate, opChmod:
			n := d.nodes[o.Ino]
			n.pending = append(n.pending, o)
		case opSync:
			if ignored == nil || !ignored(r.paths[o.Ino]) {
				d.sync(o.Ino)
			}
		}
	}
}

// named is the node that bears a name in the running system.
func (d *disk) named(dir uint64, name string) uint64 {
	ino := d.nodes[dir].names[name]
	for _, c := range d.pending {
		if to, as := c.adds(); c.ino != 0 && to == dir && as == name {
			ino = c.ino
		}
	}
	return ino
}

// adds is where a change puts its node.
func (c change) adds() (dir uint64, name string) {
	if c.Kind == opRename {
		return c.To, c.As
	}
	return c.Dir, c.Name
}

// folders are those whose names it changes.
func (c change) folders() []uint64 {
	if c.Kind == opRename {
		return []uint64{c.Dir, c.To}
	}
	return []uint64{c.Dir}
}

// moves says whether it leads from one folder to another.
func (c change) moves() bool { return c.Kind == opRename && c.Dir != c.To }

func (c change) apply(names func(dir uint64) map[string]uint64) {
	if c.Kind == opRename || c.Kind == opRemove {
		delete(names(c.Dir), c.Name)
	}
	if dir, name := c.adds(); c.ino != 0 {
		names(dir)[name] = c.ino
	}
}

// sync makes a node's content, or a folder's names, sure.
func (d *disk) sync(ino uint64) {
	n := d.nodes[ino]
	for _, o := range n.pending {
		n.data, n.mode = o.onto(n.data, n.mode)
	}
	n.pending = nil
	if n.folder {
		d.syncNames(ino)
	}
}

// syncNames goes backwards: a change that is made sure asks for all earlier
// ones of the folders that it touches, a rename also for its goal's own name.
func (d *disk) syncNames(ino uint64) {
	folders, goals := map[uint64]bool{ino: true}, map[uint64]bool{}
	var sure, rest []change
	for _, c := range slices.Backward(d.pending) {
		wanted := goals[c.ino]
		for _, f := range c.folders() {
			wanted = wanted || folders[f]
		}
		if !wanted {
			rest = append(rest, c)
			continue
		}
		sure = append(sure, c)
		for _, f := range c.folders() {
			folders[f] = true
		}
		if dir, _ := c.adds(); c.moves() || goals[c.ino] {
			goals[dir] = true
		}
	}
	slices.Reverse(rest)
	d.pending = rest
	for _, c := range slices.Backward(sure) {
		c.apply(func(dir uint64) map[string]uint64 { return d.nodes[dir].names })
	}
}

// onto applies a write, truncation or mode.
func (o placed) onto(data []byte, mode uint32) ([]byte, uint32) {
	switch o.Kind {
	case opWrite:
		return written(data, o.Data, o.Off), mode
	case opTruncate:
		return resized(data, o.Off), mode
	default:
		return data, o.Mode
	}
}

// outage is one power cut: which of all that may be on the disk is.
type outage struct {
	*rand.Rand
	manner manner
	sector int64
	keep   float64 // how likely an operation is there whole
	until  int     // in order: the first operation that is lost
}

// manner is the way in which a disk loses what was not synced.
type manner int

const (
	loseAll  manner = iota // nothing that was not synced is there
	keepAll                // all is: as after a mere kill
	inOrder                // it went to the disk in order, up to a point
	anyOrder               // any part of it, torn
	manners
)

// newOutage is the same for the same seed and position.
func newOutage(seed uint64, at int) *outage {
	c := &outage{Rand: rand.New(rand.NewPCG(seed, uint64(at)))}
	c.manner = manner(c.IntN(int(manners)))
	if c.IntN(2) == 0 { // what is likely to find most
		c.manner = anyOrder
	}
	c.sector = []int64{512, 4096}[c.IntN(2)]
	c.keep = []float64{0.15, 0.5, 0.85}[c.IntN(3)]
	c.until = at - c.IntN(min(at, 400)+1)
	return c
}

func (c *outage) String() string {
	return fmt.Sprintf("%s, sectors of %d, keep %.2f", [...]string{"all lost", "all kept", "in order", "any order"}[c.manner], c.sector, c.keep)
}

// there decides on one operation.
func (c *outage) there(o placed) bool {
	switch c.manner {
	case loseAll:
		return false
	case keepAll:
		return true
	case inOrder:
		return o.at < c.until
	default:
		return c.Float64() < c.keep
	}
}

// leave writes what a power cut leaves into a folder.
func (d *disk) leave(c *outage, folder string) error {
	names := d.survivingNames(c)
	return d.writeFolder(c, names, rootIno, folder)
}

func (d *disk) survivingNames(c *outage) map[uint64]map[string]uint64 {
	names := map[uint64]map[string]uint64{}
	for _, ino := range slices.Sorted(maps.Keys(d.nodes)) {
		if n := d.nodes[ino]; n.folder {
			names[ino] = maps.Clone(n.names)
		}
	}
	lost := map[uint64]bool{} // folders of which no later change is there
	for _, p := range d.pending {
		is := c.there(p.placed)
		for _, f := range p.folders() {
			is = is && !lost[f]
		}
		is = is && (!p.moves() || reaches(names, p.To))
		if is {
			p.apply(func(dir uint64) map[string]uint64 { return names[dir] })
			continue
		}
		for _, f := range p.folders() {
			lost[f] = true
		}
	}
	return names
}

// reaches says whether a folder can be found from the root.
func reaches(names map[uint64]map[string]uint64, ino uint64) bool {
	for ino != rootIno {
		above := uint64(0)
		for dir, in := range names {
			for _, n := range in {
				if n == ino {
					above = dir
				}
			}
		}
		if above == 0 {
			return false
		}
		ino = above
	}
	return true
}

func (d *disk) writeFolder(c *outage, names map[uint64]map[string]uint64, ino uint64, path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(names[ino])) {
		child, at := names[ino][name], filepath.Join(path, name)
		n := d.nodes[child]
		var err error
		if n.folder {
			err = d.writeFolder(c, names, child, at)
		} else {
			data, mode := n.survives(c)
			err = cmp.Or(os.WriteFile(at, data, 0o600), os.Chmod(at, os.FileMode(mode)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// survives is what is left of a file.
func (n *onDisk) survives(c *outage) (data []byte, mode uint32) {
	if len(n.pending) == 0 {
		return n.data, n.mode
	}
	data, mode = slices.Clone(n.data), n.mode
	sizes := []int64{int64(len(data))} // which the file has had since the last sync
	size := sizes[0]
	for _, o := range n.pending {
		switch o.Kind {
		case opWrite:
			size = max(size, o.Off+int64(len(o.Data)))
		case opTruncate:
			size = o.Off
		}
		sizes = append(sizes, size)
		switch {
		case c.there(o):
			data, mode = o.onto(data, mode)
		case c.manner == anyOrder && o.Kind == opWrite && c.IntN(3) == 0:
			data = c.torn(data, o)
		}
	}
	if c.manner == anyOrder { // the size goes its own way
		data = resized(data, sizes[c.IntN(len(sizes))])
	}
	return data, mode
}

// torn writes some sectors of a write.
func (c *outage) torn(data []byte, o placed) []byte {
	for from, end := o.Off, o.Off+int64(len(o.Data)); from < end; {
		to := min((from/c.sector+1)*c.sector, end)
		if c.IntN(2) == 0 {
			data = written(data, o.Data[from-o.Off:to-o.Off], from)
		}
		from = to
	}
	return data
}
