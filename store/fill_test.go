package store_test

import (
	"os"
	"testing"
)

// TestFillADatabase leaves a database of a million finished jobs in the folder
// that RENDERMAC_FILL names, for scripts/ready.sh to measure a server on.
func TestFillADatabase(t *testing.T) {
	dir := os.Getenv("RENDERMAC_FILL")
	if dir == "" {
		t.Skip("RENDERMAC_FILL names no folder to fill")
	}
	fill(t, dir, finished)
}
