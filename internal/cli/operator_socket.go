package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/broker-rails/broker-rails/internal/door/socket"
	"github.com/broker-rails/broker-rails/internal/journal"
)

// envSocket names the operator socket where --socket does not.
const envSocket = "RAILS_SOCKET"

const (
	// operatorConnectionsMax is how many requests of operators are served at once; more
	// wait to be accepted.
	operatorConnectionsMax = 16
	// operatorWithin bounds one request: less than who asks waits for it.
	operatorWithin = 60 * time.Second
)

// operatorVerbs are the commands that a server carries out for an operator, and the flags
// that each may have there. What names a folder or a file is not among them: a server acts
// on its own account and its own limits document.
func operatorVerbs() map[string][]string {
	return map[string][]string{
		"halt":        {"reason", "all", "cancel-open"},
		"reduce-only": {"reason", "all"},
		"resume":      {"reason", "all", "rebase-peak"},
		"reload":      nil,
		"status":      nil,
		"cancel":      {"all"},
		"reconcile":   {"placed", "not-placed", "filled", "adopt", "reason"},
	}
}

// throughSocket lets a command act through a server, where one is named.
func (a *app) throughSocket(c *cobra.Command) *cobra.Command {
	if a.who != "" {
		return c // the server's own run of it
	}
	path, run := "", c.RunE
	c.Flags().StringVar(&path, "socket", "", "act through a server's operator socket (default: "+envSocket+" in the environment)")
	c.RunE = func(c *cobra.Command, args []string) error {
		at := path
		if at == "" && a.flags.data == "" {
			at = a.env(envSocket)
		}
		if at == "" {
			return run(c, args)
		}
		if a.flags.data != "" || a.flags.limits != "" || a.flags.account != "" {
			return usage("leave out --data, --limits and --account, or --socket", "a server acts on its own account and limits")
		}
		return a.askServer(c, at, args)
	}
	return c
}

// askServer has a server carry the command out, and says what it said.
func (a *app) askServer(c *cobra.Command, path string, args []string) error {
	verb := c.Name()
	allowed := operatorVerbs()[verb]
	r := socket.Request{Verb: verb, JSON: a.flags.json, Args: slices.Clone(args)}
	var stray string
	c.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case slices.Contains(allowed, f.Name):
			r.Args = append(r.Args, "--"+f.Name+"="+f.Value.String())
		case f.Name != "socket" && f.Name != "json":
			stray = f.Name
		}
	})
	if stray != "" {
		return usage("", "--%s does not go through a socket", stray)
	}
	answer, err := socket.Ask(c.Context(), path, r)
	if err != nil {
		return &failure{
			code: exitFailed, what: "no answer at " + path, err: err,
			hint: "nothing is known to be done; as the server's own user: rails " + verb + " --data DIR",
		}
	}
	a.out.whole(answer.Out)
	a.errs.whole(answer.Err)
	if a.out.failed != nil {
		return a.out.failed
	}
	return silently(answer.Code)
}

// operatorDesk carries out what operators ask of a server: the very commands, as in a
// process of their own, on the server's account.
type operatorDesk struct {
	environ               []string
	data, account, limits string
}

// run serves operators until ctx ends, and closes l.
func (o *operatorDesk) run(ctx context.Context, l net.Listener) error {
	var requests sync.WaitGroup
	defer requests.Wait() // each is bounded by operatorWithin
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	places := make(chan struct{}, operatorConnectionsMax)
	for {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			_ = l.Close()
			return nil
		}
		c, err := l.Accept()
		if err != nil {
			_ = l.Close()
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return nil
			}
			return fmt.Errorf("operators' socket: %w", err)
		}
		requests.Go(func() {
			defer func() { <-places }()
			o.serve(ctx, c)
		})
	}
}

func (o *operatorDesk) serve(ctx context.Context, c net.Conn) {
	peer, ok := c.(*socket.Conn)
	if !ok {
		_ = c.Close()
		return
	}
	// A request that was read is carried through, also while the server stops.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), operatorWithin)
	defer stop()
	// What could not be read asked for nothing, and who has gone is not told.
	_ = socket.Serve(c, func(r socket.Request) socket.Answer { return o.answer(ctx, r, operatorNamed(peer.UID)) })
}

// answer runs one command.
func (o *operatorDesk) answer(ctx context.Context, r socket.Request, who string) (answer socket.Answer) {
	var out, errs bytes.Buffer
	inner := &app{
		in: strings.NewReader(""), out: newPrinter(&out, nil), errs: newPrinter(&errs, nil), environ: o.environ,
		who: journal.BoundText(who, 64),
	}
	defer func() {
		if p := recover(); p != nil {
			answer = socket.Answer{Code: exitFailed, Err: fmt.Sprintf("rails: a fault inside the server: %v\n%s", p, debug.Stack())}
		}
	}()
	err := checkRequest(r)
	if err == nil {
		root := inner.root()
		root.SetArgs(append([]string{r.Verb}, r.Args...))
		root.SetIn(inner.in)
		root.SetOut(&out)
		root.SetErr(&errs)
		inner.flags.data, inner.flags.account, inner.flags.limits, inner.flags.json = o.data, o.account, o.limits, r.JSON
		err = root.ExecuteContext(ctx)
	}
	code := inner.report(err)
	return socket.Answer{Code: code, Out: out.String(), Err: errs.String()}
}

// checkRequest refuses every verb and flag but those of the table.
func checkRequest(r socket.Request) error {
	flags, known := operatorVerbs()[r.Verb]
	if !known {
		return usage("", "a server does not carry out %q", r.Verb)
	}
	for _, arg := range r.Args {
		name, isFlag := strings.CutPrefix(arg, "-")
		if !isFlag {
			continue
		}
		name, long := strings.CutPrefix(name, "-")
		name, _, valued := strings.Cut(name, "=")
		if !long || !valued || !slices.Contains(flags, name) {
			return usage("", "a server does not take %q with %s", arg, r.Verb)
		}
	}
	return nil
}
