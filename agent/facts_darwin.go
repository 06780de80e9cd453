package agent

import "golang.org/x/sys/unix"

func machineMemory() int64 {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(bytes)
}

// machineModel says the chip too, which people know better: Mac16,10 (Apple M4).
func machineModel() string {
	model, chip := sysctl("hw.model"), sysctl("machdep.cpu.brand_string")
	if chip == "" {
		return model
	}
	return model + " (" + chip + ")"
}

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
