package mcpserver

import (
	"net"
	"sync"
)

// limited accepts at most so many connections at once; further ones wait in the
// kernel's queue.
type limited struct {
	net.Listener
	places chan struct{}
	done   chan struct{}
	once   sync.Once
}

func limitListener(l net.Listener, most int) net.Listener {
	return &limited{Listener: l, places: make(chan struct{}, most), done: make(chan struct{})}
}

// Accept waits for a place, then for a connection.
func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &placed{Conn: conn, places: l.places}, nil
}

// Close stops accepting.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Listener.Close()
}

// placed gives its place back when it closes.
type placed struct {
	net.Conn
	places chan struct{}
	once   sync.Once
}

// Close closes the connection, once.
func (p *placed) Close() error {
	err := p.Conn.Close()
	p.once.Do(func() { <-p.places })
	return err
}
