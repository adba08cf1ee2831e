// Package market holds what the rails need to know of a market: a quote and whether
// it can be trusted, the exchange's calendar as a table, and which trade date and
// session an instant belongs to.
//
// It is pure. Nothing here reads the zone database of the host: New York's offset is
// computed from the federal rule, so that a binary gives the same answer on every
// machine, with any TZ and without zone files, and a replay the same as the day itself.
//
// A calendar answers only within its validity. Outside it every session is closed
// and Known is false; the zero Calendar knows no day at all.
package market
