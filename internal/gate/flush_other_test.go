//go:build !linux

package gate_test

import (
	"os"
	"time"
)

func fdatasync(f *os.File) error { return f.Sync() }

func processorTime() time.Duration { return 0 }
