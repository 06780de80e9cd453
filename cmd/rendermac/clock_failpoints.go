//go:build failpoints

package main

import "rendermac/failpoint"

func init() { wallClock = failpoint.Now }
