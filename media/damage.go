package media

import "strings"

// damage is how ffmpeg (5 to 8) words, at -loglevel warning, that it could not
// read or decode a part of its input. Warnings on odd but whole files (time
// stamps, pixel formats, guessed layouts) are not among them.
var damage = []string{
	"error while decoding", "error submitting packet to decoder", "error submitting a packet to decoder", "decoding error",
	"error during demuxing", "decode error rate",
	"invalid data found when processing input",
	"packet corrupt", "corrupt input packet", "corrupt decoded frame", "pes packet size mismatch", "truncated packet",
	"partial file", "file ended prematurely", "filesize and duration do not match (growing file?)",
	"invalid as first byte of an ebml number", "read error at pos", "unknown-sized element",
	"invalid nal unit size", "error splitting the input into nal units", "missing picture in access unit",
	"decode_slice_header error", "no frame!", "concealing", "ac-tex damaged", "invalid mb type", "slice mismatch",
	"decode_frame() failed", "error decoding aac frame header", "error in spectral data", "exhausted before end element",
	"invalid pcm packet", "header missing", "crc mismatch", "inflate returned error", "ifd offset is greater than image size",
	"packet mismatch", "edit unit sync lost", "exceeds containing master element", "packet_obj_size", "packet_frag_size is invalid", "ff asf bad header",
}

// DamageOf tells whether a line of ffmpeg's stderr speaks of damaged input:
// ffmpeg goes on after most of them and exits with 0. A line that bears the level
// info does not, nor one that is indented: these repeat what is written in files.
func DamageOf(stderrLine string) bool {
	line := strings.ToLower(stderrLine)
	if strings.HasPrefix(line, "[info]") || strings.HasPrefix(line, " ") {
		return false
	}
	for _, words := range damage {
		if strings.Contains(line, words) {
			return true
		}
	}
	return false
}
