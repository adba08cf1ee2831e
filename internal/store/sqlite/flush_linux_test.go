package sqlite

import (
	"os"
	"syscall"
)

// flushFile flushes as the store does.
func flushFile(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }
