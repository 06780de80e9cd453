//go:build !failpoints

package failpoint

// At marks a place.
func At(string) {}
