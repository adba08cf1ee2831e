//go:build !linux

package sqlite

import "os"

// flushFile flushes a file, its times included.
func flushFile(f *os.File) error { return f.Sync() }
