// Package socket is how a server is reached on its own machine by other users: Unix
// sockets whose peers the kernel names, a relay between such a socket and a pair of
// streams, and a protocol of one line each way for what an operator asks.
//
// Who may connect is settled twice: by the socket's mode, and by the user id that the
// kernel gives of the process that connected. Neither is a word of the peer's. A system
// whose kernel does not tell the peer's user has no such sockets here.
//
// Agents' and operators' sockets are apart: a socket serves one protocol, and nothing
// that is said on it opens another. What asks a server for anything else gets a listener
// of its own, with a schema of its own on the one-line protocol.
package socket

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// Limits.
const (
	// PathBytesMax is the longest path of a socket, in bytes: what the smallest system's
	// address holds (104 on macOS, with its end).
	PathBytesMax = 103
	// DialWithin bounds the wait for a server to take a connection.
	DialWithin = 5 * time.Second
	// RequestBytesMax is the longest request line, in bytes.
	RequestBytesMax = 64 << 10
	// AnswerBytesMax is the longest answer line, in bytes.
	AnswerBytesMax = 8 << 20
	// RequestWithin bounds how long a request may take to arrive, and an answer to be
	// taken.
	RequestWithin = 5 * time.Second
	// AnswerWithin bounds the wait for an answer: longer than a command may take.
	AnswerWithin = 90 * time.Second
	// RelayBytes is what a relay holds at once, each way.
	RelayBytes = 64 << 10
	// DrainWithin is how long a relay whose input has ended waits for the last answers:
	// longer than a broker's reply may take.
	DrainWithin = 40 * time.Second
)

var (
	// ErrUnsupported says that this system's kernel does not say who connects.
	ErrUnsupported = errors.New("sockets need a system that tells who connects: Linux or macOS")
	// ErrServed says that another server listens there.
	ErrServed = errors.New("another server listens there")
	// ErrServerGone says that the server ended the connection.
	ErrServerGone = errors.New("the server ended the connection")
)

// checkPath says what is wrong with a path as text.
func checkPath(path string) error {
	switch {
	case !filepath.IsAbs(path):
		return fmt.Errorf("%s is not an absolute path", path)
	case len(path) > PathBytesMax:
		return fmt.Errorf("the path has %d bytes, and a socket's may have %d", len(path), PathBytesMax)
	}
	return nil
}
