//go:build !unix

package tree

import "io/fs"

// exposed knows nothing of access control lists.
func exposed(fs.FileInfo) bool { return false }

// flushFolder has nothing to do where folders cannot be flushed.
func flushFolder(string) error { return nil }
