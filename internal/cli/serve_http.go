package cli

import (
	"context"
	"net"
	"net/netip"
	"strconv"

	"github.com/broker-rails/broker-rails/internal/door/mcpserver"
)

// readTokens reads the token file, if one is named. It comes before anything that a
// start changes: a server that cannot serve puts no limits in force.
func (f *serveFlags) readTokens() (mcpserver.Tokens, error) {
	if f.tokenFile == "" {
		return mcpserver.Tokens{}, nil
	}
	tokens, err := mcpserver.ReadTokens(f.tokenFile)
	if err != nil {
		return tokens, &failure{
			code: exitUsage, err: err,
			hint: `a line is name:token, and only you may read the file: umask 077; echo "desk:$(openssl rand -hex 32)" > FILE`,
		}
	}
	return tokens, nil
}

// serveHTTP serves over streamable HTTP until ctx ends.
func (a *app) serveHTTP(ctx context.Context, server *mcpserver.Server, f *serveFlags, tokens mcpserver.Tokens) error {
	cfg := mcpserver.HTTPConfig{Stateless: f.stateless, AllowedHosts: f.allowedHosts, Tokens: tokens}
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", net.JoinHostPort(f.bind, strconv.Itoa(f.port)))
	if err != nil {
		return &failure{code: exitFailed, what: "not listening", err: err, hint: "choose another with --port"}
	}
	a.errs.line("rails: listening on http://", l.Addr().String())
	return server.RunHTTP(ctx, l, cfg)
}

// loopback reports whether an address to bind can be reached from this machine only.
func loopback(bind string) bool {
	if bind == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(bind)
	return err == nil && addr.IsLoopback()
}
