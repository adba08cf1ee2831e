//go:build !linux && !darwin

package socket

import (
	"io/fs"
	"net"
)

// Access says who may connect.
type Access struct {
	Mode    fs.FileMode
	UIDs    []int
	Refused func(uid int, err error)
}

// Listener is never made on this system.
type Listener struct{ net.Listener }

// Path is where the socket would stand.
func (l *Listener) Path() string { return "" }

// Conn is never made on this system.
type Conn struct {
	net.Conn
	UID int
}

// Listen refuses: who connects is not known here.
func Listen(string, Access) (*Listener, error) { return nil, ErrUnsupported }
