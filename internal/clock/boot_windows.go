package clock

import (
	"strconv"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// bootIDKey holds a counter that Windows raises at every boot.
const bootIDKey = `SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PrefetchParameters`

func bootID() string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, bootIDKey, registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer func() { _ = key.Close() }() // read only: nothing can be lost
	n, _, err := key.GetIntegerValue("BootId")
	if err != nil {
		return ""
	}
	return "windows-" + strconv.FormatUint(n, 10)
}

// sinceBoot counts in steps of 10 to 16 ms, and runs during sleep.
func sinceBoot() time.Duration { return windows.DurationSinceBoot() }
