// Package faults holds tests that end processes at every step of the gate's contract
// and let many processes race on one journal, and then ask the broker's ledger and the
// journal what really happened. It has no code of the product.
package faults
