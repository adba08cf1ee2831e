package witness

import (
	"net"
	"sync"
)

// connectionsMax bounds the connections that are open at once; more wait to be accepted.
const connectionsMax = 256

// places is a listener that accepts only while there is a place.
type places struct {
	net.Listener
	free   chan struct{}
	closed chan struct{}
	close  func()
}

func newPlaces(l net.Listener, most int) *places {
	p := &places{Listener: l, free: make(chan struct{}, most), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

// Accept waits for a place, and then for a connection.
func (p *places) Accept() (net.Conn, error) {
	select {
	case p.free <- struct{}{}:
	case <-p.closed:
		return nil, net.ErrClosed
	}
	c, err := p.Listener.Accept()
	if err != nil {
		<-p.free
		return nil, err
	}
	return &placed{c, sync.OnceFunc(func() { <-p.free })}, nil
}

// Close ends those who wait.
func (p *places) Close() error {
	p.close()
	return p.Listener.Close()
}

// placed gives its place back when it is closed.
type placed struct {
	net.Conn
	leave func()
}

func (c *placed) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
