//go:build !linux

package artifact

import "os"

// punchHole has no portable form; the space is used again when the part is sent
// again, and freed when the write ends.
func punchHole(*os.File, int64, int64) error { return nil }
