package probe

import "math"

// readWAV walks the RIFF chunks; all sound must lie inside the file.
func readWAV(f file) (*Media, error) {
	w := wave{file: f, stream: Stream{Kind: "audio", Codec: "pcm"}}
	wide, err := w.ds64()
	if err != nil {
		return nil, err
	}
	for off, seen := int64(12), 0; off+8 <= f.size && !w.done(); seen++ {
		if seen > maxBoxes {
			return nil, errf("the file is damaged: it has more than %d chunks", maxBoxes)
		}
		head, err := f.bytes(off, 8)
		if err != nil {
			return nil, err
		}
		size := int64(le.Uint32(head[4:]))
		if string(head[:4]) == "data" && size == math.MaxUint32 && wide > 0 {
			size = wide
		}
		if size > f.size-off-8 {
			return nil, errf("the file ends early: its %s chunk needs %d bytes more", printable(string(head[:4])), size-(f.size-off-8))
		}
		if err := w.chunk(string(head[:4]), off+8, size); err != nil {
			return nil, err
		}
		off += 8 + size + size%2
	}
	return w.media()
}

type wave struct {
	file
	stream     Stream
	perSecond  int64 // bytes
	blockAlign int64
	data       int64
	hasFormat  bool
	hasData    bool
}

func (w *wave) done() bool { return w.hasFormat && w.hasData }

// ds64 is where RF64 keeps the size of data over 4 GiB.
func (w *wave) ds64() (int64, error) {
	if w.size < 36 {
		return 0, nil
	}
	b, err := w.bytes(12, 24)
	if err != nil || string(b[:4]) != "ds64" {
		return 0, err
	}
	return int64(min(le.Uint64(b[16:]), math.MaxInt64)), nil
}

func (w *wave) chunk(id string, off, size int64) error {
	switch id {
	case "fmt ":
		if size < 16 {
			return errf("the file is damaged: its fmt chunk is too short")
		}
		b, err := w.bytes(off, min(size, 40))
		if err != nil {
			return err
		}
		w.format(b)
	case "data":
		w.hasData, w.data = true, size
	}
	return nil
}

func (w *wave) format(b []byte) {
	w.hasFormat = true
	tag := le.Uint16(b)
	if tag == 0xfffe && len(b) >= 26 {
		tag = le.Uint16(b[24:])
	}
	if tag != 1 && tag != 3 {
		w.stream.Codec = map[uint16]string{2: "adpcm_ms", 6: "pcm_alaw", 7: "pcm_mulaw", 0x55: "mp3", 0xff: "aac"}[tag]
	}
	w.stream.Channels = int(le.Uint16(b[2:]))
	w.stream.SampleRate = wholeRate(float64(le.Uint32(b[4:])))
	w.perSecond = int64(le.Uint32(b[8:]))
	w.blockAlign = int64(le.Uint16(b[12:]))
	w.stream.BitDepth = int(le.Uint16(b[14:]))
}

func (w *wave) media() (*Media, error) {
	switch {
	case !w.hasFormat:
		return nil, errf("the file is damaged: it has no fmt chunk")
	case !w.hasData:
		return nil, errf("the file has no sound (data chunk)")
	case w.perSecond == 0 || w.blockAlign == 0 || w.stream.Channels == 0 || w.stream.SampleRate == 0:
		return nil, errf("the file is damaged: its fmt chunk makes no sense")
	}
	w.stream.Frames = w.data / w.blockAlign
	w.stream.DurationS = float64(w.data) / float64(w.perSecond)
	return &Media{Container: "wav", Brands: []string{}, DurationS: w.stream.DurationS, Streams: []Stream{w.stream}}, nil
}
