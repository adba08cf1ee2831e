package fakealpaca

import (
	"fmt"
	"slices"
	"time"
)

// Fault is one thing that goes wrong, at the next requests or events that it names.
type Fault struct {
	Kind  string        // one of Kinds
	On    string        // "POST /v2/orders", a prefix of method and path; for a stream fault the event's kind. Empty: any
	Times int           // how often; zero is once
	For   time.Duration // of a delay, and of a rate limit's window
	fired int
}

// Kinds are the faults, each with what it does. Those that end in _before keep the request
// from having any effect; those that end in _after let it have its effect first.
func Kinds() map[string]string {
	return map[string]string{
		"drop_before":      "the connection ends, and nothing happened",
		"drop_after":       "the connection ends after it happened",
		"error_before":     "500, and nothing happened",
		"error_after":      "500 after it happened",
		"delay_before":     "it happens late, if the client still waits",
		"delay_after":      "it happens at once and is answered late",
		"html_before":      "502 with a page in HTML, and nothing happened",
		"html_after":       "200 with a page in HTML after it happened",
		"empty_after":      "200 with nothing in it after it happened",
		"rate_limit":       "429 with the time of its end",
		"foreign_after":    "200 with another order than was asked for",
		"number_after":     "200 with numbers where texts should be",
		"huge_after":       "200 with figures beyond any range",
		"status_after":     "200 with a status that nobody knows",
		"partial_207":      "207 of which one item failed",
		"lost_replace":     "200 for a replace that the fill overtook",
		"lost_cancel":      "204 for a cancel that the fill overtook",
		"event_lost":       "an event is never told",
		"event_twice":      "an event is told twice",
		"event_late":       "an event is told after the next one",
		"event_unknown":    "an event of a kind that nobody knows is told before it",
		"stream_close":     "the stream ends in order",
		"stream_cut":       "the stream's connection ends",
		"stream_half_open": "the stream stays open and says nothing more, not even a pong",
	}
}

// Inject adds a fault. An error for a kind that is not known.
func (b *Broker) Inject(f Fault) error {
	if _, known := Kinds()[f.Kind]; !known {
		return fmt.Errorf("no fault is called %q", f.Kind)
	}
	if f.Times <= 0 {
		f.Times = 1
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, &f)
	return nil
}

// Pending returns the faults that did not fire as often as they should.
func (b *Broker) Pending() (kinds []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		if f.fired < f.Times {
			kinds = append(kinds, f.Kind)
		}
	}
	return kinds
}

// due takes the first fault of these kinds that is due for a request or event. The lock
// is held.
func (b *Broker) due(what string, kinds ...string) *Fault {
	for _, f := range b.faults {
		if f.fired < f.Times && slices.Contains(kinds, f.Kind) && (f.On == "" || len(what) >= len(f.On) && what[:len(f.On)] == f.On) {
			f.fired++
			return f
		}
	}
	return nil
}
