// Package mcpserver is the door of an MCP host: rails' own server over stdio and HTTP.
//
// A call goes through three layers. The wire tap (package wire) refuses and records
// what is not a sound message. The middleware of this package refuses and records what
// is not a sound call of a tool that exists, and has the gate judge what is; it is the
// only place where a permit is put into a call's context. A tool's body runs last: that
// of a writing tool forwards the permit that it finds in its context and can do nothing
// else, so a body that were reached around the middleware would send nothing.
//
// Denials and faults of an order are tool results with isError, since hosts often hide
// protocol errors from the model. Malformed messages, bad params and unknown tools are
// JSON-RPC errors. All are recorded, and no answer repeats the caller's text.
package mcpserver

import "time"

// Limits of the HTTP server.
const (
	// ConnectionsMax is how many connections are open at once; more wait to be accepted.
	// A thousand half-sent requests hold so many buffers and no more.
	ConnectionsMax = 256
	// SessionsMax is how many stateful sessions live at once.
	SessionsMax = 256
	// HeaderBytesMax is the longest request header.
	HeaderBytesMax = 16 << 10
	// HeaderWithin and BodyWithin bound how long a request may take to arrive.
	HeaderWithin = 5 * time.Second
	BodyWithin   = 15 * time.Second
	// IdleWithin is how long a connection may be kept without a request.
	IdleWithin = time.Minute
	// SessionIdleFor is how long a stateful session lives without a request.
	SessionIdleFor = 30 * time.Minute
	// StopWithin bounds the wait for calls in progress when the server stops. It is
	// longer than a broker's reply may take.
	StopWithin = 35 * time.Second
)

// recordWithin bounds the wait for a refusal's entry.
const recordWithin = 5 * time.Second

// door is the name of this door in entries.
const door = "mcp"
