// Package paper is a broker that needs no network: one account with its own ledger,
// which fills orders against the quotes that the rails priced.
//
// The ledger is a file of its own, shared by processes, and never derived from the
// journal: where both disagree, the journal is wrong. It keeps every message that
// arrived, so that a test can ask whether one arrived twice.
//
// How it trades:
//
//   - An order that its quote (gate.Message.Quote) makes marketable fills at once, at
//     exactly that ask or bid, up to MarketableMax units. What is left rests; of an ioc
//     order it is canceled.
//   - Resting orders are looked at once for every whole second of market time, however
//     many processes look and however long nobody did: whoever comes next catches up
//     from the second that the ledger was left at. They fill at that second's ask or
//     bid, their limit or better, up to the size displayed in that second.
//   - Stops trigger on the ask for buys and on the bid for sells.
//   - Orders without extended_hours trade in the regular session only.
//   - Cash alone pays: no margin, no fees. A buy that cash less what resting buys hold
//     cannot cover, and a sell beyond the position less resting sells, are rejected.
//
// It never trades on its own account of time: the clock and the quotes are the caller's.
package paper
