// Package attest signs checkpoints of a journal while it grows, and asks witnesses to
// cosign them. It stands beside the path of orders and never on it: it only reads what
// is durable, and whatever fails here is told and tried again.
//
// A checkpoint is due
//
//   - after so many entries since the last,
//   - so long after the last, if there are new entries,
//   - when the exchange's session or trade date changes, if there are new entries,
//   - at a clean end, if there are new entries.
//
// One that is signed is kept before any witness sees it (package tree, duty 3), and
// nothing is signed that does not extend every checkpoint held (duty 2).
package attest
