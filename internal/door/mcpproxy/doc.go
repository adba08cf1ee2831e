// Package mcpproxy is the door in front of a broker's own MCP server. An agent's session
// is relayed to a session of its own with that server; calls that could move money are
// taken out of the stream, read by a profile, and go to the gate or end here.
//
// What holds:
//
//   - What is passed on is passed as it came: params, results and errors are the sender's
//     bytes, numbers and unknown names unchanged. Only the ids of calls are ours, towards
//     the server.
//   - A tool that the profile does not name, or that it closes, is not shown and not
//     called. So is one whose definition is not, byte for byte, the one that was pinned,
//     or that the server lists twice: it waits for an operator.
//   - Orders never pass: the server is sent what the gate allowed, through the gate's
//     broker, by this session.
//   - No credential of an agent leaves this package, and what the server writes is data:
//     bounded, and never taken for a word of ours.
//   - Whatever does not fit a limit below ends the call, or the session, with a reason.
package mcpproxy

import "time"

// Limits of a session.
const (
	// MessageBytesMax is the longest message in either direction, in bytes.
	MessageBytesMax = 4 << 20
	// QueueBytesMax and QueueMax bound what waits to be written in one direction; who does
	// not read for StallFor is left.
	QueueBytesMax = 8 << 20
	QueueMax      = 1024
	StallFor      = 10 * time.Second
	// CallsInFlightMax is how many calls of one session may wait for their answers.
	CallsInFlightMax = 256
	// JunkMax is how many messages of a server may be none of the protocol's before the
	// session ends.
	JunkMax = 1000
	// BeginWithin bounds a session's start: listing the tools and looking at the account.
	BeginWithin = 60 * time.Second
	// ListPagesMax and ToolsMax bound the server's list of tools.
	ListPagesMax = 64
	ToolsMax     = 1024
	// AnswerWithin is how long a question of ours to the server may take.
	AnswerWithin = 30 * time.Second
	// InstructionsBytesMax bounds what the server's instructions may be long.
	InstructionsBytesMax = 16 << 10
	// EndWithin is how long a command may take to end once its input has.
	EndWithin = 5 * time.Second
)

// door is the name of this door in entries.
const door = "proxy"
