// Package quotes holds the sources of instruments and prices that need no network.
//
// Paper is the practice market: a quote is a pure function of the seed, the symbol and
// the whole second of market time, worked out with integers only, so that every process
// on every machine sees the same market without sharing anything but the seed.
//
// Scripted is a market that says what it was told, for scenarios and tests.
package quotes
