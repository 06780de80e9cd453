package agent

import "golang.org/x/sys/unix"

// On macOS this clock counts sleep; CLOCK_UPTIME_RAW is the one that does not.
const sleepingClock = unix.CLOCK_MONOTONIC
