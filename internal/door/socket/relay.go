package socket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// Dial connects to a server's socket.
func Dial(ctx context.Context, path string) (*net.UnixConn, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: DialWithin}
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		_ = c.Close()
		return nil, ErrUnsupported
	}
	return u, nil
}

// Relay passes bytes between a connection and a pair of streams as they are, until in
// ends and the server has answered what it had, or either side fails. It never connects
// again: a line that was sent must not be sent twice. It closes the connection, and
// leaves the goroutine that reads in to the end of the process.
func Relay(ctx context.Context, c *net.UnixConn, in io.Reader, out io.Writer) error {
	defer func() { _ = c.Close() }() // what was written is written
	sent, answered := make(chan error, 1), make(chan error, 1)
	var inEnded atomic.Bool // before the server can know it
	go func() {             // ends with in, or with the connection at its next byte
		err := pass(c, in)
		if err == nil {
			inEnded.Store(true)
			err = c.CloseWrite()
		}
		sent <- err
	}()
	go func() { answered <- pass(out, c) }() // ends with the connection
	select {
	case err := <-answered:
		if inEnded.Load() {
			return err
		}
		return ended(err)
	case <-ctx.Done():
		return ctx.Err()
	case err := <-sent:
		if err != nil {
			return ended(err)
		}
	}
	drain := time.NewTimer(DrainWithin)
	defer drain.Stop()
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-drain.C:
		return fmt.Errorf("no end of the answers within %s", DrainWithin)
	}
}

func ended(err error) error {
	if err == nil {
		return ErrServerGone
	}
	return err
}

// pass copies until from ends. Each read is passed on at once.
func pass(to io.Writer, from io.Reader) error {
	buffer := make([]byte, RelayBytes)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
