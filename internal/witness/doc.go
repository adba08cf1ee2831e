// Package witness runs a witness of transparency logs, and asks others.
//
// A witness keeps the newest head of each log that it knows, and cosigns a checkpoint
// only when it extends that head. Whoever holds a log's key can then no longer show one
// history to one reader and another to the next, nor cut or rewrite it: no witness would
// cosign the second.
//
// It speaks c2sp.org/tlog-witness, and its cosignatures are those of
// c2sp.org/tlog-cosignature for Ed25519.
//
// The witness's duties, in this order for every request:
//
//  1. Read the request; what is not in its one form is refused.
//  2. Find the log by its origin, and verify its signature.
//  3. Under one lock: compare the old size with the head, and check the proof.
//  4. Make the new head durable. When that fails nothing is signed any more, until a
//     start reads again what the disk holds.
//  5. Sign, and answer.
//
// A checkpoint of size 0 is refused, unlike in the specification: it vouches for nothing.
package witness
