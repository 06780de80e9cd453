package media

import "strings"

// demuxers is the positive list: files that hold their own content. hls, dash,
// concat, image2 and their like name other files and are left out.
const demuxers = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,mpeg,mpegvideo,avi,flv,live_flv,asf,mxf,gxf,dv,rm,ivf," +
	"h264,hevc,m4v,vc1,obu,av1,yuv4mpegpipe,gif,apng,png_pipe,jpeg_pipe,webp_pipe,tiff_pipe,bmp_pipe," +
	"wav,w64,aiff,au,caf,flac,mp3,aac,ac3,eac3,dts,dtshd,truehd,ogg,amr,wv,tta,ape"

// guarded names an input so that neither ffmpeg nor ffprobe follow it anywhere.
func guarded(path, demuxer string) []string {
	args := []string{"-protocol_whitelist", "file,pipe", "-format_whitelist", demuxers}
	if demuxer != "" {
		args = append(args, "-f", demuxer)
	}
	return append(args, "-i", "file:"+path)
}

// ProbeArgs is the argv after "ffprobe" whose output ParseFFprobe reads; path
// is absolute, demuxer is empty where it is not known yet. The first frame is
// shown too: photos say there, and nowhere else, how they are turned.
func ProbeArgs(path, demuxer string) []string {
	return append([]string{"-hide_banner", "-loglevel", "error", "-show_format", "-show_streams", "-show_frames", "-read_intervals", "%+#1", "-of", "json"},
		guarded(path, demuxer)...)
}

// ResultDemuxer is the demuxer of a result by its extension, "" where ffprobe
// finds it itself: by the name of a picture it takes it for one of a sequence.
func ResultDemuxer(ext string) string {
	return map[string]string{"jpg": "jpeg_pipe", "png": "png_pipe"}[strings.TrimPrefix(ext, ".")]
}

// ExplainFFprobe turns what ffprobe said on stderr, when it could read nothing,
// into one sentence for the buyer.
func ExplainFFprobe(stderr string, bytes int64) string {
	switch {
	case bytes == 0:
		return "the input is empty (0 bytes)"
	case strings.Contains(stderr, "moov atom not found"):
		return "the input is cut short: its index (moov) is missing"
	case strings.Contains(stderr, "whitelist"):
		return "the input is of a kind that is not accepted (playlists and lists of other files are not)"
	}
	return "the input is no film, sound or picture that ffmpeg can read"
}
