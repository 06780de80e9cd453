package probe

// fields reads numbers one after the other and remembers when they ran out.
type fields struct {
	data  []byte
	short bool
}

func (f *fields) take(n int) []byte {
	if len(f.data) < n {
		f.short = true
		return make([]byte, n)
	}
	b := f.data[:n]
	f.data = f.data[n:]
	return b
}

func (f *fields) u8() byte { return f.take(1)[0] }

func (f *fields) u16() uint16 { return be.Uint16(f.take(2)) }

func (f *fields) u32() uint32 { return be.Uint32(f.take(4)) }

func (f *fields) u64() uint64 { return be.Uint64(f.take(8)) }

func (f *fields) err(box string) error {
	if f.short {
		return errf("the file is damaged: its %s box is too short", box)
	}
	return nil
}
