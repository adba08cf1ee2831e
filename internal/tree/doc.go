// Package tree builds the Merkle tree over all entries of a journal, in commit order, and
// what stands on it: signed checkpoints, proofs of one entry, and proofs that a later
// checkpoint extends an earlier one.
//
// Nothing of the tree is stored but checkpoints: one pass over the entries gives every
// root and hash that is asked for, in memory that does not grow with the journal.
//
// The caller's duties:
//
//  1. Give a Pass every entry from the first one, in commit order.
//  2. Ask Failed after the pass and before anything is signed: a log must not sign a
//     checkpoint that is not an extension of those it has signed
//     (c2sp.org/tlog-checkpoint).
//  3. Keep a checkpoint before it is shown to anyone.
package tree
