package server

import (
	"bytes"
	"testing"

	"rendermac/agentproto"
	"rendermac/artifact"
)

// A result that becomes another in one part is asked for whole where the store
// forgets all parts with it: S3 cannot forget one alone.
func TestF16_AChangedResultIsAskedForAsFarAsS3HasForgottenIt(t *testing.T) {
	h, _ := mustServeS3(t)
	r := h.mustRunOf(h.mustUploadToS3())
	r.output = bytes.Repeat([]byte("x"), artifact.MinS3Part+1)
	grant := func(want ...int) {
		t.Helper()
		r.say(r.uploadMessage())
		g, got := hear[agentproto.UploadGrant](r.mac), []int{}
		for _, p := range g.Parts {
			got = append(got, p.Number)
			h.sendTo(p.URL, p.Headers, r.output[(p.Number-1)*artifact.MinS3Part:min(len(r.output), p.Number*artifact.MinS3Part)])
		}
		if len(got) != len(want) {
			t.Fatalf("parts %v are asked for, not %v", got, want)
		}
	}
	grant(1, 2)
	grant()
	r.output[len(r.output)-1] = 'y'
	grant(1, 2)
	grant()
}
