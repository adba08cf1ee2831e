package cli

import (
	"io"

	"github.com/spf13/cobra"
)

// Reference is the whole command line, for writing its documentation. It reads no
// environment, and what it runs prints nothing.
func Reference() *cobra.Command {
	a := &app{out: newPrinter(io.Discard, nil), errs: newPrinter(io.Discard, nil)}
	return a.root()
}
