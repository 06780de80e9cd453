package agent

import "golang.org/x/sys/unix"

func machineMemory() int64 {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(bytes)
}

func machineModel() string { return sysctl("hw.model") }

func osVersion() string { return "macOS " + sysctl("kern.osproductversion") }

func sysctl(name string) string {
	value, err := unix.Sysctl(name)
	if err != nil {
		return ""
	}
	return value
}

// bootID names the time since the machine was last started.
func bootID() string { return sysctl("kern.bootsessionuuid") }
