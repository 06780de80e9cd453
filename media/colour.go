package media

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// scaleColours is what the scale filter must know of colour. h264 becomes bt709;
// other codecs keep the source's own, unless the picture comes as RGB.
func (p *transcodeParams) scaleColours(s InputStream, m InputMedia) string {
	if !p.makesBT709(s, m) {
		return ":out_range=tv"
	}
	if p.mustTonemap(&m) || p.narrows(s) || s.asRGB() {
		return ":out_color_matrix=bt709:out_range=tv"
	}
	return s.untagged() + ":out_color_matrix=bt709:out_range=tv"
}

func (p *transcodeParams) makesBT709(s InputStream, m InputMedia) bool {
	return s.asRGB() || p.VideoCodec == "h264" && !p.keepsHDR(s, m)
}

// untagged pictures follow the custom of players: the matrix goes by size.
func (s InputStream) untagged() string {
	switch {
	case known(s.Matrix, "") != "":
		return ""
	case s.Height < 720:
		return ":in_color_matrix=smpte170m"
	}
	return ":in_color_matrix=bt709"
}

// keepsHDR is h264 with tonemap off: the pixels stay as they are, so the tags must.
func (p *transcodeParams) keepsHDR(s InputStream, m InputMedia) bool {
	return s.hdr() && !p.mustTonemap(&m)
}

// tonemapFilters completes the tags first, without which zscale finds no way.
func tonemapFilters(s InputStream) []string {
	return []string{
		"format=yuv444p10le", // zscale wants chroma that fits: 4:4:4 fits odd sizes too
		fmt.Sprintf("setparams=color_trc=%s:color_primaries=%s:colorspace=%s", s.Transfer, known(s.Primaries, "bt2020"), known(s.Matrix, "bt2020nc")),
		"zscale=t=linear:npl=100", "format=gbrpf32le", "zscale=p=bt709", "tonemap=tonemap=hable:desat=0",
		"zscale=t=bt709:m=bt709:r=tv", "format=yuv444p",
	}
}

// wide is a picture of a wider gamut than bt709, which would look dull if it were
// only tagged anew.
func (s InputStream) wide() bool {
	return !s.hdr() && !s.asRGB() && slices.Contains([]string{"bt2020", "smpte431", "smpte432", "film"}, s.Primaries)
}

func (p *transcodeParams) narrows(s InputStream) bool { return p.VideoCodec == "h264" && s.wide() }

const narrowing = "converting the colours of this wide-gamut input"

func narrowFilters(s InputStream) []string {
	return []string{
		"format=yuv444p10le",
		fmt.Sprintf("setparams=color_trc=%s:color_primaries=%s:colorspace=%s", known(s.Transfer, "bt709"), s.Primaries, known(s.Matrix, "bt709")),
		"zscale=t=linear", "format=gbrpf32le", "zscale=p=bt709", "zscale=t=bt709:m=bt709:r=tv", "format=yuv444p10le",
	}
}

// colourNames are the names that ffprobe, the filters and the encoders share.
var colourNames = []string{
	"bt709", "bt470m", "bt470bg", "smpte170m", "smpte240m", "film", "fcc", "bt2020", "bt2020nc", "bt2020c", "bt2020-10", "bt2020-12",
	"smpte428", "smpte431", "smpte432", "smpte2084", "arib-std-b67", "linear", "iec61966-2-1", "iec61966-2-4",
}

func known(name, otherwise string) string {
	if slices.Contains(colourNames, name) {
		return name
	}
	return otherwise
}

// overBlack flattens a picture with alpha: a codec without it would show
// whatever lies under the transparent parts.
func (s InputStream) overBlack() []string {
	depth := ""
	if s.deep() {
		depth = "12le"
	}
	rgb := "format=gbrap" + depth
	if from := s.untagged(); from != "" && !s.rgb() {
		rgb = "scale=" + strings.TrimPrefix(from, ":") + "," + rgb
	}
	return []string{rgb, "premultiply=inplace=1", "format=gbrp" + depth}
}

func (s InputStream) alpha() bool {
	for _, prefix := range []string{"yuva", "rgba", "bgra", "argb", "abgr", "gbrap", "ya", "pal8"} {
		if strings.HasPrefix(s.PixelFormat, prefix) {
			return true
		}
	}
	return false
}

// deep is more than 8 bits a sample: only then has a format an endianness.
func (s InputStream) deep() bool {
	return strings.HasSuffix(s.PixelFormat, "le") || strings.HasSuffix(s.PixelFormat, "be")
}

func (s InputStream) rgb() bool {
	return s.Matrix == "gbr" || strings.Contains(s.PixelFormat, "rgb") || strings.Contains(s.PixelFormat, "bgr") ||
		strings.HasPrefix(s.PixelFormat, "gbr") || s.PixelFormat == "pal8"
}

// asRGB is how the picture reaches the scale filter.
func (s InputStream) asRGB() bool { return s.rgb() || s.alpha() }

// tags says what the pixels are after scaleColours; what is unknown is absent.
func (p *transcodeParams) tags(s InputStream, m InputMedia) (list [][2]string) {
	primaries, transfer, matrix := s.Primaries, s.Transfer, s.Matrix
	switch {
	case p.VideoCodec == "h264" && !p.keepsHDR(s, m):
		primaries, transfer, matrix = "bt709", "bt709", "bt709"
	case s.asRGB(): // mov takes all three or none
		primaries, transfer, matrix = known(primaries, "bt709"), known(transfer, "bt709"), "bt709"
	}
	for _, tag := range [][2]string{{"color_primaries", primaries}, {"color_trc", transfer}, {"colorspace", matrix}} {
		if known(tag[1], "") != "" {
			list = append(list, tag)
		}
	}
	return list
}

// tagFrames and tagStream both are needed: some encoders ask the frames (ProRes,
// and all of them from ffmpeg 7 on), the others their options.
func (p *transcodeParams) tagFrames(s InputStream, m InputMedia) string {
	filter := "setparams=range=tv"
	for _, tag := range p.tags(s, m) {
		filter += ":" + tag[0] + "=" + tag[1]
	}
	return filter
}

// optionNames are those of ffmpeg's options where they are others.
var optionNames = map[[2]string]string{{"color_trc", "bt470m"}: "gamma22", {"color_trc", "bt470bg"}: "gamma28"}

func (p *transcodeParams) tagStream(s InputStream, m InputMedia) []string {
	args := []string{"-color_range", "tv"}
	for _, tag := range p.tags(s, m) {
		args = append(args, "-"+tag[0], cmp.Or(optionNames[tag], tag[1]))
	}
	return args
}
