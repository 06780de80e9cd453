package qualify

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
)

// clip makes a film of so many seconds; one second of 1080p takes about a
// second to encode here.
func clip(t testing.TB, seconds float64, size string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "clip.mov")
	out, err := exec.Command("ffmpeg", "-nostdin", "-loglevel", "error",
		"-f", "lavfi", "-i", fmt.Sprintf("testsrc2=s=%s:r=25:d=%g", size, seconds), "-f", "lavfi", "-i", fmt.Sprintf("sine=r=48000:d=%g", seconds),
		"-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", file).CombinedOutput()
	if err != nil {
		t.Fatalf("make a clip: %v: %s", err, out)
	}
	return file
}
