package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/broker-rails/broker-rails/internal/limits"
)

// readLimits reads the operator's limits document.
func readLimits(path string) ([]byte, error) { return readOwned("limits document", path) }

// readOwned reads a file of the operator. A file or folder that others may write is
// refused: whoever can write it decides what an agent may do.
func readOwned(what, path string) ([]byte, error) {
	// The name may be a link: what counts is the file that is read, and where it stands.
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, unreadable(what, path, err)
	}
	// Opening a pipe might never return.
	if info, err := os.Stat(real); err == nil && !info.Mode().IsRegular() {
		return nil, notAFile(what, path)
	}
	f, err := os.Open(real)
	if err != nil {
		return nil, unreadable(what, path, err)
	}
	defer func() { _ = f.Close() }() // read only: nothing can be lost
	info, err := f.Stat()
	if err != nil {
		return nil, unreadable(what, path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, notAFile(what, path)
	}
	folder, err := os.Stat(filepath.Dir(real))
	if err != nil {
		return nil, unreadable(what, path, err)
	}
	if mend := writableByOthers(filepath.Dir(real), folder); mend != "" {
		return nil, exposed("the folder of the "+what, filepath.Dir(real), mend)
	}
	if err := refuseLooseLinks(what, path); err != nil {
		return nil, err
	}
	if mend := writableByOthers(real, info); mend != "" {
		return nil, exposed("the "+what, real, mend)
	}
	text, err := io.ReadAll(io.LimitReader(f, limits.DocumentBytesMax+1))
	if err != nil {
		return nil, unreadable(what, path, err)
	}
	return text, nil
}

// linksMax bounds a chain of links, as systems do.
const linksMax = 40

// refuseLooseLinks refuses a link in a folder that others may write: whoever can write it
// leads the name to another file of this user.
func refuseLooseLinks(what, path string) error {
	for range linksMax {
		info, err := os.Lstat(path)
		if err != nil {
			return unreadable(what, path, err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return nil
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path)) // .. in a link starts there
		if err != nil {
			return unreadable(what, path, err)
		}
		folder, err := os.Stat(dir)
		if err != nil {
			return unreadable(what, path, err)
		}
		if mend := writableByOthers(dir, folder); mend != "" {
			return exposed("the folder of a link to the "+what, dir, mend)
		}
		next, err := os.Readlink(path)
		if err != nil {
			return unreadable(what, path, err)
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(dir, next)
		}
		path = next
	}
	return unreadable(what, path, errors.New("too many links"))
}

func notAFile(what, path string) error {
	return &failure{code: exitLimits, what: path + " is not a file", hint: "what is read there is one file, the " + what}
}

func unreadable(what, path string, err error) error {
	f := &failure{code: exitLimits, what: what + " " + path, err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.err, f.what = nil, "there is no "+what+" at "+path
		f.hint = "make one with: rails init, or name one with --limits"
	case errors.Is(err, fs.ErrPermission):
		f.hint = "run it as the user who owns the file"
	}
	return f
}

func exposed(what, path, mend string) error {
	return &failure{code: exitLimits, what: fmt.Sprintf("%s can be written by others: %s", what, path), hint: mend}
}
