package clock

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
)

// System is the machine's clock: the market's time is the wall's.
type System struct {
	bootID string
}

// NewSystem reads the boot id once; it cannot change while the process lives. Where
// the machine has none, readings carry an empty BootID and are comparable to no other
// process's.
func NewSystem() System { return System{bootID: bootID()} }

// Read returns the wall clock in UTC, without Go's monotonic part, and the boot-time
// clock. A boot-time clock that cannot be read shows zero, which agrees with no wall
// clock for long and so makes the clock suspect.
func (s System) Read() gate.Reading {
	wall := time.Now().Round(0).UTC()
	return gate.Reading{Market: wall, Wall: wall, Boot: sinceBoot(), BootID: s.bootID}
}
