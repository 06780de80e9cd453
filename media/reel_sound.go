package media

import "fmt"

// soundOf is one input's sound, or silence, in the reel's shape and as many
// samples as the clip's picture lasts.
func (r *reel) soundOf(i int, c clip) string {
	shape := fmt.Sprintf("aformat=sample_fmts=fltp:sample_rates=%d:channel_layouts=%s", r.sound.rate, r.sound.layout)
	cut := fmt.Sprintf("atrim=end_sample=%d", c.samples)
	if c.audio == nil {
		return fmt.Sprintf("anullsrc=r=%d:cl=%s,%s,%s", r.sound.rate, r.sound.layout, shape, cut)
	}
	// Gaps in the time stamps become silence, and so does a late start.
	return fmt.Sprintf("[%d:%d]aresample=async=1:first_pts=0,%saresample=%d,%s,%s,%s",
		i, c.audio.Index, r.channels(*c.audio), r.sound.rate, shape, r.silence(c), cut)
}

// channels maps what swresample would do badly: it plays a single channel 3 dB
// softer, and cannot tell what channels without a layout are.
func (r *reel) channels(s InputStream) string {
	switch {
	case s.Channels == 1 && r.sound.layout == "stereo":
		return "channelmap=0|0:stereo,"
	case s.Channels > 2 && (s.Layout == "" || s.Layout == "unknown" || s.Channels > 8):
		return "channelmap=0|1:stereo,"
	}
	return ""
}

// silence follows where the clip's sound ends before its picture.
func (r *reel) silence(c clip) string {
	if r.p.DamagedInput == "accept" {
		return "apad"
	}
	return fmt.Sprintf("apad=pad_dur=%.3f", max(0, c.endS-c.audio.StartS-c.audio.DurationS)+r.slackOfClip())
}

func (r *reel) soundArgs() []string {
	if r.sound.rate == 0 {
		return []string{"-an"}
	}
	args := []string{"-map", "[a]"}
	switch r.p.AudioCodec {
	case "pcm":
		return append(args, "-c:a", r.p.pcm(r.sound.like))
	case "alac":
		return append(args, "-c:a", "alac")
	}
	return append(args, "-c:a", "aac", "-b:a", r.p.trackBitrate(r.sound.layout))
}
