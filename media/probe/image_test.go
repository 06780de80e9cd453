package probe

import (
	"bytes"
	"compress/zlib"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"rendermac/media/mediatest"
)

func gradient(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, color.NRGBA{uint8(x * 3), uint8(y * 5), uint8(x ^ y), uint8(255 - x&1)})
		}
	}
	return img
}

func aPNG(tb testing.TB, w, h int) []byte {
	tb.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, gradient(w, h)); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func aJPEG(tb testing.TB, w, h int) []byte {
	tb.Helper()
	var out bytes.Buffer
	if err := jpeg.Encode(&out, gradient(w, h), nil); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// chunk is one of a PNG, with its CRC.
func chunk(typ string, data []byte) []byte {
	body := append([]byte(typ), data...)
	return be.AppendUint32(append(be.AppendUint32(nil, uint32(len(data))), body...), crc32.ChecksumIEEE(body))
}

func ihdr(w, h int, depth, colour, interlaced byte) []byte {
	return chunk("IHDR", append(be.AppendUint32(be.AppendUint32(nil, uint32(w)), uint32(h)), depth, colour, 0, 0, interlaced))
}

func deflated(data []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	z.Write(data)
	z.Close()
	return out.Bytes()
}

// pngOf puts chunks between signature and end.
func pngOf(chunks ...[]byte) []byte {
	return append(append([]byte("\x89PNG\r\n\x1a\n"), bytes.Join(chunks, nil)...), chunk("IEND", nil)...)
}

func wantError(t *testing.T, data []byte, want string) {
	t.Helper()
	m, err := of(data)
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, want) {
		t.Errorf("%v (%+v), want %q", err, m, want)
	}
}

// Whatever byte of a picture is missing or, in a PNG, another one, it is refused.
func TestImage_EveryCutAndEveryBit(t *testing.T) {
	for name, data := range map[string][]byte{"png": aPNG(t, 20, 12), "jpg": aJPEG(t, 20, 12)} {
		must(t, data)
		for cut := 1; cut < len(data); cut++ {
			if m, err := of(data[:cut]); err == nil {
				t.Fatalf("a %s cut to %d of %d bytes passed: %+v", name, cut, len(data), m)
			}
		}
	}
	data := aPNG(t, 20, 12)
	for bit := range 8 * len(data) {
		flipped := bytes.Clone(data)
		flipped[bit/8] ^= 1 << (bit % 8)
		if m, err := of(flipped); err == nil {
			t.Fatalf("a png with bit %d flipped passed: %+v", bit, m)
		}
	}
}

func TestImage_PNG(t *testing.T) {
	rows := bytes.Repeat([]byte{0, 1, 2, 3, 4}, 3) // 4×3, grey
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"grey", pngOf(ihdr(4, 3, 8, 0, 0), chunk("IDAT", deflated(rows))), ""},
		{"pixels in several chunks", pngOf(ihdr(4, 3, 8, 0, 0), chunk("IDAT", deflated(rows)[:3]), chunk("IDAT", nil), chunk("IDAT", deflated(rows)[3:])), ""},
		{"a palette of one bit", pngOf(ihdr(9, 1, 1, 3, 0), chunk("PLTE", []byte("rgbRGB")), chunk("IDAT", deflated([]byte{0, 0xff, 0x80}))), ""},
		{"interlaced", pngOf(ihdr(1, 1, 16, 6, 1), chunk("IDAT", deflated(make([]byte, 9)))), ""},
		{"a row too few", pngOf(ihdr(4, 4, 8, 0, 0), chunk("IDAT", deflated(rows))), "cannot be decoded"},
		{"a row too many", pngOf(ihdr(4, 2, 8, 0, 0), chunk("IDAT", deflated(rows))), "more than the picture has"},
		{"no filter", pngOf(ihdr(4, 3, 8, 0, 0), chunk("IDAT", deflated(bytes.Repeat([]byte{5}, 15)))), "no filter"},
		{"no zlib", pngOf(ihdr(4, 3, 8, 0, 0), chunk("IDAT", []byte("no zlib stream"))), "cannot be decoded"},
		{"no pixels", pngOf(ihdr(4, 3, 8, 0, 0)), "no pixels"},
		{"no palette", pngOf(ihdr(4, 3, 8, 3, 0), chunk("IDAT", deflated(rows))), "no palette"},
		{"no colour type", pngOf(ihdr(4, 3, 8, 5, 0), chunk("IDAT", deflated(rows))), "makes no sense"},
		{"no width", pngOf(ihdr(0, 3, 8, 0, 0), chunk("IDAT", deflated(rows))), "no size"},
		{"100 megapixels and more", pngOf(ihdr(10001, 10000, 8, 0, 0), chunk("IDAT", deflated(rows))), "more than 100 megapixels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.want != "" {
				wantError(t, c.data, c.want)
				return
			}
			if m := must(t, c.data); m.Container != "png" || m.Oddity != "" || m.Streams[0].Codec != "png" {
				t.Errorf("%+v", m)
			}
		})
	}
	if m := must(t, pngOf(ihdr(4, 3, 8, 0, 0), chunk("acTL", make([]byte, 8)), chunk("IDAT", deflated(rows)))); m.Streams[0].Codec != "apng" {
		t.Errorf("an animation passed for a still picture: %+v", m)
	}
}

