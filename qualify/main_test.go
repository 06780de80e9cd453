package qualify

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// roles are what this test binary does when it is run again with QUALIFY_ROLE:
// work that must be a process of its own.
var roles = map[string]func(){}

func TestMain(m *testing.M) {
	if role := os.Getenv("QUALIFY_ROLE"); role != "" {
		roles[role]()
		return
	}
	code := m.Run()
	if dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// dir holds the built binary; it goes when the tests have ended.
var dir string

// binary is the product, built with failpoints.
var binary = sync.OnceValues(func() (path string, err error) {
	if dir, err = os.MkdirTemp("", "qualify-"); err != nil {
		return "", err
	}
	if err := lookAtSources(); err != nil {
		return "", err
	}
	path = filepath.Join(dir, "rendermac")
	out, err := exec.Command("go", "build", "-tags", "failpoints", "-o", path, "rendermac/cmd/rendermac").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})
