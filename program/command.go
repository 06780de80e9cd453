package program

import (
	"os"
	"os/exec"
)

// Command is an external program that works in dir, with nothing of this process's
// environment but what programs need.
func Command(dir, path string, args []string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + dir, "AV_LOG_FORCE_NOCOLOR=1"}
	return cmd
}
