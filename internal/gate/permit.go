package gate

import (
	"sync/atomic"
	"time"
)

// Permit lets one durable decision be forwarded, once, for PermitFor. Only Decide
// mints one; its zero value burns to nothing.
type Permit struct {
	gate     *Gate
	decision uint64 // seq
	orderID  string
	through  uint64 // seq of the last entry of the decision's transaction
	control  Head
	minted   time.Time     // monotonic: it stands still while the machine sleeps
	boot     time.Duration // since boot, sleep included
	message  Message
	burned   atomic.Bool
}

// OrderID is the order that the permit's decision made or named.
func (p *Permit) OrderID() string { return p.orderID }

// What burn says. Of a permit that is foreign or used nothing is journaled: it is not this
// gate's, or not this call's, to end.
const (
	permitExpired = "permit expired"
	permitForeign = "no permit of this gate"
	permitUsed    = "permit was used before"
)

// burn takes the permit's only use. It is false for a permit that was used before,
// that is too old, or that another gate minted.
func (p *Permit) burn(g *Gate) (reason string, ok bool) {
	switch {
	case p == nil || p.gate == nil || p.gate != g:
		return permitForeign, false
	case !p.burned.CompareAndSwap(false, true):
		return permitUsed, false
	case p.expired(g.cfg.Clock.Read()):
		return permitExpired, false
	}
	return "", true
}

// expired reports whether the permit is too old by either clock: what was decided before
// the machine slept is not sent when it wakes.
func (p *Permit) expired(now Reading) bool {
	return time.Since(p.minted) > PermitFor || now.Boot-p.boot > PermitFor
}
