package qualify

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func endWithUs(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

func init() { roles["parent"] = beParent }

// beParent starts what would go on for an hour, and waits to be killed.
func beParent() {
	child := exec.Command("sleep", "3600")
	child.Stdout = os.Stdout
	if startWithUs(child) == nil {
		_, _ = os.Stdout.WriteString("started\n")
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
}

// No process outlives a test binary that is killed: each holds the pipe open
// for as long as it lives.
func TestRig_NothingOutlivesTheTests(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "QUALIFY_ROLE=parent")
	if _, err := parent.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	said, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	parent.Stdout = out
	if err := startWithUs(parent); err != nil {
		t.Fatal(err)
	}
	out.Close()
	if _, err := io.ReadFull(said, make([]byte, len("started\n"))); err != nil {
		t.Fatalf("the parent has started nothing: %v", err)
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	if err := said.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, said); err != nil {
		t.Fatalf("a process has outlived its test binary: %v", err)
	}
}
