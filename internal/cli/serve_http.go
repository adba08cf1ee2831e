package cli

import (
	"context"

	"github.com/broker-rails/broker-rails/internal/door/mcpserver"
)

// serveHTTP serves over streamable HTTP until ctx ends.
func (a *app) serveHTTP(_ context.Context, _ *mcpserver.Server, _ *serveFlags) error {
	return usage("use --transport stdio", "streamable-http is not built in")
}
