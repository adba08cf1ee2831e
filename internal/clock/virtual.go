package clock

import (
	"sync"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
)

// Virtual is a clock that moves only when told to. It may be used from many goroutines.
type Virtual struct {
	mu  sync.Mutex // guards now
	now gate.Reading
}

// virtualBoot is how long the machine has been up at the start: long enough for windows
// that look back.
const virtualBoot = 24 * time.Hour

// NewVirtual returns a clock whose market and wall both show at.
func NewVirtual(at time.Time) *Virtual {
	at = at.Round(0).UTC()
	return &Virtual{now: gate.Reading{Market: at, Wall: at, Boot: virtualBoot, BootID: "virtual-1"}}
}

// Read returns the time as it was last told.
func (v *Virtual) Read() gate.Reading {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

// Now is the market's time of Read.
func (v *Virtual) Now() time.Time { return v.Read().Market }

// Set puts market and wall to at, and lets the boot-time clock run on by as much, so
// that they agree. Going back does not turn the boot-time clock back: that is a step.
func (v *Virtual) Set(at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	at = at.Round(0).UTC()
	v.now.Boot += max(0, at.Sub(v.now.Market))
	v.now.Market, v.now.Wall = at, at
}

// Advance lets all clocks run on by d, as time does. A negative d moves nothing.
func (v *Virtual) Advance(d time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	d = max(0, d)
	v.now.Market = v.now.Market.Add(d)
	v.now.Wall = v.now.Wall.Add(d)
	v.now.Boot += d
}

// StepWall steps the wall clock by d, forward or back, and the market's time with it,
// as on a machine that trades by its wall clock. The boot-time clock stays.
func (v *Virtual) StepWall(d time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now.Wall = v.now.Wall.Add(d)
	v.now.Market = v.now.Market.Add(d)
}

// StepWallAlone steps the wall clock by d and leaves the market's time as it is.
func (v *Virtual) StepWallAlone(d time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now.Wall = v.now.Wall.Add(d)
}

// Reboot is a restart of the machine: another boot id, and a boot-time clock from zero.
func (v *Virtual) Reboot() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now.Boot = 0
	v.now.BootID += "+"
}
