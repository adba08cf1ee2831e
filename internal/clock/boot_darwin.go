package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

func bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}

// sinceBoot reads CLOCK_MONOTONIC, which on Darwin runs
// during sleep. Source: clock_gettime(3) of macOS.
func sinceBoot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
