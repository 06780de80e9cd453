package media

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// audioArgs maps and encodes the sound, a track at a time.
func (p *transcodeParams) audioArgs(k picked) ([]string, error) {
	if len(k.audio) == 0 {
		return []string{"-an"}, nil
	}
	var args []string
	for i, s := range k.audio {
		track, err := p.trackArgs(s, ":a:"+strconv.Itoa(i))
		if err != nil {
			return nil, err
		}
		args = append(append(args, "-map", "0:"+strconv.Itoa(s.Index)), track...)
	}
	return args, nil
}

func (p *transcodeParams) trackArgs(s InputStream, track string) ([]string, error) {
	codec := p.audioCodec(s)
	if codec == "copy" {
		if !p.fits(s) {
			return nil, fmt.Errorf("the input's sound (%s) cannot be copied into %s; choose aac", plainCodec(s.Codec), p.Container)
		}
		args := []string{"-c" + track, "copy"}
		if s.Codec == "flac" { // ffmpeg 5 and 6 call it experimental in mp4
			args = append(args, "-strict", "experimental")
		}
		return args, nil
	}
	if s.Codec == "" || s.Codec == "unknown" {
		return nil, fmt.Errorf("the input's sound is in a format that ffmpeg does not know")
	}
	// Gaps in the time stamps become silence, or sound would run ahead of picture.
	filters := []string{"aresample=async=1"}
	switch codec {
	case "aac":
		layout, filter := p.layout(s)
		filters = append(filters, filter)
		if limit := p.highestRate(); s.SampleRate > limit {
			filters = append(filters, "aresample="+strconv.Itoa(limit))
		}
		return []string{"-c" + track, "aac", "-b" + track, p.trackBitrate(layout), "-filter" + track, strings.Join(filters, ",")}, nil
	case "pcm":
		return []string{"-c" + track, p.pcm(s), "-filter" + track, filters[0]}, nil
	}
	return []string{"-c" + track, "alac", "-filter" + track, filters[0]}, nil
}

// audioCodec is what a track becomes: a preset may copy only what fits.
func (p *transcodeParams) audioCodec(s InputStream) string {
	if p.AudioCodec == "copy" && p.ElseAudio != "" && !p.fits(s) {
		return p.ElseAudio
	}
	return p.AudioCodec
}

func (p *transcodeParams) fits(s InputStream) bool {
	return slices.Contains(holds[p.Container], s.Codec)
}

// layout is the channel layout of aac sound and the filter that makes it. Sound
// beside h264 is for browsers: stereo. Elsewhere the common layouts stay;
// others would need an element that Apple's decoders do not read.
func (p *transcodeParams) layout(s InputStream) (layout, filter string) {
	layout = strings.Replace(s.Layout, "(side)", "", 1)
	common := []string{"mono", "stereo", "3.0", "4.0", "5.0", "5.1"}
	switch {
	case layout == "7.1" || layout == "6.1" || layout == "7.1(wide)":
		layout = "5.1"
	case s.Channels == 1:
		layout = "mono"
	case !slices.Contains(common, layout):
		layout = "stereo"
	}
	if p.VideoCodec == "h264" {
		layout = "stereo"
	}
	switch {
	case layout == "stereo" && s.Channels == 1:
		// swresample would play a single channel 3 dB softer.
		return layout, "channelmap=0|0:stereo"
	case layout == "stereo" && s.Channels > 2 && (s.Layout == "" || s.Layout == "unknown" || s.Channels > 8):
		return layout, "channelmap=0|1:stereo"
	}
	return layout, "aformat=channel_layouts=" + layout
}

// fewer warns where sound loses channels that nobody asked it to lose.
func (s InputStream) fewer(layout string) []string {
	kept := map[string]int{"mono": 1, "stereo": 2, "3.0": 3, "4.0": 4, "5.0": 5, "5.1": 6}[layout]
	if kept >= s.Channels {
		return nil
	}
	return []string{fmt.Sprintf("the sound's %d channels became %d (%s), the most that players of this codec agree on; pcm keeps them all", s.Channels, kept, layout)}
}

func (p *transcodeParams) highestRate() int {
	if p.VideoCodec == "h264" {
		return 48_000
	}
	return 96_000
}

func (p *transcodeParams) trackBitrate(layout string) string {
	rate := int64(p.AudioBitrate)
	switch {
	case rate > 0:
	case layout == "mono":
		rate = 96_000
	case layout == "stereo":
		rate = 160_000
	default:
		rate = 384_000
	}
	return strconv.FormatInt(rate, 10)
}

// pcm is 24 bits for editing and for sources that have them, else 16.
func (p *transcodeParams) pcm(s InputStream) string {
	if p.VideoCodec == "prores" || s.SampleBits > 16 && !p.EditProxy {
		return "pcm_s24le"
	}
	return "pcm_s16le"
}
