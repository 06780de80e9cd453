package media

import (
	"fmt"
	"math"
	"strings"
)

// slackOfClip is by how much a clip may be shorter than its file says before it
// counts as damaged: so much is made up for, and what lacks more shows in the
// length of the whole.
func (r *reel) slackOfClip() float64 { return slackS(r.film.Streams[0].FPS) }

// picture is what brings one input's picture to the first one's shape, and to
// its own number of frames.
func (r *reel) picture(i int, c clip, env Env) (string, error) {
	film := r.film.Streams[0]
	w, h := r.p.size(film)
	if cw, ch := c.video.shown(); w == 0 || cw <= 0 || ch <= 0 {
		return "", fmt.Errorf("the picture of input %d has no size", i+1)
	}
	var chain []string
	if c.video.interlaced() {
		chain = append(chain, "bwdif=mode=send_frame:deint=interlaced")
	}
	chain = append(chain, "fps="+rateText(film.FPS)+":start_time=0")
	if c.video.alpha() {
		chain = append(chain, c.video.overBlack()...)
	}
	recolours := c.video.beyondBT709() && !film.hdr()
	if recolours {
		colours, err := c.video.intoBT709(env, fmt.Sprintf("input %d", i+1))
		if err != nil {
			return "", err
		}
		chain = append(chain, colours...)
	}
	chain = append(chain, r.scale(c.video, w, h, r.colours(c.video, recolours))...)
	chain = append(chain, "setsar=1", r.p.tagFrames(film), r.hold(c), fmt.Sprintf("trim=end_frame=%d", c.frames))
	return strings.Join(chain, ","), nil
}

func (r *reel) colours(s InputStream, recoloured bool) string {
	switch {
	case s.hdr() && !recoloured:
		return ":out_range=tv"
	case recoloured || s.asRGB():
		return ":out_color_matrix=bt709:out_range=tv"
	}
	return s.untagged() + ":out_color_matrix=bt709:out_range=tv"
}

// scale fits a picture into the film's: with bars where fit is contain, with its
// edges cut where it is cover. A bar of a pixel would only look like a mistake.
func (r *reel) scale(s InputStream, w, h int, colours string) []string {
	sw, sh, after := w, h, ""
	cw, ch := s.shown()
	switch r.p.Fit {
	case "contain":
		by := min(float64(w)/cw, float64(h)/ch)
		sw, sh = evenNear(cw*by, float64(w)), evenNear(ch*by, float64(h))
		if w-sw <= 2 && h-sh <= 2 {
			sw, sh = w, h
		}
		if sw != w || sh != h {
			after = fmt.Sprintf("pad=%d:%d:(ow-iw)/2:(oh-ih)/2", w, h)
		}
	case "cover":
		by := max(float64(w)/cw, float64(h)/ch)
		sw, sh = max(w, int(math.Round(cw*by))), max(h, int(math.Round(ch*by)))
		after = fmt.Sprintf("crop=%d:%d", w, h)
	}
	chain := []string{
		fmt.Sprintf("scale=%d:%d:flags=bicubic+accurate_rnd+full_chroma_int%s", sw, sh, colours),
		"format=" + r.p.pixelFormat(r.film.Streams[0]),
	}
	if after != "" {
		chain = append(chain, after)
	}
	return chain
}

// hold keeps the last picture standing while the clip's sound goes on.
func (r *reel) hold(c clip) string {
	if r.p.DamagedInput == "accept" {
		return "tpad=stop_mode=clone:stop=-1"
	}
	return fmt.Sprintf("tpad=stop_mode=clone:stop_duration=%.3f", c.endS-c.video.StartS-c.video.DurationS+r.slackOfClip())
}
