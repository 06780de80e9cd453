package media

import (
	"fmt"
	"math"
	"strings"
)

// size is the picture's size in the output: upright, square pixels, even.
func (p *transcodeParams) size(s InputStream) (w, h int) {
	sw, sh := s.shown()
	if sw <= 0 || sh <= 0 {
		return 0, 0
	}
	bw, bh := p.box(sw, sh)
	switch {
	case bw == 0 && bh == 0:
		return evenDown(sw), evenDown(sh)
	case bw == 0:
		bw = sw * bh / sh
		return evenNear(bw, math.Inf(1)), evenDown(bh)
	case bh == 0:
		bh = sh * bw / sw
		return evenDown(bw), evenNear(bh, math.Inf(1))
	case p.Fit != "contain":
		return evenDown(bw), evenDown(bh)
	}
	scale := min(bw/sw, bh/sh)
	return evenNear(sw*scale, bw), evenNear(sh*scale, bh)
}

func evenDown(n float64) int { return max(2, int(n+0.01)/2*2) }

// evenNear is the nearest even number that does not pass the limit.
func evenNear(n, limit float64) int {
	even := int(math.Round(n/2)) * 2
	if float64(even) > limit {
		even = evenDown(limit)
	}
	return max(2, even)
}

// pictureFilters is the -vf chain. ffmpeg has turned the picture upright
// before it (autorotate), and takes the rotation tag away as it does.
func (p *transcodeParams) pictureFilters(s InputStream, m InputMedia, env Env) (string, error) {
	chain, fps := p.timeFilters(s)
	if s.alpha() {
		chain = append(chain, s.overBlack()...)
	}
	w, h := p.size(s)
	if w == 0 {
		return "", fmt.Errorf("the input's picture has no size")
	}
	if p.recolours(s) {
		colours, err := s.intoBT709(env, "this input")
		if err != nil {
			return "", err
		}
		chain = append(chain, colours...)
	}
	chain = append(chain, p.scaleFilters(s, w, h)...)
	if p.BurnTimecode {
		if err := env.filter("drawtext", "burn_timecode"); err != nil {
			return "", err
		}
		chain = append(chain, timecodeFilter(p.burntTimecode(m, s.FPS), fps, h))
	}
	return strings.Join(append(chain, "setsar=1", p.tagFrames(s)), ","), nil
}

// timeFilters settles fields and frame rate; it also answers the rate.
func (p *transcodeParams) timeFilters(s InputStream) (chain []string, fps float64) {
	if s.interlaced() && !p.keepsFields(s) {
		chain = append(chain, "bwdif=mode=send_frame:deint=interlaced")
	}
	switch {
	case p.FPS > 0:
		return append(chain, "fps="+rateText(exactRate(p.FPS))), exactRate(p.FPS)
	case p.BurnTimecode && s.Variable:
		fps = max(1, math.Round(s.FPS)) // timecode counts frames: they must be evenly spaced
		return append(chain, "fps="+plain(fps)), fps
	}
	return chain, s.FPS
}

func (p *transcodeParams) scaleFilters(s InputStream, w, h int) []string {
	sw, sh, crop := w, h, ""
	if p.Fit == "cover" {
		width, height := s.shown()
		grow := max(float64(w)/width, float64(h)/height)
		sw, sh = max(w, int(math.Round(width*grow))), max(h, int(math.Round(height*grow)))
		crop = fmt.Sprintf("crop=%d:%d", w, h)
	}
	scale := fmt.Sprintf("scale=%d:%d:flags=bicubic+accurate_rnd+full_chroma_int", sw, sh)
	if p.keepsFields(s) {
		scale += ":interl=1"
	}
	chain := []string{scale + p.scaleColours(s), "format=" + p.pixelFormat(s)}
	if crop != "" {
		chain = append(chain, crop)
	}
	return chain
}

// keepsFields is ProRes at full size, where an editor wants the fields as shot.
func (p *transcodeParams) keepsFields(s InputStream) bool {
	return s.interlaced() && p.VideoCodec == "prores" && p.Height == 0 && p.Width == 0 && p.FPS == 0 && s.Height%2 == 0
}

func (p *transcodeParams) pixelFormat(s InputStream) string {
	switch {
	case p.VideoCodec == "prores":
		return "yuv422p10le"
	case p.VideoCodec == "hevc" && s.deep():
		return "yuv420p10le"
	}
	return "yuv420p"
}
