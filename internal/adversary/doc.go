// Package adversary attacks the whole product, and says whether each attack was refused
// for the right reason.
//
// A case is data: what the account has before, what the attacker sends, the exact set
// of rails or integrity refusals that must refuse each call, what the broker's ledger
// must show afterwards, and a benign twin that must pass. It is played by an MCP client
// session over the server's own stdio transport, with the real gate and journal behind
// it and the paper broker under a virtual clock. What refused is read from the journal
// and what happened from the broker's ledger: the server's answers are held against
// both, and are never the proof.
//
// A call that another rail refuses too, or instead, is a violation, and so are a fault
// and a refused twin. Nothing that serves orders imports this package.
package adversary

import "time"

// Channels that an attack comes by.
const (
	Direct    = "direct"    // the agent asks for what a limit forbids
	Protocol  = "protocol"  // the call itself is wrong: its bytes, its types, its tool
	Injection = "injection" // what the agent reads told it to
)

// Bounds of the suite.
const (
	FilesMax  = 100
	CasesMax  = 1_000
	StepsMax  = 100
	RepeatMax = 1_000
	// AttackersMax is how many client sessions call at once: more than the cores that
	// they could share, and as many as a host opens.
	AttackersMax = 16
	// AdvanceMax is the longest that a step lets time run.
	AdvanceMax = 366 * 24 * time.Hour
)

// callWithin bounds one call or message, so that a server that hangs is a violation.
const callWithin = 20 * time.Second
