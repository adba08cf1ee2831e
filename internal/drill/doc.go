// Package drill is a deterministic simulator of a whole desk at its worst. One seed is one
// history: up to three processes on one journal, each with a gate, over one broker, with an
// agent, an operator, a market, and faults at every port of the gate, in both variants: it
// failed, and it failed but took effect.
//
// Only one thing runs at a time. A call into a gate runs on a goroutine of its own, and at
// every port that it reaches the seed says whether it goes on, waits while others run, or
// dies there with its process. The same seed gives the same journal, byte for byte. Every
// draw hangs on the step and the port call that it is for, and on no draw before it, so a
// step or a fault can be left out and the rest of the history stays as it was: that is how
// a failing history is made small.
//
// What must hold is asked of the broker's ledger and of the stored entries, never of what a
// gate believes. It has no code of the product; all of it is tests:
//
//	go test ./internal/drill -run TestHistories -histories 100000
//	go test ./internal/drill -run TestSeed -seed 123 -v
package drill
