package agent

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

func machineMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}

func machineModel() string {
	if name := lineAfter("/sys/class/dmi/id/product_name", ""); name != "" {
		return name
	}
	return lineAfter("/proc/cpuinfo", "model name\t: ")
}

func osVersion() string {
	return strings.Trim(lineAfter("/etc/os-release", "PRETTY_NAME="), `"`)
}

// bootID names the time since the machine was last started.
func bootID() string { return lineAfter("/proc/sys/kernel/random/boot_id", "") }

// lineAfter is the rest of the first line in a file that begins with prefix.
func lineAfter(path, prefix string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}
