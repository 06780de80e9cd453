package webtest

import (
	"os"
	"regexp"
	"testing"
)

// What a job has made is played from the bucket itself, which the page may load
// from, and is kept under its own name.
func TestJob_IsPlayedAndDownloadedFromS3(t *testing.T) {
	s, _, o := mustStudioOnS3(t)
	s.agent("mini")
	job := s.submit(s.film("interview.mov", 2, "320x180"), "web-480p")
	p := s.open("/jobs/" + job.ID)
	p.Expect("another host: GET " + regexp.QuoteMeta(o.Endpoint))
	p.WaitFor("#job[data-status=succeeded]")
	p.Until(`document.querySelector("#player-out video").readyState >= HTMLMediaElement.HAVE_METADATA`)
	kept := p.Download("Download")
	info, err := os.Stat(kept)
	must(t, err)
	done, err := s.client.Job(t.Context(), job.ID)
	must(t, err)
	if info.Name() != "interview.mp4" || info.Size() != done.Artifact.Bytes {
		t.Errorf("kept is %s of %d bytes, for %d", kept, info.Size(), done.Artifact.Bytes)
	}
}
