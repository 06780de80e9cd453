package mediatest

import "encoding/binary"

// pgs is a Blu-ray subtitle, which ffmpeg reads but does not write: a grey bar
// of 64×8 pixels from 0.5 to 1.5 s.
func pgs() []byte {
	var line []byte // one run of 64 pixels in colour 1, then the end of the line
	line = append(line, 0x00, 0xc0, 64, 1, 0x00, 0x00)
	var runs []byte
	for range 8 {
		runs = append(runs, line...)
	}
	object := append([]byte{0, 0, 0, 0xc0, 0, 0, byte(len(runs) + 4), 0, 64, 0, 8}, runs...)
	palette := []byte{0, 0, 1, 180, 128, 128, 255}
	window := []byte{1, 0, 0, 48, 0, 70, 0, 64, 0, 8}
	const picture, colours, pixels, windows, end = 0x16, 0x14, 0x15, 0x17, 0x80
	var file []byte
	at := func(pts uint32, kind byte, body []byte) {
		file = append(file, 'P', 'G')
		file = binary.BigEndian.AppendUint32(file, pts)
		file = append(file, 0, 0, 0, 0, kind)
		file = binary.BigEndian.AppendUint16(file, uint16(len(body)))
		file = append(file, body...)
	}
	at(45_000, picture, []byte{0, 160, 0, 90, 0x10, 0, 0, 0x80, 0, 0, 1, 0, 0, 0, 0, 0, 48, 0, 70})
	at(45_000, windows, window)
	at(45_000, colours, palette)
	at(45_000, pixels, object)
	at(45_000, end, nil)
	at(135_000, picture, []byte{0, 160, 0, 90, 0x10, 0, 1, 0, 0, 0, 0})
	at(135_000, windows, window)
	at(135_000, end, nil)
	return file
}
