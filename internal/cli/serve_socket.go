package cli

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/broker-rails/broker-rails/internal/door/mcpserver"
	"github.com/broker-rails/broker-rails/internal/door/socket"
)

const transportSocket = "unix"

// Modes of the sockets: the agent's is for the group that the server runs as, the
// operator's for its own user.
const (
	agentSocketMode    fs.FileMode = 0o660
	operatorSocketMode fs.FileMode = 0o600
)

// operatorSuffix names the operator socket beside the agent's.
const operatorSuffix = ".operator"

// sockets are what a server listens at.
type sockets struct {
	agent, operator *socket.Listener
	path            string // of the operator's
}

// socketPaths are the two sockets' paths, empty without --listen.
func (f *serveFlags) socketPaths() (agent, operator string, err error) {
	if f.listen == "" {
		return "", "", nil
	}
	agent, ok := strings.CutPrefix(f.listen, "unix:")
	if !ok || agent == "" {
		return "", "", usage("write unix:PATH", "--listen %q is not known", f.listen)
	}
	operator = agent + operatorSuffix
	if f.operatorListen != "" {
		if operator, ok = strings.CutPrefix(f.operatorListen, "unix:"); !ok || operator == "" {
			return "", "", usage("write unix:PATH", "--operator-listen %q is not known", f.operatorListen)
		}
	}
	if operator == agent {
		return "", "", usage("give each its own path", "agents and operators are never served on one socket")
	}
	return agent, operator, nil
}

// openSockets comes before anything that a start changes, and takes no connection yet: a
// server that cannot serve puts no limits in force. Nil without --listen.
func (f *serveFlags) openSockets(log *slog.Logger) (*sockets, error) {
	agent, operator, err := f.socketPaths()
	if agent == "" || err != nil {
		return nil, err
	}
	refused := func(door string) func(int, error) {
		return func(uid int, err error) { log.Warn("connection refused", "socket", door, "uid", uid, "error", err) }
	}
	uids := f.agentUIDs
	if len(uids) == 0 {
		uids = nil // whom the mode lets in
	}
	s := &sockets{path: operator}
	if s.agent, err = socket.Listen(agent, socket.Access{Mode: agentSocketMode, UIDs: uids, Refused: refused("agent")}); err != nil {
		return nil, notListening(err)
	}
	if s.operator, err = socket.Listen(operator, socket.Access{
		Mode: operatorSocketMode, UIDs: []int{0, os.Geteuid()}, Refused: refused("operator"),
	}); err != nil {
		s.Close()
		return nil, notListening(err)
	}
	return s, nil
}

func notListening(err error) error {
	hint := "use a folder of this user's that nobody else may write, such as /run/rails"
	switch {
	case errors.Is(err, socket.ErrUnsupported):
		hint = "serve over stdio, or with: --transport " + transportHTTP
	case errors.Is(err, socket.ErrServed):
		hint = "one server a path: end the other, or name another path"
	}
	return &failure{code: exitFailed, what: "not listening", err: err, hint: hint}
}

// Close takes the sockets away. It may be called again.
func (s *sockets) Close() {
	if s == nil {
		return
	}
	for _, l := range []*socket.Listener{s.agent, s.operator} {
		if l != nil {
			_ = l.Close() // closed already, after serving
		}
	}
}

// serveSockets serves agents and operators until ctx ends.
func (a *app) serveSockets(ctx context.Context, d *deck, server *mcpserver.Server, s *sockets, limits string) error {
	desk := &operatorDesk{environ: a.environ, data: d.dir, account: d.account, limits: limits}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { // ends with ctx
		ended <- desk.run(ctx, s.operator)
		stop() // without an operator's way in no agent is served
	}()
	a.errs.line("rails: agents at ", s.agent.Path(), ", operators at ", s.operator.Path())
	err := server.RunSocket(ctx, s.agent, principalOf)
	stop()
	return errors.Join(err, <-ended)
}

// principalOf names an agent by the user that the kernel says it is.
func principalOf(c net.Conn) string {
	own, ok := c.(*socket.Conn)
	if !ok {
		return "agent"
	}
	return "uid:" + strconv.Itoa(own.UID)
}

// operatorNamed names an operator by the user that the kernel says it is.
func operatorNamed(uid int) string {
	id := strconv.Itoa(uid)
	if u, err := user.LookupId(id); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid:" + id
}
