package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

// Start runs a command that serves MCP over its standard streams. What it writes to its
// standard error goes to stderr. Closing the link closes its input, and ends it by force
// after EndWithin.
func Start(ctx context.Context, command, environ []string, stderr io.Writer) (Link, error) {
	if len(command) == 0 {
		return nil, errors.New("no command")
	}
	c := exec.CommandContext(context.WithoutCancel(ctx), command[0], command[1:]...)
	c.Env, c.Stderr, c.WaitDelay = environ, stderr, time.Second
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("starting the broker's server: %w", err)
	}
	var once sync.Once
	end := func() {
		kill := time.AfterFunc(EndWithin, func() { _ = c.Process.Kill() })
		defer kill.Stop()
		_ = in.Close() // it may be closed already
		_ = c.Wait()   // its end is what counts, not how
	}
	return Lines(out, in, func() error { once.Do(end); return nil }), nil
}
