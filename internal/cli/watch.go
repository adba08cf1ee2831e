package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"
)

// Bounds of --watch: often enough to look live, seldom enough to cost nothing.
const (
	watchEvery = 2 * time.Second
	watchMin   = 500 * time.Millisecond
	watchMax   = time.Hour
)

// watching are the flags of a command that can look again and again.
type watching struct {
	on    bool
	every time.Duration
	// newOnly: what is shown to a program again is what was not shown before.
	newOnly bool
}

func (w *watching) flags(c *cobra.Command) {
	c.Flags().BoolVar(&w.on, "watch", false, "look again and again, until interrupted")
	c.Flags().DurationVar(&w.every, "every", watchEvery, "how often to look with --watch (500ms to 1h)")
}

// look shows a deck once, or with --watch until the context ends. A watch that is
// interrupted has done what it was asked to.
func (a *app) look(ctx context.Context, w watching, show func(d *deck) error) error {
	if w.on && (w.every < watchMin || w.every > watchMax) {
		return usage("", "--every %s is not within %s and %s", w.every, watchMin, watchMax)
	}
	lines := w.on && (a.flags.json || !a.out.terminal) // for a program to read
	a.out.compact = lines
	return a.withDeck(ctx, looking, func(d *deck) error {
		for {
			if w.on && !lines {
				a.out.line("\x1b[H\x1b[2J")
			}
			if err := show(d); err != nil || !w.on {
				return err
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(w.every):
			}
			if lines && !a.flags.json && !w.newOnly {
				a.out.line("")
			}
		}
	})
}
