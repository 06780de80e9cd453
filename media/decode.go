package media

// decoders are the demuxers of what the verifier reads, by container.
var decoders = map[string]string{"mp4": "mov", "mov": "mov", "m4a": "mov", "wav": "wav", "jpg": "jpeg_pipe", "png": "png_pipe"}

// DecodeArgs is the argv after "ffmpeg" that decodes picture and sound of a
// result whole and keeps nothing. What it says on stderr is for DamageOf.
func DecodeArgs(path, container string) []string {
	args := append(quietly("warning"), guarded(path, decoders[container])...)
	return append(args, "-map", "0:v?", "-map", "0:a?", "-f", "null", "-")
}