// 13 megapixels are walked, not decoded: their pixels are not looked at.
func TestImage_LargeOnesAreWalkedOnly(t *testing.T) {
	large := pngOf(ihdr(13000, 1000, 8, 0, 0), chunk("IDAT", []byte("no zlib stream")))
	if m := must(t, large); m.Streams[0].Width != 13000 {
		t.Errorf("%+v", m)
	}
	large[len(large)-20] ^= 1
	wantError(t, large, "does not have its CRC")
}

func TestImage_JPEG(t *testing.T) {
	data := aJPEG(t, 40, 24)
	at := bytes.Index(data, []byte{0xff, 0xda})
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"no end", data[:len(data)-2], "before the end"},
		{"the end before the pixels", append(bytes.Clone(data[:at]), 0xff, 0xd9), "no pixels"},
		{"no markers", append(bytes.Clone(data[:at]), "garbage, and more of it"...), "markers make no sense"},
		{"pixels without a header", append([]byte{0xff, 0xd8}, data[at:]...), "no JPEG frame header"},
		{"few pixels", append(bytes.Clone(data[:at+20]), 0xff, 0xd9), "cannot be decoded"},
	} {
		t.Run(c.name, func(t *testing.T) { wantError(t, c.data, c.want) })
	}
	if m := must(t, data); m.Oddity != "" || m.Streams[0].Width != 40 || m.Streams[0].Chroma != "4:2:0" {
		t.Errorf("%+v", m)
	}
	if m := must(t, append(bytes.Clone(data), data...)); m.Oddity == "" {
		t.Error("what lies behind the picture is not told")
	}
}

// exif is a segment that says how the picture is to be turned.
func exif(orientation byte, order string) []byte {
	tiff := "MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(orientation) + "\x00\x00"
	if order == "II" {
		tiff = "II\x2a\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00" + string(orientation) + "\x00\x00\x00"
	}
	body := "Exif\x00\x00" + tiff
	return append([]byte{0xff, 0xe1, 0, byte(len(body) + 2)}, body...)
}

func TestImage_ExifTurns(t *testing.T) {
	data := aJPEG(t, 40, 24)
	for orientation, want := range map[byte][3]int{1: {0, 40, 24}, 3: {180, 40, 24}, 6: {90, 24, 40}, 8: {270, 24, 40}} {
		for _, order := range []string{"MM", "II"} {
			s := must(t, append(append(bytes.Clone(data[:2]), exif(orientation, order)...), data[2:]...)).Streams[0]
			if [3]int{s.Rotation, s.Width, s.Height} != want {
				t.Errorf("orientation %d in %s: %+v, want %v", orientation, order, s, want)
			}
		}
	}
}

// Kinds of JPEG and PNG that other programs write.
func TestImage_Kinds(t *testing.T) {
	in := []string{"-f", "lavfi", "-i", "testsrc2=s=66x42", "-frames:v", "1"}
	for _, c := range []struct {
		name, brief string
		args        []string
	}{
		{"422.jpg", "video mjpeg   66x42 turn 0 8bit 4:2:2 0fps 1 frames", []string{"-pix_fmt", "yuvj422p"}},
		{"444.jpg", "video mjpeg   66x42 turn 0 8bit 4:4:4 0fps 1 frames", []string{"-pix_fmt", "yuvj444p"}},
		{"48.png", "video png   66x42 turn 0 16bit  0fps 1 frames", []string{"-pix_fmt", "rgb48be"}},
		{"alpha.png", "video png   66x42 turn 0 8bit  0fps 1 frames", []string{"-pix_fmt", "rgba"}},
		{"one.png", "video png   66x42 turn 0 1bit  0fps 1 frames", []string{"-pix_fmt", "monob"}},
	} {
		m := must(t, read(t, mediatest.Clip(t, c.name, append(in, c.args...)...)))
		if got := brief(m.Streams[0]); got != c.brief || m.Oddity != "" {
			t.Errorf("%s: %s (%s), want %s", c.name, got, m.Oddity, c.brief)
		}
	}
}
