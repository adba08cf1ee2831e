package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/door/mcpproxy"
	"github.com/broker-rails/broker-rails/internal/profile"
	"github.com/broker-rails/broker-rails/profiles"
)

type proxyFlags struct {
	profile, clock, live   string
	upstream, upstreamAuth string
	transport, bind        string
	port                   int
}

const clockBroker = "broker"

func (a *app) proxyCommand() *cobra.Command {
	var f proxyFlags
	c := &cobra.Command{
		Use: "proxy [flags] -- COMMAND [ARGUMENT…]", Short: "Put the limits in front of a broker's own MCP server",
		Long: "Starts the broker's MCP server, and serves it to an agent with the limits in between: write\n" +
			"this command where the agent's settings have the server's. What reads is passed on as it\n" +
			"is; orders and cancels are judged, recorded and sent once; whatever else could move money\n" +
			"is closed. A profile says how the server's tools are read.\n\n" +
			"At first use it begins an account from what the broker shows, writes a limits document if\n" +
			"there is none, and pins the broker's account and the definitions of its tools. A tool that\n" +
			"is new or changed later on is closed until: rails profile approve\n\n" +
			"  rails proxy --profile alpaca-v2 -- uvx alpaca-mcp-server",
		RunE: func(c *cobra.Command, args []string) error { return a.proxy(c.Context(), &f, args) },
	}
	c.Flags().StringVar(&f.profile, "profile", "alpaca-v2", "the profile of the broker's server: its id, or a file")
	c.Flags().StringVar(&f.clock, "clock", clockReal, "real, or broker: go by the broker's clock, for a paper account that plays another day")
	c.Flags().StringVar(&f.upstream, "upstream-url", "", "the broker's server over streamable HTTP, in place of a command")
	c.Flags().StringVar(&f.upstreamAuth, "upstream-token-file", "", "file with the bearer token for --upstream-url, 0600")
	c.Flags().StringVar(&f.transport, "transport", transportStdio, "how agents reach it: stdio, or streamable-http on this machine")
	c.Flags().StringVar(&f.bind, "bind", "127.0.0.1", "loopback address to listen on, for HTTP")
	c.Flags().IntVar(&f.port, "port", 8932, "port to listen on, for HTTP; 0 takes a free one")
	c.Flags().StringVar(&f.live, "live", "", "id of the broker's account; without it only paper accounts are served")
	return c
}

func (f *proxyFlags) check(command []string) error {
	switch {
	case f.clock != clockReal && f.clock != clockBroker:
		return usage("write real or broker", "--clock %q is not known", f.clock)
	case f.clock == clockBroker && f.live != "":
		return usage("leave out --clock", "a live account goes by the real clock")
	case f.transport != transportStdio && f.transport != transportHTTP:
		return usage("write stdio or streamable-http", "--transport %q is not known", f.transport)
	case f.transport == transportHTTP && !loopback(f.bind):
		return usage("bind to 127.0.0.1", "%s can be reached by others", f.bind)
	case f.upstream != "" && len(command) > 0:
		return usage("leave one of them out", "the broker's server is named twice: by a command and by --upstream-url")
	case f.upstreamAuth != "" && f.upstream == "":
		return usage("a command takes its keys from the environment", "--upstream-token-file goes with --upstream-url")
	case f.upstream != "" && !soundURL(f.upstream):
		return usage("such as https://broker.example/mcp; without TLS only on this machine", "%q is not an address that orders may be sent to", f.upstream)
	case f.upstream == "" && len(command) == 0:
		return usage("such as: rails proxy --profile alpaca-v2 -- uvx alpaca-mcp-server",
			"name the command that starts the broker's MCP server, after --")
	}
	return nil
}

// loadProfile reads a shipped profile by its id, or one of the operator's by its file.
func loadProfile(name string) (*profile.Profile, error) {
	text, err := profiles.Files().ReadFile(name + ".yaml")
	if err == nil {
		return profile.Load(name+".yaml", text)
	}
	if !strings.ContainsAny(name, `/\.`) {
		return nil, usage("rails profile list shows them; a file is named with its path", "no profile is called %q", name)
	}
	if text, err = readOwned("profile", name); err != nil {
		return nil, err
	}
	return profile.Load(name, text)
}

func (a *app) proxy(ctx context.Context, f *proxyFlags, command []string) error {
	if err := f.check(command); err != nil {
		return err
	}
	p, err := loadProfile(f.profile)
	if err != nil {
		return err
	}
	if err := fitForOrders(p); err != nil && mapsOrders(p) {
		return err
	}
	// The diagnostic log never goes to standard output: that is the protocol's.
	log := slog.New(slog.NewTextHandler(a.errs.w, &slog.HandlerOptions{Level: slog.LevelWarn}))
	d, err := a.openProxied(ctx, f, p, log)
	if err != nil {
		return err
	}
	err = a.serveProxied(ctx, d, command)
	end, stop := context.WithTimeout(context.WithoutCancel(ctx), stopFor)
	defer stop()
	return errors.Join(err, d.close(end))
}

