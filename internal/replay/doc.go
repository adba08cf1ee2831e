// Package replay reads a recorded history under other limits: which decisions change,
// which rail changes them, by how much, and what that does to the account.
//
// It answers in two ways, and shows both.
//
// As recorded: each decision is judged again under the new limits on the account's state
// as it was, with every input as it was. Nothing is assumed, so nothing adds up either:
// an order that would have been denied still stands in the state of the next one.
//
// Followed: the history is folded a second time, under the new limits from the first
// decision on, and each decision is judged on that other state. It is a model:
//
//   - The agent makes the same calls at the same times, whatever it would have been told.
//     So it does not cancel an order that it was recorded as refused: such an order works
//     to the end of its time in force.
//   - A recorded order that passes again gets its recorded outcome and fills.
//   - One that is newly denied gets none: its fills do not happen.
//   - A call that names an order which never came to be is moot: it could not be made.
//   - What an order that is newly allowed would have got is not known. It is assumed: by
//     AssumeFill it fills whole at the quote that it was judged by, if that makes it
//     marketable, else at the first quote recorded later in the journal that reaches its
//     price; by AssumeNone it works and never fills. The two bracket what could have been.
//   - The same goes for an order whose replace or cancel comes to another verdict: from
//     there on it leaves its record, and is filled by the assumption.
//   - From the first assumption on, each further change says that it depends on it.
//   - Quotes, the broker's figures and the equity at the open are the recorded ones, the
//     latter two moved by what the other history holds more or less, at the last prices
//     that the journal has.
//   - Modes that an operator set stay; latches and modes that a rail set are the other
//     history's own.
//
// A decision of another engine version, or judged by another calendar, is counted and not
// judged again; in the followed history it stands as it was recorded.
//
// The journal is verified in the same pass and only read. Memory does not grow with it.
package replay
