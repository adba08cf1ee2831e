//go:build !linux

package gate_test

import "os"

func fdatasync(f *os.File) error { return f.Sync() }
