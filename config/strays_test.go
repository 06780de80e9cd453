package config

import (
	"slices"
	"testing"
)

// A variable that sets nothing is named, with the one it was most likely to be.
func TestStrays(t *testing.T) {
	for _, name := range append(slices.Clone(clientVariables), append(ownVariables, "RENDERMAC_LEASE_TTL", "RENDERMAC_PRICING_FFMPEG_TRANSCODE")...) {
		t.Setenv(name, "x")
	}
	if got := Strays([]string{"ffmpeg.transcode"}); got != nil {
		t.Errorf("what is known is a stray: %q", got)
	}
	t.Setenv("RENDERMAC_APIKEY", "rm_secret")
	t.Setenv("RENDERMAC_LEASE_TTTL", "1s")
	want := []string{
		"environment RENDERMAC_APIKEY sets nothing: did you mean RENDERMAC_API_KEY?",
		"environment RENDERMAC_LEASE_TTTL sets nothing: did you mean RENDERMAC_LEASE_TTL?",
	}
	if got := Strays([]string{"ffmpeg.transcode"}); !slices.Equal(got, want) {
		t.Errorf("strays %q, want %q", got, want)
	}
}
