//go:build !linux

package audit_test

import "time"

// cpuTime is not told here: the clock on the wall stands in for it.
func cpuTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
