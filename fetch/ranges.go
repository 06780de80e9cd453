package fetch

import "slices"

// span is a piece of the object that one request at a time works through.
type span struct{ at, to int64 }

// size is the length of range i: all but the last have the same.
func (d *download) size(i int) int64 {
	return min(d.o.rangeBytes, d.o.Bytes-int64(i)*d.o.rangeBytes)
}

func (d *download) full(i int) bool { return d.have[i] == d.size(i) }

// claim is the next piece to fetch: a range where several requests run, else
// all up to the next range that is there, or, where the server knows no ranges,
// up to the end.
func (d *download) claim() (span, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.have {
		if d.full(i) || d.taken[i] {
			continue
		}
		s := span{at: int64(i)*d.o.rangeBytes + d.have[i]}
		for last := i; ; last++ {
			d.taken[last] = true
			s.to = int64(last)*d.o.rangeBytes + d.size(last)
			if d.workers() > 1 || s.to == d.o.Bytes || d.full(last+1) && !d.inOrder {
				return s, true
			}
		}
	}
	return span{}, false
}

// gain counts what has been written at an offset; n bytes that do not reach
// beyond one write. What was there before counts only once.
func (d *download) gain(at, n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var sum int64
	for n > 0 {
		i := int(at / d.o.rangeBytes)
		start := at - int64(i)*d.o.rangeBytes
		took := min(n, d.size(i)-start)
		if more := start + took - d.have[i]; more > 0 {
			d.have[i] += more
			sum += more
		}
		at, n = at+took, n-took
	}
	d.gained += sum
	d.o.Progress(sum)
	d.change.Broadcast()
}

func (d *download) gains() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.gained
}

// inARow waits until more than n bytes are there from the start, and says how
// many; or n, when nothing comes any more.
func (d *download) inARow(n int64) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		for d.front < len(d.have) && d.full(d.front) {
			d.front++
		}
		now := int64(d.front) * d.o.rangeBytes
		if d.front < len(d.have) {
			now += d.have[d.front]
		}
		if now = min(now, d.o.Bytes); now > n || d.ended {
			return now
		}
		d.change.Wait()
	}
}

// unkept waits for ranges that are whole and not in the journal. None means
// that nothing comes any more.
func (d *download) unkept() []int {
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		var found []int
		for i := range d.have {
			if d.full(i) && !d.kept[i] {
				found = append(found, i)
			}
		}
		if len(found) > 0 || d.ended {
			return found
		}
		d.change.Wait()
	}
}

func (d *download) keptNow(ranges []int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, i := range ranges {
		d.kept[i] = true
	}
	d.change.Broadcast()
}

func (d *download) keptNoMore() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keeps = false
	d.change.Broadcast()
}

// awaitKept waits until the journal has every range that is whole by now.
func (d *download) awaitKept() {
	d.mu.Lock()
	defer d.mu.Unlock()
	var whole []int
	for i := range d.have {
		if d.full(i) {
			whole = append(whole, i)
		}
	}
	for d.keeps && slices.ContainsFunc(whole, func(i int) bool { return !d.kept[i] }) {
		d.change.Wait()
	}
}
