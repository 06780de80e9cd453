package qualify

import (
	"fmt"
	"os"
	"path/filepath"

	"rendermac/api"
)

// sharedConfig is the line of a machine's config that mounts the shared root media.
func (s *site) sharedConfig() string {
	return fmt.Sprintf("shared_roots: {media: {path: %q}}\n", filepath.Join(s.home, "media"))
}

// share puts the clip under the shared root, anew: nobody has read this one.
func (d *day) share(name string) api.Input {
	d.Helper()
	film, err := os.ReadFile(d.clip)
	if err == nil {
		err = os.MkdirAll(filepath.Join(d.home, "media", "day1"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(d.home, "media", "day1", name), film, 0o600)
	}
	if err != nil {
		d.Fatal(err)
	}
	path := "media/day1/" + name
	return api.Input{Path: &path}
}

// pathScript has the server read a file under a shared root, and lose another
// while it reads.
func (d *day) pathScript() {
	d.share("stays.mov") // an empty root would be one that is not mounted
	d.ended(d.submit(asUsual, d.share("film.mov"), d.toBeTold, "succeeded"))
	gone := d.share("gone.mov")
	d.site.server.hold("server.read.before")
	os.Remove(d.site.server.file("held.server.read.before"))
	job := d.submit(asUsual, gone, nil, "failed")
	until(d, "the server reads", func() bool { return d.site.server.held("server.read.before") })
	if err := os.Remove(filepath.Join(d.home, "media", "day1", "gone.mov")); err != nil {
		d.Fatal(err)
	}
	d.site.server.release("server.read.before")
	d.ended(job)
}

// pathScript has a real agent copy a file from its own mount.
func (d *agentDay) pathScript() {
	d.last = d.submit(asUsual, d.share("film.mov"), nil, "succeeded")
	d.ended(d.last)
}
