// Package markfile holds what binds every process of a data folder without the journal:
// one file each.
//
// HALT is the halt for the case that another process hangs while it holds the journal's
// lock, so that rails halt cannot append its entry. While it stands nothing is sent; the
// first process that can write turns it into a mode entry and takes it away.
//
// LIMITS-INVALID says that the newest load of an account's limits document failed. While
// it stands only reducing orders pass; the next valid load takes it away.
package markfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Names of the files in the data folder; an account's own has its name behind it.
const (
	Name              = "HALT"
	nameInvalidLimits = "LIMITS-INVALID"
)

// ReasonBytesMax bounds what is read of the file.
const ReasonBytesMax = 512

// File is one account's mark, or that of all accounts of a data folder.
type File struct{ path, all string }

// ForAll returns the halt file that binds every account of a data folder.
func ForAll(dir string) File { return File{path: filepath.Join(dir, Name)} }

// For returns an account's halt file. The one for all accounts binds it too, and is not
// taken away by Done.
func For(dir, account string) File {
	return File{path: filepath.Join(dir, Name+"-"+account), all: filepath.Join(dir, Name)}
}

// InvalidLimits returns the mark of an account whose newest limits did not load.
func InvalidLimits(dir, account string) File {
	return File{path: filepath.Join(dir, nameInvalidLimits+"-"+account)}
}

// Request writes the file, durably, as a new one: who takes the older one away leaves it.
// What stands there and is no plain file asks already: it is left as it is, since a link
// would be written through and a pipe waits for a reader.
func (f File) Request(reason string) error {
	if info, err := os.Lstat(f.path); err == nil && !info.Mode().IsRegular() {
		return nil
	}
	if f.replace(reason) == nil {
		return nil
	}
	// Where there is no room for a second file, a file without its reason is a request too.
	out, err := os.OpenFile(f.path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = out.WriteString(reason)
	return errors.Join(err, out.Sync(), out.Close())
}

// replace puts a new file in the place of the one that stands, at once.
func (f File) replace(reason string) error {
	out, err := os.CreateTemp(filepath.Dir(f.path), ".new-*") // 0600
	if err != nil {
		return err
	}
	_, err = out.WriteString(reason)
	if err = errors.Join(err, out.Sync(), out.Close()); err == nil {
		err = os.Rename(out.Name(), f.path)
	}
	if err != nil {
		_ = os.Remove(out.Name()) // nobody reads it
	}
	return err
}

// Requested reports whether the file stands, and the reason in it. Whatever else is wrong
// with the file or its folder counts as a request: only its plain absence does not.
func (f File) Requested() (reason string, requested bool) {
	if f.path == "" {
		return "no file is named", true
	}
	if reason, requested = read(f.path); !requested && f.all != "" {
		return read(f.all)
	}
	return reason, requested
}

func read(path string) (reason string, requested bool) {
	// A link that leads nowhere is not absence, and opening a pipe might never return.
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return "something that is no plain file", true
	}
	in, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	if err != nil {
		return "the file cannot be read", true
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, ReasonBytesMax))
	text = bytes.TrimSpace(text) // a reason that was written by hand ends with a line feed
	if err != nil || len(text) == 0 {
		return "a file without a reason", true
	}
	return string(text), true
}

// Take is Requested, and hands over what takes away the file that it saw, and no newer one:
// an older request that is dealt with is no leave to forget the next.
func (f File) Take() (reason string, requested bool, done func() error) {
	seen, err := os.Lstat(f.path)
	if err != nil {
		seen = nil
	}
	reason, requested = f.Requested()
	return reason, requested, func() error {
		now, err := os.Lstat(f.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case seen == nil || !os.SameFile(seen, now) || !seen.ModTime().Equal(now.ModTime()):
			return nil // asked for again meanwhile
		}
		return f.Done()
	}
}

// Done takes the file away, whichever stands.
func (f File) Done() error {
	err := os.Remove(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
