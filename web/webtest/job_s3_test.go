package webtest

import (
	"os"
	"regexp"
	"testing"
)

// What went into a job and what it has made are played from the bucket itself, which
// the page may load from, and are kept under their own names.
func TestJob_IsPlayedAndDownloadedFromS3(t *testing.T) {
	s, _, o := mustStudioOnS3(t)
	s.agent("mini")
	film := s.film("interview.mov", 2, "320x180")
	job := s.submit(film, "web-480p")
	p := s.open("/jobs/" + job.ID)
	p.Expect("another host: GET " + regexp.QuoteMeta(o.Endpoint))
	p.WaitFor("#job[data-status=succeeded]")
	for _, player := range []string{"#player-in-1", "#player-out"} {
		p.Until(`document.querySelector("` + player + ` video").readyState >= HTMLMediaElement.HAVE_METADATA`)
	}
	made, err := os.Stat(p.Download("Download"))
	must(t, err)
	done, err := s.client.Job(t.Context(), job.ID)
	must(t, err)
	if made.Name() != "interview.mp4" || made.Size() != done.Artifact.Bytes {
		t.Errorf("kept is %s of %d bytes, for %d", made.Name(), made.Size(), done.Artifact.Bytes)
	}
	sent, err := os.Stat(film)
	must(t, err)
	given, err := os.Stat(p.Download("Download interview.mov"))
	must(t, err)
	if given.Name() != "interview.mov" || given.Size() != sent.Size() {
		t.Errorf("kept is %s of %d bytes, for %d", given.Name(), given.Size(), sent.Size())
	}
}
