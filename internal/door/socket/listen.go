//go:build linux || darwin

package socket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
)

// Access says who may connect.
type Access struct {
	Mode fs.FileMode // of the socket
	// UIDs are the users that may connect. Nil: whom the mode lets in.
	UIDs []int
	// Refused is told of each peer that is turned away; nil: nobody is.
	Refused func(uid int, err error)
}

// Listener accepts connections of allowed peers only; each is a *Conn.
type Listener struct {
	*net.UnixListener
	access Access
	path   string
	file   fs.FileInfo // the socket as it was made
	lock   *os.File    // held while the listener lives: two servers never share a path
	once   sync.Once
}

// Conn is a connection whose peer is known.
type Conn struct {
	*net.UnixConn
	UID int // of the process that connected, when it did
}

// Listen makes a socket at an absolute path. A socket that is left from a server which
// ended is taken away; anything else in its place, a folder that others may write, and a
// server that answers there are errors.
func Listen(path string, access Access) (*Listener, error) {
	l := &Listener{access: access, path: path}
	if err := l.open(); err != nil {
		if l.lock != nil {
			_ = l.lock.Close() // the error says more
		}
		return nil, fmt.Errorf("listen at %s: %w", path, err)
	}
	return l, nil
}

func (l *Listener) open() error {
	if err := errors.Join(checkPath(l.path), checkFolder(filepath.Dir(l.path))); err != nil {
		return err
	}
	var err error
	if l.lock, err = os.OpenFile(l.path+".lock", os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600); err != nil {
		return err
	}
	// The kernel gives it up when the process ends, however it does.
	if err := syscall.Flock(int(l.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return ErrServed
	}
	if err := checkPlace(l.path); err != nil {
		return err
	}
	return l.bind()
}

// bind makes the socket in a folder that only this user enters, gives it its mode there
// and moves it into place: at no instant is it there with another mode.
func (l *Listener) bind() error {
	dir, err := os.MkdirTemp(filepath.Dir(l.path), ".s")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // empty by then, and this user's
	made := filepath.Join(dir, "s")
	if len(made) > PathBytesMax {
		return fmt.Errorf("the folder's path has %d bytes, too many for a socket in it", len(filepath.Dir(l.path)))
	}
	if l.UnixListener, err = net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"}); err != nil {
		return err
	}
	l.SetUnlinkOnClose(false) // it would be the name before the move
	if err = os.Chmod(made, l.access.Mode); err == nil {
		if l.file, err = os.Lstat(made); err == nil {
			err = os.Rename(made, l.path)
		}
	}
	if err != nil {
		_ = l.UnixListener.Close()
	}
	return err
}

// Path is where the socket stands.
func (l *Listener) Path() string { return l.path }

// Accept returns the next connection of an allowed peer, a *Conn.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		uid, err := peer(c)
		if err == nil && (l.access.UIDs == nil || slices.Contains(l.access.UIDs, uid)) {
			return &Conn{UnixConn: c, UID: uid}, nil
		}
		_ = c.Close()
		if l.access.Refused != nil {
			l.access.Refused(uid, err)
		}
	}
}

// Close stops accepting and takes the socket away, unless another stands in its place.
func (l *Listener) Close() error {
	err := l.UnixListener.Close()
	l.once.Do(func() {
		if now, e := os.Lstat(l.path); e == nil && os.SameFile(now, l.file) {
			err = errors.Join(err, os.Remove(l.path))
		}
		err = errors.Join(err, l.lock.Close())
	})
	return err
}

// checkFolder refuses a folder in which someone else could put another socket.
func checkFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("others may write the folder %s", dir)
	case !ok || owner.Uid != 0 && int(owner.Uid) != os.Geteuid():
		return fmt.Errorf("the folder %s belongs to another user", dir)
	}
	return nil
}

// checkPlace refuses what stands at the path, unless it is a socket of this user's that
// nobody serves.
func checkPlace(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("something that is not a socket stands there")
	case !ok || int(owner.Uid) != os.Geteuid():
		return errors.New("a socket of another user stands there")
	}
	c, err := Dial(context.Background(), path) // bounded by DialWithin
	if err == nil {
		_ = c.Close()
		return ErrServed
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("it cannot be told whether a server listens: %w", err)
	}
	return nil // the new socket is moved over it
}
