package mcpserver

import (
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Fixtures are what a protocol suite needs of a server beside its own tools. Their tools
// pass the middleware by name, unread: they can reach no order, and none of them can
// take the place of one of ours. Only a test binary sets them.
type Fixtures struct {
	Options mcp.ServerOptions // completion and subscriptions; the rest is ours
	Add     func(s *mcp.Server)
	Tools   []string
}

func (f *Fixtures) options() mcp.ServerOptions {
	if f == nil {
		return mcp.ServerOptions{}
	}
	return mcp.ServerOptions{
		CompletionHandler: f.Options.CompletionHandler, SubscribeHandler: f.Options.SubscribeHandler,
		UnsubscribeHandler: f.Options.UnsubscribeHandler,
	}
}

// add runs before our own tools are added, which replace any of the same name.
func (f *Fixtures) add(s *mcp.Server) {
	if f != nil && f.Add != nil {
		f.Add(s)
	}
}

func (f *Fixtures) has(tool string) bool { return f != nil && slices.Contains(f.Tools, tool) }
