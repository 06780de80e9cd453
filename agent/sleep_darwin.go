package agent

import (
	"os"
	"os/exec"
	"strconv"
)

// keepAwake keeps the Mac from sleeping until stop is called or the agent dies.
func keepAwake() (stop func()) {
	cmd := exec.Command("/usr/bin/caffeinate", "-i", "-w", strconv.Itoa(os.Getpid()))
	if cmd.Start() != nil {
		return func() {} // a Mac that may fall asleep still works: F17 sees to it
	}
	return func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
}
