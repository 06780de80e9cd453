package probe

import "math"

// wave is a RIFF file of sound as it is being read.
type wave struct {
	file
	riff       int64 // where the RIFF form says that it ends
	wide       int64 // of data, as RF64 keeps it
	stream     Stream
	perSecond  int64 // bytes
	blockAlign int64
	data       int64
	hasFormat  bool
	hasData    bool
	oddity     string
}

// readWAV walks all chunks; everything that they claim must lie in the file.
func readWAV(f file) (*Media, error) {
	w := wave{file: f, stream: Stream{Kind: "audio", Codec: "pcm"}}
	if err := w.form(); err != nil {
		return nil, err
	}
	off := int64(12)
	for seen := 0; off+8 <= w.riff; seen++ {
		if seen > maxBoxes {
			return nil, errf("the file is damaged: it has more than %d chunks", maxBoxes)
		}
		size, err := w.chunk(off)
		if err != nil {
			return nil, err
		}
		off += 8 + size + size%2 // an odd chunk is followed by a byte that fills
	}
	if off < w.riff || w.riff < w.size {
		w.oddity = "bytes follow behind the last chunk"
	}
	return w.media()
}

// form reads how long the whole says it is. Over 4 GiB the sizes stand in ds64,
// the first chunk of RF64.
func (w *wave) form() error {
	b, err := w.bytes(0, min(36, w.size))
	if err != nil {
		return err
	}
	riff := int64(le.Uint32(b[4:]))
	if string(b[:4]) == "RF64" {
		if len(b) < 36 || string(b[12:16]) != "ds64" || le.Uint32(b[16:]) < 24 {
			return errf("the file is damaged: it has no ds64 chunk, where RF64 keeps its sizes")
		}
		riff = int64(min(le.Uint64(b[20:]), math.MaxInt64-8))
		w.wide = int64(min(le.Uint64(b[28:]), math.MaxInt64))
	} else if riff == math.MaxUint32 || riff == 0 {
		return errf("the file does not say how long it is: its writing never ended")
	}
	if w.riff = riff + 8; w.riff > w.size {
		return errf("the file ends early: it needs %d bytes more", w.riff-w.size)
	}
	return nil
}

// chunk reads what it must know of, and gives the chunk's size.
func (w *wave) chunk(off int64) (size int64, err error) {
	head, err := w.bytes(off, 8)
	if err != nil {
		return 0, err
	}
	id, size := string(head[:4]), int64(le.Uint32(head[4:]))
	if id == "data" && size == math.MaxUint32 && w.wide > 0 {
		size = w.wide
	}
	if size > w.riff-off-8 {
		return 0, errf("the file ends early: its %s chunk needs %d bytes more", printable(id), size-(w.riff-off-8))
	}
	switch {
	case id == "fmt " && w.hasFormat, id == "data" && w.hasData:
		return 0, errf("the file is damaged: it has two %s chunks", printable(id))
	case id == "fmt " && size < 16:
		return 0, errf("the file is damaged: its fmt chunk is too short")
	case id == "fmt ":
		b, err := w.bytes(off+8, min(size, 40))
		if err != nil {
			return 0, err
		}
		w.format(b)
	case id == "data":
		w.hasData, w.data = true, size
	case printable(id) != id:
		return 0, errf("the file is damaged: a chunk has no name")
	}
	return size, nil
}

const (
	waveInt        = 1
	waveFloat      = 3
	waveExtensible = 0xfffe
)

func (w *wave) format(b []byte) {
	w.hasFormat = true
	tag := le.Uint16(b)
	if tag == waveExtensible && len(b) >= 26 {
		tag = le.Uint16(b[24:])
	}
	if tag != waveInt && tag != waveFloat {
		w.stream.Codec = map[uint16]string{2: "adpcm_ms", 6: "pcm_alaw", 7: "pcm_mulaw", 0x11: "adpcm_ima_wav", 0x55: "mp3", 0xff: "aac"}[tag]
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
	case w.perSecond == 0 || w.blockAlign == 0 || w.stream.Channels == 0 || w.stream.SampleRate == 0, !w.adds():
		return nil, errf("the file is damaged: its fmt chunk makes no sense")
	}
	if w.data%w.blockAlign != 0 {
		w.oddity = "its sound ends inside a sample"
	}
	w.stream.Frames = w.data / w.blockAlign
	w.stream.DurationS = float64(w.data) / float64(w.perSecond)
	return &Media{Container: "wav", Brands: []string{}, DurationS: w.stream.DurationS, Streams: []Stream{w.stream}, Oddity: w.oddity}, nil
}

// adds tells whether the numbers of plain PCM, which say the same thing several
// times, agree.
func (w *wave) adds() bool {
	s := w.stream
	bytes := int64(s.BitDepth+7) / 8
	return s.Codec != "pcm" || bytes > 0 && w.blockAlign == bytes*int64(s.Channels) && w.perSecond == w.blockAlign*int64(s.SampleRate)
}
