//go:build !unix

package sqlite

import (
	"io/fs"
	"os"
)

// checkPrivate passes: permission bits say nothing here. The folder is under the
// user's profile, whose access list keeps other users out.
func checkPrivate(string, string, fs.FileInfo) error { return nil }

// flushFolder does nothing: folders cannot be flushed here.
func flushFolder(string) error { return nil }

// identity tells one file from another under the same path. An open file cannot be
// replaced here, so its presence is all there is to check.
type identity struct{}

func identify(path string) (identity, error) {
	_, err := os.Lstat(path)
	return identity{}, err
}
