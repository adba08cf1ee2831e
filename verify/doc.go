// Package verify checks, offline, what a Broker Rails journal proves about itself: that
// an entry is in the journal that a checkpoint vouches for, that a later checkpoint
// extends an earlier one, and that exported entries are those of their checkpoints.
//
// It needs a public key that was received by another way than what is checked. It reads
// no journal, shares no code with the program that writes one, and imports nothing but
// the Merkle trees and signed notes of golang.org/x/mod/sumdb.
//
// Forms: checkpoints are c2sp.org/tlog-checkpoint, signed notes with Ed25519; proofs of
// one entry are c2sp.org/tlog-proof@v1; proofs between two checkpoints have the form of
// a c2sp.org/tlog-witness request. Trees are those of RFC 6962, section 2.1. A leaf is
// an entry's bytes as the journal stores them, in commit order over all accounts.
//
// Everything that is not in its one form is refused: numbers with leading zeros, base64
// with other bytes than the encoder writes, hashes too many.
package verify
