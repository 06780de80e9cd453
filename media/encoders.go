package media

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// videoArgs maps and encodes the picture.
func (p *transcodeParams) videoArgs(k picked, m InputMedia, env Env) ([]string, error) {
	if k.video == nil {
		return []string{"-vn"}, nil
	}
	s := *k.video
	args := []string{"-map", "0:" + strconv.Itoa(s.Index)}
	if p.VideoCodec == "copy" {
		return p.copyVideo(args, s)
	}
	if s.Codec == "" || s.Codec == "unknown" {
		return nil, fmt.Errorf("the input's picture is in a format that ffmpeg does not know")
	}
	filters, err := p.pictureFilters(s, m, env)
	if err != nil {
		return nil, err
	}
	encoder, err := p.encoderArgs(s, env)
	if err != nil {
		return nil, err
	}
	args = append(append(args, "-vf", filters), encoder...)
	args = append(args, p.tagStream(s)...)
	args = append(args, "-fps_mode", "vfr")
	if s.Variable && p.FPS == 0 {
		// The usual time base, one tick a frame, would move frames that lie between ticks.
		args = append(args, "-enc_time_base:v", "1/90000")
	}
	return args, nil
}

// holds is what a container takes of copied streams.
var holds = map[string][]string{
	"mp4": {"h264", "hevc", "av1", "vp9", "mpeg4", "mpeg2video", "aac", "alac", "mp3", "ac3", "eac3", "opus", "flac"},
	"mov": {
		"h264", "hevc", "mpeg4", "mpeg2video", "prores", "dnxhd", "mjpeg", "dvvideo", "aac", "alac", "mp3", "ac3", "eac3",
		"pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_s24be", "pcm_s32le", "pcm_s32be", "pcm_f32le", "pcm_f32be",
	},
	"m4a": {"aac", "alac", "ac3"},
}

func (p *transcodeParams) copyVideo(args []string, s InputStream) ([]string, error) {
	if !slices.Contains(holds[p.Container], s.Codec) {
		return nil, fmt.Errorf("the input's picture (%s) cannot be copied into %s; choose h264, hevc or prores", plainCodec(s.Codec), p.Container)
	}
	args = append(args, "-c:v", "copy")
	if s.Codec == "hevc" {
		args = append(args, "-tag:v", "hvc1")
	}
	return args, nil
}

// leastHEVC is the shortest side that x265 takes; mostPixels is what the highest
// levels of h264 and hevc (6.2) allow, and players with them.
const (
	leastHEVC  = 16
	mostPixels = 8192 * 4352
)

func (p *transcodeParams) encoderArgs(s InputStream, env Env) ([]string, error) {
	software := map[string]string{"h264": "libx264", "hevc": "libx265", "prores": "prores_ks"}[p.VideoCodec]
	w, h := p.size(s)
	switch {
	case p.VideoCodec == "hevc" && min(w, h) < leastHEVC:
		return nil, fmt.Errorf("the result's picture would be %d×%d: hevc takes no side under %d pixels; choose h264", w, h, leastHEVC)
	case p.VideoCodec != "prores" && w*h > mostPixels:
		return nil, fmt.Errorf("the result's picture would be %d×%d: no level of %s goes beyond 8192×4352; set a smaller width or height", w, h, p.VideoCodec)
	case p.takesHardware(env):
		return append(p.videoToolbox(s), p.keyFrames()...), nil
	case p.Encoder == "hardware":
		return nil, fmt.Errorf("this device has no hardware encoder for %s; set encoder to auto", p.VideoCodec)
	case !slices.Contains(env.Encoders, software):
		return nil, fmt.Errorf("this device's ffmpeg has no %s encoder; install ffmpeg-full there", software)
	}
	return append(p.software(s), p.keyFrames()...), nil
}

// keyFrames makes each frame one for an editor to cut at.
func (p *transcodeParams) keyFrames() []string {
	if !p.EditProxy {
		return nil
	}
	return []string{"-g", "1", "-bf", "0"}
}

// takesHardware leaves ProRes to prores_ks unless told otherwise: it is quick
// enough, and the same on every device.
func (p *transcodeParams) takesHardware(env Env) bool {
	return env.hardware(p.VideoCodec) && (p.Encoder == "hardware" || p.Encoder == "auto" && p.VideoCodec != "prores")
}

// fallsBack is auto on a Mac that has to do without VideoToolbox.
func (p *transcodeParams) fallsBack(env Env) bool {
	return p.encodesVideo() && p.VideoCodec != "prores" && p.Encoder == "auto" && env.Platform == "darwin" && !env.Refused && !env.hardware(p.VideoCodec)
}

func (p *transcodeParams) software(s InputStream) []string {
	switch p.VideoCodec {
	case "prores":
		args := []string{"-c:v", "prores_ks", "-profile:v", p.proresProfile(), "-vendor", "apl0"}
		if p.keepsFields(s) {
			args = append(args, "-flags", "+ildct+ilme")
		}
		return args
	case "hevc":
		return append([]string{"-c:v", "libx265", "-preset", "medium", "-tag:v", "hvc1", "-x265-params", "log-level=error"}, p.rate("-crf", 55)...)
	}
	return append([]string{"-c:v", "libx264", "-preset", "medium", "-profile:v", "high"}, p.rate("-crf", 51)...)
}

// rate maps quality 1–100 to a constant rate factor: 65 is about 22 for x264
// and 26 for x265, which look alike.
func (p *transcodeParams) rate(option string, worst float64) []string {
	if p.VideoBitrate > 0 {
		return p.bitrateArgs()
	}
	return []string{option, strconv.Itoa(int(math.Round(min(51, worst-0.45*float64(p.Quality)))))}
}

func (p *transcodeParams) bitrateArgs() []string {
	b := int64(p.VideoBitrate)
	return []string{"-b:v", strconv.FormatInt(b, 10), "-maxrate", strconv.FormatInt(b*3/2, 10), "-bufsize", strconv.FormatInt(b*2, 10)}
}

func (p *transcodeParams) videoToolbox(s InputStream) []string {
	args := []string{"-c:v", p.VideoCodec + "_videotoolbox"}
	switch {
	case p.VideoCodec == "prores":
		return append(args, "-profile:v", p.proresProfile())
	case p.VideoCodec == "hevc" && p.pixelFormat(s) != "yuv420p":
		args = append(args, "-tag:v", "hvc1", "-profile:v", "main10")
	case p.VideoCodec == "hevc":
		args = append(args, "-tag:v", "hvc1", "-profile:v", "main")
	default:
		args = append(args, "-profile:v", "high")
	}
	if p.VideoBitrate > 0 {
		return append(args, p.bitrateArgs()...)
	}
	return append(args, "-q:v", strconv.Itoa(p.Quality))
}

// proresProfile reads quality as the four flavours of ProRes 422.
func (p *transcodeParams) proresProfile() string {
	switch {
	case p.Quality <= 25:
		return "proxy"
	case p.Quality <= 50:
		return "lt"
	case p.Quality <= 75:
		return "standard"
	}
	return "hq"
}