// mapsOrders reports whether any tool of the profile leads to the gate. One that only reads
// needs no figures, and no order comes through.
func mapsOrders(p *profile.Profile) bool {
	return slices.ContainsFunc(p.Tools(), func(tool string) bool {
		class, _ := p.Class(tool)
		return class != profile.Read && !p.Denied(tool)
	})
}

// fitForOrders refuses a profile that leaves the gate without the figures that it judges
// by, and says which.
func fitForOrders(p *profile.Profile) error {
	var lacks []string
	for _, w := range []profile.Figures{
		profile.AccountFigures, profile.PositionFigures, profile.OrderFigures, profile.FillFigures, profile.QuoteFigures, profile.InstrumentFigures,
	} {
		if !p.Answers(w) {
			lacks = append(lacks, string(w))
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	return failed("add a reads section to a copy of it, and name that with --profile",
		"profile %s does not say how to read %s: no order could be judged", p.ID, strings.Join(lacks, ", "))
}

// soundURL reports whether a server's address keeps what is sent to it: TLS, or loopback.
func soundURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && u.User == nil && (u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname()))
}

// dial opens one session with the broker's server.
func (a *app) dial(f *proxyFlags, command []string) (func(ctx context.Context) (mcpproxy.Link, error), error) {
	if f.upstream == "" {
		return func(ctx context.Context) (mcpproxy.Link, error) {
			return mcpproxy.Start(ctx, command, a.environ, a.errs.w)
		}, nil
	}
	headers := http.Header{}
	if f.upstreamAuth != "" {
		text, err := readOwned("token file", f.upstreamAuth)
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(f.upstreamAuth); err != nil || info.Mode().Perm()&0o077 != 0 {
			return nil, usage("chmod 600 "+quoted(f.upstreamAuth), "%s can be read by others", f.upstreamAuth)
		}
		headers.Set("Authorization", "Bearer "+strings.TrimSpace(string(text)))
	}
	return func(ctx context.Context) (mcpproxy.Link, error) { return mcpproxy.Dial(ctx, f.upstream, headers) }, nil
}

func (a *app) serveProxied(ctx context.Context, d *proxied, command []string) error {
	dial, err := a.dial(d.flags, command)
	if err != nil {
		return err
	}
	if d.flags.transport == transportHTTP {
		var listen net.ListenConfig
		l, err := listen.Listen(ctx, "tcp", net.JoinHostPort(d.flags.bind, strconv.Itoa(d.flags.port)))
		if err != nil {
			return &failure{code: exitFailed, what: "not listening", err: err, hint: "choose another with --port"}
		}
		a.errs.line("rails: listening on http://", l.Addr().String())
		return ended(ctx, d.door().RunHTTP(ctx, l, dial))
	}
	link, err := dial(ctx)
	if err != nil {
		return &failure{code: exitBroker, what: "the broker's server cannot be reached", err: err, hint: "try it by itself: " + strings.Join(command, " ")}
	}
	if terminal(a.in) {
		a.errs.line("rails: an agent's host starts this, and speaks MCP here; Ctrl-D ends it")
	}
	agent := mcpproxy.Lines(a.in, a.out.w, func() error { return nil })
	err = d.door().Serve(ctx, agent, link, "")
	var own *failure
	switch {
	case err == nil, errors.As(err, &own):
		return err
	}
	return ended(ctx, &failure{code: exitBroker, what: "the session ended", err: err})
}

// proxiedFolder is where what belongs to a proxied account stands beside the journal.
func proxiedFolder(dir, account string) string { return filepath.Join(dir, "accounts", account) }

func pinsFile(dir, account string) string {
	return filepath.Join(proxiedFolder(dir, account), "pins.json")
}

// proxiedAccount is the account's name: as asked, else the profile's.
func (a *app) proxiedAccount(p *profile.Profile) (string, error) {
	name := a.flags.account
	if name == "" {
		name = p.ID
	}
	_, err := accountFits(name)
	return name, err
}

// proxiedLimits is the limits document: --limits, else one of the account's own beside
// the default one.
func (a *app) proxiedLimits(account string) (string, error) {
	path, err := a.limitsFile()
	if err != nil || a.flags.limits != "" {
		return path, err
	}
	return filepath.Join(filepath.Dir(path), "limits-"+account+".yaml"), nil
}

func (d *proxied) door() *mcpproxy.Proxy {
	return mcpproxy.New(mcpproxy.Config{
		Profile: d.profile, Pins: d.pins, Gate: d.opened, Begin: d.begin, Carry: carry, Log: d.log, Changed: d.tellWaiting,
	})
}

// tellWaiting says once for each number that tools wait.
func (d *proxied) tellWaiting(n int) {
	list, _ := d.pins.Waiting()
	names := make([]string, 0, len(list))
	for _, t := range list {
		names = append(names, fmt.Sprintf("%q (%s)", t.Name, t.Why))
	}
	slices.Sort(names)
	d.app.errs.line("rails: ", plural(n, "tool is", "tools are"), " closed until: rails profile approve --account ", d.account, "; ",
		strings.Join(names[:min(len(names), 8)], ", "))
}

func makeFolder(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return &failure{code: exitFailed, what: "no folder for the account", err: err, hint: "name a folder that you can write to with --data"}
	}
	return nil
}
