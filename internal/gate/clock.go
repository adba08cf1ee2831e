package gate

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
)

// Thresholds of a suspect clock (design: rails, Time).
const (
	clockBackMax  = 2 * time.Second  // a step of the wall clock back against the boot clock
	clockApartMax = 5 * time.Second  // a step of either against the other
	clockAgreeFor = 10 * time.Second // how long both must agree before they are trusted again
)

// stepWatch compares the wall clock with the boot-time clock, which runs during sleep
// and cannot be set. The zero watch trusts the first reading.
type stepWatch struct {
	seen         bool
	wall         time.Time
	market       time.Time
	boot         time.Duration
	bootID       string
	suspectUntil time.Duration // on the boot clock
}

// steady reports whether, as far as this process knows, no clock was stepped for as long as
// a message may be in flight.
func (w *stepWatch) steady() bool {
	return w.suspectUntil == 0 || w.boot-w.suspectUntil >= ReplyWithin-clockAgreeFor
}

// seed takes the newest journaled reading as the reference, so that a step between
// two processes of one boot is seen. A process that starts while the clocks were suspect
// does not trust them any sooner.
func (w *stepWatch) seed(c journal.Clock) {
	if c.BootID == "" || c.Wall.IsZero() {
		return
	}
	w.seen, w.wall, w.boot, w.bootID = true, c.Wall.Time, time.Duration(c.BootNS), c.BootID
	if c.Suspect {
		w.suspectUntil = w.boot + clockAgreeFor
	}
}

// observe takes one reading and says what instant to judge by, and whether the clocks
// are suspect. While they are, time runs by the boot clock from the last trusted one.
func (w *stepWatch) observe(r Reading) (at time.Time, suspect bool) {
	if !w.seen || w.bootID != r.BootID {
		*w = stepWatch{seen: true, wall: r.Wall, market: r.Market, boot: r.Boot, bootID: r.BootID}
		return r.Market, false
	}
	if r.Boot < w.boot {
		// A clock that cannot go back did: neither is to be believed.
		w.boot, w.wall, w.suspectUntil = r.Boot, r.Wall, r.Boot+clockAgreeFor
	}
	elapsed := r.Boot - w.boot
	apart := r.Wall.Sub(w.wall) - elapsed
	if apart < -clockBackMax || apart > clockApartMax || apart < -clockApartMax {
		w.suspectUntil = r.Boot + clockAgreeFor
	}
	suspect = r.Boot < w.suspectUntil
	at = r.Market
	if suspect && !w.market.IsZero() {
		at = w.market.Add(elapsed)
	}
	w.wall, w.boot, w.market = r.Wall, r.Boot, at
	return at, suspect
}

// moment is the instant that one call is judged by, with the clocks that gave it.
type moment struct {
	at    time.Time
	clock journal.Clock
}

// now reads the clocks. The instant never goes back of the newest journaled entry.
// The caller holds mu.
func (g *Gate) now() moment {
	r := g.cfg.Clock.Read()
	at, suspect := g.steps.observe(r)
	if g.state != nil && at.Before(g.state.At) {
		at = g.state.At
	}
	return moment{at: at.UTC(), clock: journal.Clock{
		BootID: r.BootID, BootNS: int64(r.Boot), Suspect: suspect, Wall: journal.Time{Time: r.Wall.UTC()},
	}}
}
