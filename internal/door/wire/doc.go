// Package wire reads JSON-RPC frames strictly, before any protocol library sees them.
//
// A library that decodes a frame leniently, or drops one that it cannot decode, leaves
// a call that nobody judged and nobody recorded. This package looks at every byte that
// arrives: what is not exactly one well-formed message of the protocol is answered
// here, reported to whoever records refusals, and never handed on. What is handed on
// is the very frame that was read.
//
// Stdio taps a pair of streams, one message a line. Read looks at one message, for
// doors whose transport is not a stream.
package wire

// Limits of a message. Hitting one refuses the message with its own reason.
const (
	// FrameBytesMax is the longest message, in bytes. It equals the body limit that the
	// MCP library has for HTTP; a tool call of ours needs a few hundred.
	FrameBytesMax = 4 << 20
	// DepthMax is how deep objects and arrays may nest in a message.
	DepthMax = 1000
	// ArgumentsDepthMax is how deep they may nest in a tool call's arguments.
	ArgumentsDepthMax = 64
	// IDBytesMax is the longest id, in bytes of its JSON text.
	IDBytesMax = 256
	// CallsInFlightMax is how many calls of one session may wait for their answers.
	CallsInFlightMax = 256
)

// JSON-RPC error codes that this package answers with.
//
// Source: JSON-RPC 2.0, section 5.1; MCP 2026-07-28 for CodeHeaderMismatch.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeNoMethod       = -32601
	CodeInvalidParams  = -32602
	CodeHeaderMismatch = -32020
	CodeBusy           = -32000
)
