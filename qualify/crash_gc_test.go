package qualify

import (
	"context"
	"os"
	"path/filepath"
	"syscall"

	"rendermac/api"
)

// gcScript lets the server keep next to nothing: what live jobs need stays, the
// rest goes, and each start goes on with it.
func (d *day) gcScript() {
	needed, other := d.submit(asUsual, d.ofClip(), nil, "succeeded"), d.submit(asUsual, d.ofClip(), nil, "succeeded")
	d.ended(needed, other)
	d.bring(d.clip)
	live := []string{d.submit(asUsual, d.ofJob(needed), nobodys, "cancelled"), d.submit(asUsual, d.ofClip(), nobodys, "cancelled")}
	d.configure("retention: {outputs_max_bytes: 1B, uploads_max_bytes: 1B}\n")
	must(insist(d, "remove what is too much", func() (*api.GC, error) { return d.client.GC(context.Background(), false) }))(d)
	for label, goes := range map[string]bool{needed: false, other: true} {
		j := must(insist(d, "look at a job", func() (*api.Job, error) { return d.client.Job(context.Background(), d.id(label)) }))(d)
		if gone := j.Artifact.DeletedAt != nil; gone != goes {
			d.Errorf("the output of %s is gone: %v", j.ID, gone)
		}
	}
	if n := len(d.list(`SELECT id FROM uploads WHERE status = 'complete' AND deleted_at IS NULL`)); n != 1 {
		d.Errorf("%d uploads are left, and a live job needs one", n)
	}
	d.ended(needed)
	d.configure("")
	for _, label := range live {
		d.cancel(label)
	}
	d.ended(live...)
}

// configure starts the server anew with more in its config.
func (d *day) configure(more string) {
	d.Helper()
	if err := os.WriteFile(filepath.Join(d.data(), "config.yaml"), []byte(crashConfig+more), 0o600); err != nil {
		d.Fatal(err)
	}
	d.server.end(syscall.SIGTERM)
	until(d, "the server is ready", d.ready)
}
