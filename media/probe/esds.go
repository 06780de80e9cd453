package probe

// streamDescriptor reads esds: nested descriptors, of which the object type
// names the codec and, for aac, the AudioSpecificConfig the rest.
func streamDescriptor(s *Stream, data []byte) {
	f := fields{data: data}
	f.take(4)
	for !f.short && len(f.data) > 0 {
		switch tag := f.u8(); tag {
		case 3: // ES_Descriptor
			f.length()
			f.u16()
			f.skipOptional(f.u8())
		case 4: // DecoderConfigDescriptor
			f.length()
			objectType(s, f.u8())
			f.take(12)
		case 5: // DecoderSpecificInfo
			config := f.take(min(f.length(), len(f.data)))
			if s.Codec == "aac" {
				aacConfig(s, config)
			}
			return
		default:
			f.take(min(f.length(), len(f.data)))
		}
	}
}

// length is up to four bytes of seven bits.
func (f *fields) length() (n int) {
	for range 4 {
		b := f.u8()
		n = n<<7 | int(b&0x7f)
		if b&0x80 == 0 {
			break
		}
	}
	return n
}

func (f *fields) skipOptional(flags byte) {
	if flags&0x80 != 0 {
		f.u16()
	}
	if flags&0x40 != 0 {
		f.take(min(int(f.u8()), len(f.data)))
	}
	if flags&0x20 != 0 {
		f.u16()
	}
}

func objectType(s *Stream, id byte) {
	names := map[byte]string{
		0x20: "mpeg4", 0x21: "h264", 0x23: "hevc", 0x40: "aac", 0x60: "mpeg2video", 0x61: "mpeg2video", 0x62: "mpeg2video",
		0x64: "mpeg2video", 0x65: "mpeg2video", 0x66: "aac", 0x67: "aac", 0x68: "aac", 0x69: "mp3", 0x6a: "mpeg1video",
		0x6b: "mp3", 0x6c: "mjpeg", 0x6d: "png", 0xa5: "ac3", 0xa6: "eac3", 0xa9: "dts", 0xad: "opus", 0xdd: "vorbis",
	}
	if name := names[id]; name != "" {
		s.Codec = name
	}
}

var aacRates = []int{96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350}

// aacConfig reads the AudioSpecificConfig. A program config element in place of
// a channel count leaves the sample entry's own.
func aacConfig(s *Stream, data []byte) {
	b := bits{data: data}
	object := b.read(5)
	if object == 31 {
		object = 32 + b.read(6)
	}
	rate := aacRate(&b)
	channels := b.read(4)
	if object == 5 || object == 29 { // SBR: what comes out has the second rate
		rate = aacRate(&b)
	}
	if b.short {
		return
	}
	s.Profile = map[uint32]string{1: "Main", 2: "LC", 5: "HE-AAC", 29: "HE-AACv2", 23: "LD", 39: "ELD"}[object]
	if rate > 0 {
		s.SampleRate = rate
	}
	if channels > 0 && channels < 8 {
		s.Channels = []int{0, 1, 2, 3, 4, 5, 6, 8}[channels]
	}
}

func aacRate(b *bits) int {
	index := b.read(4)
	if index == 15 {
		return int(b.read(24))
	}
	if int(index) < len(aacRates) {
		return aacRates[index]
	}
	return 0
}
