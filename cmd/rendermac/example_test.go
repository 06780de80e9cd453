package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The script that shows a client's whole day does what it says, against a real
// server with a real agent.
func TestExample_WebhookAndEvents(t *testing.T) {
	script, err := filepath.Abs("../../docs/examples/webhook-and-events.sh")
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse(t)
	if err := os.WriteFile(filepath.Join(h.home, "config.yaml"), []byte("webhooks: {allow_private: true}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.serve("--config config.yaml --with-agent")
	h.run("ffmpeg -nostdin -loglevel error -f lavfi -i testsrc2=s=320x180:r=25:d=1 -pix_fmt yuv420p clip.mov")
	out := h.run(`RENDERMAC_URL=http://127.0.0.1:%s RENDERMAC_API_KEY=$(cat .local/share/rendermac/admin.key) bash %s clip.mov`, h.port, script)
	for _, want := range []string{"uploaded upl_", "submitted job_", "job.succeeded\n", "verified whd_"} {
		if !strings.Contains(out, want) {
			t.Errorf("the script does not say %q:\n%s", want, out)
		}
	}
}
