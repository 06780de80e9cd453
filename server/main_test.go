package server

import (
	"os"
	"testing"

	"rendermac/program"
)

// TestMain lets the test binary be the guard of a program that the server runs.
func TestMain(m *testing.M) {
	program.GuardMain()
	os.Exit(m.Run())
}
