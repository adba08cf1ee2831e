package cli

import (
	"context"
	"errors"
	"io/fs"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/door/socket"
)

// envAgentSocket names the agent socket where --socket does not.
const envAgentSocket = "RAILS_AGENT_SOCKET"

func (a *app) shimCommand() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use: "shim --socket PATH", Short: "Pass an MCP host's streams to a server's socket", Args: none,
		Long: "An MCP host starts this in place of rails serve, as a user who can read neither the\n" +
			"broker's key nor the journal. It passes bytes as they are, and never connects again: an\n" +
			"order is not sent twice. Where --socket is left out, " + envAgentSocket + " names it.",
		RunE: func(c *cobra.Command, _ []string) error {
			if path == "" {
				path = a.env(envAgentSocket)
			}
			if path == "" {
				return usage("start a server with: rails serve --listen unix:PATH; then: rails shim --socket PATH", "--socket says where the server listens")
			}
			return a.shim(c.Context(), path)
		},
	}
	c.Flags().StringVar(&path, "socket", "", "the server's agent socket")
	return c
}

func (a *app) shim(ctx context.Context, path string) error {
	// A host that is gone is an error of writing, with a sentence, and not a signal.
	signal.Ignore(syscall.SIGPIPE)
	conn, err := socket.Dial(ctx, path)
	if err != nil {
		hint := "start one with: rails serve --listen unix:" + quoted(path)
		if errors.Is(err, fs.ErrPermission) {
			hint = "become a member of the socket's group, and log in anew"
		}
		return &failure{code: exitBroker, what: "no way to a server at " + path, err: err, hint: hint}
	}
	if err := socket.Relay(ctx, conn, a.in, a.out.w); err != nil {
		return &failure{
			code: exitFailed, what: "the session ended", err: err,
			hint: "an order without an answer may have been placed: ask for its state in a new session, and do not send it again",
		}
	}
	return nil
}
