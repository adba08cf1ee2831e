//go:build unix

package markfile_test

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/markfile"
)

// A pipe has no text until someone writes to it: nobody may wait for that.
func TestFailClosedPipeIsARequestAtOnce(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, markfile.Name), 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	asked := make(chan bool, 1)
	go func() { // ends at once, or with the test's process
		f := markfile.ForAll(dir)
		err := f.Request("stop")
		_, on := f.Requested()
		asked <- on && err == nil
	}()
	select {
	case on := <-asked:
		if !on {
			t.Error("a pipe is no request")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a pipe is waited for")
	}
}
