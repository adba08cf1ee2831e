// Package gate is the only path from an intent to a broker. It keeps one contract,
// in this order, for every call and every door:
//
//  1. the door hands over an intent, normalized in one place (normalize);
//  2. decide: risk.Decide over the account's state, the limits in force and the
//     request; all rails run;
//  3. journal the decision and its reservation durably, by compare-and-swap on the
//     heads of the account and of the control chain; whoever loses refolds and
//     decides again;
//  4. forward with a permit minted by step 3, valid for PermitFor, burned by the one
//     function that can submit, which reads the heads again: a later mode, latch or
//     limits entry, or an expired permit, sends nothing and journals not_sent;
//  5. journal the outcome: accepted, rejected, or in doubt. In doubt is a state: the
//     reservation stays and nothing is resent.
//
// The zero Gate refuses everything.
package gate

import (
	"errors"
	"time"
)

// Durations of the contract.
const (
	// PermitFor is how long a permit may be burned after its decision was durable.
	PermitFor = 2 * time.Second
	// ReplyWithin is how long a message may be in flight before it is in doubt.
	ReplyWithin = 30 * time.Second
	// AskWithin bounds what one call may wait for the broker and the source of quotes
	// before it is decided. Calls for the account wait for each other as long.
	AskWithin = 10 * time.Second
	// AppendWithin bounds the wait for the journal, retries after lost races included.
	AppendWithin = 5 * time.Second
)

var errUnsealed = errors.New("message was not released by the gate")
