package media

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// scaleColours is what the scale filter must know of colour. h264 becomes bt709;
// other codecs keep the source's own, unless the picture comes as RGB.
func (p *transcodeParams) scaleColours(s InputStream) string {
	if !p.makesBT709(s) {
		return ":out_range=tv"
	}
	if p.recolours(s) || s.asRGB() {
		return ":out_color_matrix=bt709:out_range=tv"
	}
	return s.untagged() + ":out_color_matrix=bt709:out_range=tv"
}

func (p *transcodeParams) makesBT709(s InputStream) bool {
	return s.asRGB() || p.VideoCodec == "h264" && !p.keepsHDR(s)
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

// recolours tells a picture that h264's bt709 takes more for than another matrix.
func (p *transcodeParams) recolours(s InputStream) bool {
	return p.VideoCodec == "h264" && (s.hdr() && p.Tonemap != "off" || s.wide())
}

// keepsHDR: the pixels stay as they are, so the tags must.
func (p *transcodeParams) keepsHDR(s InputStream) bool { return s.hdr() && !p.recolours(s) }

// wide is SDR of a wider gamut than bt709, which would look dull if it were only
// tagged anew.
func (s InputStream) wide() bool {
	return !s.hdr() && !s.asRGB() && slices.Contains([]string{"bt2020", "smpte431", "smpte432", "film"}, s.Primaries)
}

// beyondBT709 is HDR and a wide gamut.
func (s InputStream) beyondBT709() bool { return s.hdr() || s.wide() }

// intoBT709 converts the colours of such a picture; which says of what input. It
// completes the tags first, without which zscale finds no way.
func (s InputStream) intoBT709(env Env, which string) ([]string, error) {
	purpose, linear, otherwise, dims := "converting the wide gamut of ", "zscale=t=linear", "bt709", []string(nil)
	if s.hdr() {
		purpose, linear, otherwise, dims = "tone-mapping ", "zscale=t=linear:npl=100", "bt2020nc", []string{"tonemap=tonemap=hable:desat=0"}
	}
	if err := env.filter("zscale", purpose+which); err != nil {
		return nil, err
	}
	chain := []string{
		"format=yuv444p10le", // zscale wants chroma that fits: 4:4:4 fits odd sizes too
		fmt.Sprintf("setparams=color_trc=%s:color_primaries=%s:colorspace=%s", known(s.Transfer, "bt709"), known(s.Primaries, "bt2020"), known(s.Matrix, otherwise)),
		linear, "format=gbrpf32le", "zscale=p=bt709",
	}
	return append(append(chain, dims...), "zscale=t=bt709:m=bt709:r=tv", "format=yuv444p10le"), nil
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
func (p *transcodeParams) tags(s InputStream) (list [][2]string) {
	primaries, transfer, matrix := s.Primaries, s.Transfer, s.Matrix
	switch {
	case p.VideoCodec == "h264" && !p.keepsHDR(s):
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
func (p *transcodeParams) tagFrames(s InputStream) string {
	filter := "setparams=range=tv"
	for _, tag := range p.tags(s) {
		filter += ":" + tag[0] + "=" + tag[1]
	}
	return filter
}

// optionNames are those of ffmpeg's options where they are others.
var optionNames = map[[2]string]string{{"color_trc", "bt470m"}: "gamma22", {"color_trc", "bt470bg"}: "gamma28"}

func (p *transcodeParams) tagStream(s InputStream) []string {
	args := []string{"-color_range", "tv"}
	for _, tag := range p.tags(s) {
		args = append(args, "-"+tag[0], cmp.Or(optionNames[tag], tag[1]))
	}
	return args
}
