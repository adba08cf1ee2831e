// Package upstream is the broker behind a broker's own MCP server, spoken to through the
// sessions of the agents that a proxy serves, and read by the rules of a profile.
//
// What holds:
//
//   - An order goes out once, as the arguments that its profile read and the gate judged,
//     by the session that asked for it. Nothing is ever sent again.
//   - A reply proves what a rule of the profile finds in it, under our own client order
//     id; whatever else comes back, or nothing, leaves the order in doubt.
//   - Fills and ends of orders are asked for, since no such server tells of them: every
//     PollEvery, and at once after whatever may have moved them.
//   - Figures that cannot be read are absent: nothing is guessed.
package upstream

import "time"

// Limits of asking.
const (
	// PollEvery is how old what is known of orders and fills may be while nothing was sent.
	// Two questions each: well below the 200 a minute that Alpaca allows.
	PollEvery = 5 * time.Second
	// PagesMax bounds a long list of fills.
	PagesMax = 64
	// EventsMax bounds what is kept of one run.
	EventsMax = 100_000
	// OverlapFor is how far back before the newest journaled fill it is asked for again:
	// fills may be listed late.
	OverlapFor = 10 * time.Minute
	// QuoteFor is how long one answer about a quote serves: the rails of one call ask twice.
	QuoteFor = 250 * time.Millisecond
	// MarkFor is how old a quote that only values a holding may be before it is asked anew.
	MarkFor = 10 * time.Second
	// InstrumentFor is how long an instrument stays as it was resolved.
	InstrumentFor = 10 * time.Minute
	// SymbolsMax bounds the symbols that are remembered.
	SymbolsMax = 4096
	// MissesMin and MissingFor are how often, and for how long, a lookup must find nothing
	// before the broker is taken to be sure that it has no such order.
	MissesMin  = 3
	MissingFor = time.Minute
	// ReasonBytesMax bounds the server's text in a reason.
	ReasonBytesMax = 300
	// KeptMax bounds the readings that are kept for lookups.
	KeptMax = 4096
)
