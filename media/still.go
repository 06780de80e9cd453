package media

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// still is one picture out of a film: upright, with square pixels, in the
// colours that viewers of jpg and png take for granted, and never enlarged.
type still struct {
	s      InputStream
	in     Input
	w, h   int
	format string // jpg or png
}

// filmOf is the stream that pictures are taken of.
func filmOf(m *InputMedia) (InputStream, error) {
	videos := m.of("video")
	switch {
	case len(videos) == 0:
		return InputStream{}, errors.New("the input has no video stream")
	case videos[0].Codec == "" || videos[0].Codec == "unknown":
		return InputStream{}, errors.New("the input's picture is in a format that ffmpeg does not know")
	case videos[0].Width <= 0 || videos[0].Height <= 0:
		return InputStream{}, errors.New("the input's picture has no size")
	}
	return videos[0], nil
}

// The largest picture: what the verifier reads, and the longest side of a jpg.
const (
	maxPixels = 100_000_000
	maxSide   = 65_000
)

// within is the size of a picture of that shape that is no wider than limit (0
// is any), no larger than its source, and no larger than a picture may be.
func (s InputStream) within(limit int) (w, h int) {
	sw, sh := s.shown()
	if sw <= 0 || sh <= 0 {
		return 0, 0
	}
	scale := min(1, math.Sqrt(maxPixels/(sw*sh)), maxSide/max(sw, sh))
	if limit > 0 {
		scale = min(scale, float64(limit)/sw)
	}
	return max(1, int(sw*scale+0.01)), max(1, int(math.Round(sh*scale)))
}

// fromStart lists the demuxers whose pictures build on all before them.
var fromStart = []string{"gif", "apng"}

// pictureFiles hold one picture and no time.
var pictureFiles = []string{"png_pipe", "jpeg_pipe", "webp_pipe", "tiff_pipe", "bmp_pipe"}

func (m *InputMedia) isPicture() bool { return slices.Contains(pictureFiles, m.Demuxer()) }

// seeks says that a film can be entered in the middle.
func (m *InputMedia) seeks() bool {
	return !m.unindexed() && !m.isPicture() && !slices.Contains(fromStart, m.Demuxer())
}

// end is where the picture ends, 0 where nobody knows.
func (s InputStream) end() float64 {
	if s.DurationS <= 0 {
		return 0
	}
	return s.StartS + s.DurationS
}

// runUp is how far before the wanted frame a film is entered: demuxers seek by
// decoding times, which may be later than what is shown.
const runUp = 1.0

// at are the arguments that read the film, and the filters that let through no
// more than the frame that is on screen at t. ffmpeg's own accurate seek would
// give the first frame after t, and none at all within the last.
func (p still) at(t float64) (args, filters []string) {
	lead := t
	if p.in.Media.seeks() {
		lead = min(t, runUp)
		args = append(args, "-noaccurate_seek", "-ss", plain(t-lead))
	}
	return append(args, guarded(p.in.Path, p.in.Demuxer)...), append(p.held(), "fps=1000:start_time="+micros(lead), "trim=end_frame=1")
}

// held are the whole frames, the last of which stays for as long as it is
// shown: at a steady rate for its own length, else to the end.
func (p still) held() (filters []string) {
	if p.s.interlaced() {
		filters = append(filters, "bwdif=mode=send_frame:deint=interlaced")
	}
	switch {
	case p.s.FPS <= 0:
		return filters
	case p.s.Variable || p.s.DurationS <= 0:
		return append(filters, "tpad=stop_mode=clone:stop=-1")
	}
	return append(filters, "tpad=stop_mode=clone:stop=2")
}

// micros is a time as a filter's option takes it.
func micros(t float64) string { return strconv.FormatFloat(t, 'f', 6, 64) }

// paint are the filters that bring a frame to its size and colours: for jpg
// full range by the matrix of JFIF, for png sRGB.
func (p still) paint(env Env) ([]string, error) {
	var chain []string
	seeThrough := p.s.alpha() && p.format == "png"
	if p.s.alpha() && !seeThrough {
		chain = append(chain, p.s.overBlack()...)
	}
	if p.s.beyondBT709() {
		colours, err := p.s.intoBT709(env, "this input")
		if err != nil {
			return nil, err
		}
		chain = append(chain, colours...)
	}
	scale := fmt.Sprintf("scale=%d:%d:flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp", p.w, p.h)
	if !p.s.asRGB() && !p.s.beyondBT709() || seeThrough && !p.s.rgb() {
		scale += p.s.untagged()
	}
	switch {
	case p.format == "jpg":
		return append(chain, scale+jfif, "setsar=1"), nil
	case seeThrough:
		return append(chain, scale, "format=rgba", "setsar=1", srgb), nil
	}
	return append(chain, scale, "format=rgb24", "setsar=1", srgb), nil
}

const (
	jfif = ":out_color_matrix=bt601:out_range=pc,format=yuvj420p"
	srgb = "setparams=range=pc:color_primaries=bt709:color_trc=iec61966-2-1:colorspace=gbr"
)

// encoded are the arguments of a picture file.
func encoded(format string) []string {
	if format == "png" {
		return []string{"-c:v", "png", "-f", "image2pipe"}
	}
	return []string{"-c:v", "mjpeg", "-q:v", "3", "-f", "image2pipe"}
}

// only maps one stream and nothing beside it.
func only(s InputStream, filters ...string) []string {
	return []string{"-map", "0:" + strconv.Itoa(s.Index), "-an", "-sn", "-dn", "-vf", strings.Join(filters, ","), "-fps_mode", "passthrough"}
}

// quietly begins every command line.
func quietly(level string) []string {
	return []string{"-nostdin", "-hide_banner", "-loglevel", level, "-progress", "pipe:1", "-stats_period", "0.5", "-y"}
}

func pictureFile(format string) Output {
	if format == "png" {
		return Output{Ext: "png", ContentType: "image/png"}
	}
	return Output{Ext: "jpg", ContentType: "image/jpeg"}
}

// expectPicture is a picture of that size, or one no wider than limit.
func expectPicture(format string, w, h, limit int) Expectation {
	codec := map[string]string{"jpg": "mjpeg", "png": "png"}[format]
	return Expectation{
		Container: format, Streams: []ExpectStream{{Kind: "video", Still: true}},
		Video: &ExpectVideo{Codec: codec, Still: true, Width: w, Height: h, BoxWidth: limit, BitDepth: 8},
	}
}

func needsOfPictures(in []*InputMedia, needs ...string) []string {
	needs = append([]string{}, needs...)
	if slices.ContainsFunc(in, func(m *InputMedia) bool { return m.shows(InputStream.beyondBT709) }) {
		needs = append(needs, "zscale")
	}
	return needs
}
