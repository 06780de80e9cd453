package probe

import (
	"bytes"
	"math"
	"testing"
)

// riff builds a chunk; an odd one is filled up.
func riff(id string, data ...[]byte) []byte {
	body := bytes.Join(data, nil)
	out := append(le.AppendUint32([]byte(id), uint32(len(body))), body...)
	return append(out, make([]byte, len(body)%2)...)
}

func pcmFormat(channels, rate, bits int) []byte {
	b := le.AppendUint16(le.AppendUint16(nil, 1), uint16(channels))
	b = le.AppendUint32(le.AppendUint32(b, uint32(rate)), uint32(rate*channels*bits/8))
	return le.AppendUint16(le.AppendUint16(b, uint16(channels*bits/8)), uint16(bits))
}

func extensible(format []byte, sub uint16) []byte {
	b := append(bytes.Clone(format), 22, 0, 16, 0, 3, 0, 0, 0)
	le.PutUint16(b, waveExtensible)
	return append(le.AppendUint16(b, sub), make([]byte, 14)...)
}

func waveOf(chunks ...[]byte) []byte {
	return riff("RIFF", append([][]byte{[]byte("WAVE")}, chunks...)...)
}

// rf64 keeps its sizes in ds64.
func rf64(riffSize, dataSize uint64, chunks ...[]byte) []byte {
	ds := le.AppendUint64(le.AppendUint64(le.AppendUint64(nil, riffSize), dataSize), 0)
	out := waveOf(append([][]byte{riff("ds64", ds, make([]byte, 4))}, chunks...)...)
	copy(out, "RF64\xff\xff\xff\xff")
	return out
}

func TestWAV(t *testing.T) {
	format, data := riff("fmt ", pcmFormat(2, 8000, 16)), riff("data", make([]byte, 32000))
	big := riff("data", make([]byte, 32000))
	le.PutUint32(big[4:], math.MaxUint32)
	whole := waveOf(format, data)
	endless := bytes.Clone(whole)
	le.PutUint32(endless[4:], math.MaxUint32)
	for _, c := range []struct {
		name, want, oddity string
		data               []byte
	}{
		{"plain", "", "", whole},
		{"an odd chunk before", "", "", waveOf(riff("LIST", []byte("odd")), format, data)},
		{"a chunk behind", "", "", waveOf(format, data, riff("id3 ", make([]byte, 7)))},
		{"extensible", "", "", waveOf(riff("fmt ", extensible(pcmFormat(2, 8000, 16), 1)), data)},
		{"RF64", "", "", rf64(uint64(4+36+24+32008), 32000, format, big)},
		{"RF64 that claims more", "needs 1000000 bytes more", "", rf64(uint64(4+36+24+32008+1000000), 32000, format, big)},
		{"RF64 whose data claims more", "data chunk needs", "", rf64(uint64(4+36+24+32008), 33000, format, big)},
		{"RF64 without ds64", "no ds64 chunk", "", append([]byte("RF64"), waveOf(format, data)[4:]...)},
		{"cut off", "ends early", "", whole[:len(whole)-1]},
		{"data that claims more than the form", "data chunk needs", "", append(le.AppendUint32(bytes.Clone(whole[:40]), 32002), whole[44:]...)},
		{"a length that nobody knows", "its writing never ended", "", endless},
		{"bytes behind", "", "bytes follow", append(bytes.Clone(whole), "junk"...)},
		{"half a sample", "", "inside a sample", waveOf(format, riff("data", make([]byte, 31998)))},
		{"no format", "no fmt chunk", "", waveOf(data)},
		{"no data", "no sound", "", waveOf(format)},
		{"two formats", "two fmt  chunks", "", waveOf(format, format, data)},
		{"two data", "two data chunks", "", waveOf(format, data, data)},
		{"a format that is too short", "too short", "", waveOf(riff("fmt ", make([]byte, 14)), data)},
		{"a chunk without a name", "no name", "", waveOf(format, riff("\x00\x01\x02\x03", nil), data)},
		{"a rate that does not add up", "makes no sense", "", waveOf(riff("fmt ", pcmFormat(2, 8000, 16)[:8], []byte{1, 2, 3, 0, 4, 0, 16, 0}), data)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.want != "" {
				wantError(t, c.data, c.want)
				return
			}
			m := must(t, c.data)
			if s := m.Streams[0]; s.Channels != 2 || s.SampleRate != 8000 || s.BitDepth != 16 || s.Codec != "pcm" || math.Abs(s.DurationS-1) > 0.001 {
				t.Errorf("%+v", s)
			}
			if (m.Oddity == "") != (c.oddity == "") || !bytes.Contains([]byte(m.Oddity), []byte(c.oddity)) {
				t.Errorf("oddity %q, want %q", m.Oddity, c.oddity)
			}
		})
	}
}

// Each number of the format is checked by another: no bit of it can flip unseen.
func TestWAV_EveryBitOfTheHeader(t *testing.T) {
	whole := waveOf(riff("fmt ", pcmFormat(2, 8000, 16)), riff("data", make([]byte, 3200)))
	for bit := 32; bit < 44*8; bit++ {
		if bit >= 20*8 && bit < 22*8 {
			continue // the format's tag: it becomes another codec, which expectations judge
		}
		flipped := bytes.Clone(whole)
		flipped[bit/8] ^= 1 << (bit % 8)
		if m, err := of(flipped); err == nil && m.Oddity == "" {
			t.Errorf("bit %d of byte %d flipped passed: %+v", bit%8, bit/8, m)
		}
	}
}
