package cli

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/adversary"
	"github.com/broker-rails/broker-rails/internal/door/mcpserver"
	"github.com/broker-rails/broker-rails/internal/limits"
)

// exampleCase is played by the script of the command, so that it stays true; a test holds the two together.
const exampleCase = `  - channel: direct                    # or protocol, injection
    name: a small account that is bet on one order
    why: what would go wrong if it passed
    limits: {size: {max_order_qty: 5}} # laid over the shipped document
    before:                            # every call must pass
      - order: {quantity: "2"}         # the rest: AAPL, buy, limit 200.02, day
    attack:
      - order: {quantity: "6"}
        expect: [max_order_qty]        # exactly these refuse
      - advance: 61s                   # also: quote, mode, broker, external, read, call, raw
      - order: {quantity: "5", limit_price: "200.20"}
        repeat: 12
        price_by: "0.01"               # each lower than the last
        allowed: 10                    # then the rest is refused
        expect: [max_orders_per_minute]
    world: {fills: 10, shares: {AAPL: "50"}} # at the broker, of the attack's own orders
    twin:
      - order: {quantity: "5"}`

// Where the attacked server is.
const (
	transportInProcess = "in-process"
	storeMemory        = "memory"
	storeSQLite        = "sqlite"
)

type adversarialFlags struct {
	cases, only, transport, store, out string
	attackers, attempts                int
	random                             bool
	seed                               uint64
	within                             time.Duration
}

func (a *app) adversarialCommand() *cobra.Command {
	var f adversarialFlags
	c := &cobra.Command{
		Use: "adversarial", Short: "Attack a server of its own, and say whether each attack fails for the right reason", Args: none,
		Long: "Plays the attacks that come with the product, and those of --cases, each against an\n" +
			"installation of its own: an MCP client session, the real server, gate and journal, and\n" +
			"the paper broker under a virtual clock. No account of yours is touched, and the limits\n" +
			"are the shipped ones with what a case lays over them.\n\n" +
			"Each case names the exact rails that must refuse. Refused by another, by one more, by a\n" +
			"fault, or a benign twin that is refused: a violation, and exit code 4.\n\n" +
			"By default all is in this process and in memory, which takes about a second. --transport\n" +
			"stdio or streamable-http starts the server as a process of its own for each case, over\n" +
			"real pipes or a real listener, with journal and ledger in files that are read afterwards.\n" +
			"It is rails serve where the case means the same in a market that runs, else the same\n" +
			"server in the market that the case sets.\n\n" +
			"--attackers N plays every case N times at once on one journal, each attacker on its own\n" +
			"account, and then has N sessions fire everything at a single account.\n\n" +
			"--random has an attacker make up calls from a seed, and looks for anything at the broker\n" +
			"that a limit forbids, whatever the gate says. What it finds it makes as short as it can,\n" +
			"and writes down as a case that replays it.\n\n" +
			"Where a case says world: {held: true}, every step is held against the document's caps at\n" +
			"the broker's ledger, and calls that say free: true may be refused by anybody.\n\n" +
			"A case of yours, in a list in a file:\n\n" + exampleCase,
		Example: "rails adversarial\nrails adversarial --transport stdio\nrails adversarial --attackers 16 --store sqlite\nrails adversarial --random --seed 7 --attempts 500",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			return a.adversarial(c.Context(), &f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.cases, "cases", "", "folder with cases of yours (*.yaml), or one file of them; played after the shipped ones")
	flags.StringVar(&f.only, "only", "", "play only the cases whose name has this text in it")
	flags.StringVar(&f.transport, "transport", transportInProcess, "in-process, or a server process of its own over stdio or streamable-http; messages as bytes go over stdio in any case")
	flags.StringVar(&f.store, "store", "", "memory or sqlite: where journal and ledger are (default: memory in-process, sqlite otherwise)")
	flags.IntVar(&f.attackers, "attackers", 1, "how many attack at once, at most "+strconv.Itoa(adversary.AttackersMax))
	flags.BoolVar(&f.random, "random", false, "make attacks up, instead of playing cases")
	flags.Uint64Var(&f.seed, "seed", 1, "of --random; the same seed makes the same attacks")
	flags.IntVar(&f.attempts, "attempts", adversary.AttemptsPlain, "how many attacks --random makes, at most")
	flags.DurationVar(&f.within, "for", 0, "how long --random may take (default: until its attempts are made)")
	flags.StringVar(&f.out, "out", ".", "folder for the case that --random finds")
	c.AddCommand(a.serveCaseCommand())
	return c
}

// check refuses flags that do not go together.
func (f *adversarialFlags) check(c *cobra.Command) error {
	const hint = "see rails adversarial --help"
	switch {
	case f.transport != transportInProcess && f.transport != transportStdio && f.transport != transportHTTP:
		return usage(hint, "--transport is in-process, stdio or streamable-http")
	case f.store != "" && f.store != storeMemory && f.store != storeSQLite:
		return usage(hint, "--store is memory or sqlite")
	case f.store == storeMemory && f.transport != transportInProcess:
		return usage(hint, "a server of its own process keeps its journal in files: --store memory is for in-process")
	case f.attackers < 1 || f.attackers > adversary.AttackersMax:
		return usage(hint, "--attackers is 1 to %d", adversary.AttackersMax)
	case f.attempts < 1 || f.attempts > adversary.AttemptsMax:
		return usage(hint, "--attempts is 1 to %d", adversary.AttemptsMax)
	case f.within < 0 || f.within > adversary.ForMax:
		return usage(hint, "--for is at most %s", adversary.ForMax)
	}
	for _, name := range []string{"seed", "attempts", "for", "out"} {
		if !f.random && c.Flags().Changed(name) {
			return usage("add --random", "--%s is of the attacker that makes attacks up", name)
		}
	}
	for _, name := range []string{"cases", "only", "transport", "attackers"} {
		if f.random && c.Flags().Changed(name) {
			return usage(hint, "--%s is of cases, and --random makes its own", name)
		}
	}
	return nil
}

func (a *app) adversarial(ctx context.Context, f *adversarialFlags) error {
	o := adversary.Options{
		Version: version, Headlines: headlines(), HTTP: f.transport == transportHTTP, Attackers: f.attackers,
		Files: f.store == storeSQLite,
	}
	if f.random {
		return a.randomAttack(ctx, f, o)
	}
	if f.transport != transportInProcess {
		binary, err := os.Executable()
		if err != nil {
			return &failure{code: exitFailed, what: "adversarial", err: err}
		}
		o.Server = &adversary.Server{Path: binary, Environ: a.environ}
	}
	cases, err := adversary.Shipped()
	if err != nil {
		return err
	}
	if f.cases != "" {
		own, err := adversary.FromFolder(f.cases)
		if err == nil {
			cases = append(cases, own...)
			err = adversary.Distinct(cases)
		}
		if err != nil {
			return badCases(err)
		}
	}
	cases = slices.DeleteFunc(cases, func(c adversary.Case) bool { return !strings.Contains(c.Name, f.only) })
	if len(cases) == 0 {
		return usage("rails adversarial shows all names", "no case has %q in its name", f.only)
	}
	violated, err := adversary.Main(ctx, cases, o, a.out.w, a.flags.json)
	switch {
	case err != nil:
		return &failure{code: exitFailed, what: "adversarial", err: err}
	case violated > 0:
		return silently(exitDenied)
	}
	return nil
}

// serveCaseCommand is the server of a case when it is a process of its own. It is started
// by rails adversarial alone, in a folder that holds no account of anybody's.
func (a *app) serveCaseCommand() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use: "serve-case", Short: "Serve a case's account, for rails adversarial", Args: none, Hidden: true,
		RunE: func(c *cobra.Command, _ []string) error {
			log := slog.New(slog.NewTextHandler(a.errs.w, &slog.HandlerOptions{Level: slog.LevelWarn}))
			desk := adversary.Desk{Dir: a.flags.data, Account: a.flags.account, Version: version, Headlines: headlines(), Log: log}
			f.bind = "127.0.0.1"
			return desk.Serve(c.Context(), func(ctx context.Context, s *mcpserver.Server) error {
				if f.transport == transportHTTP {
					return ended(ctx, a.serveHTTP(ctx, s, &f, mcpserver.Tokens{}))
				}
				return ended(ctx, s.ServeStdio(ctx, a.in, a.out.w))
			})
		},
	}
	c.Flags().StringVar(&f.transport, "transport", transportStdio, "stdio or streamable-http")
	c.Flags().IntVar(&f.port, "port", 0, "port to listen on, for HTTP")
	return c
}

// badCases is what is wrong with an operator's cases: never the limits' exit code.
func badCases(err error) error {
	const hint = "a case has channel, name, why, attack and twin; see rails adversarial --help"
	var problems limits.Errors
	if errors.As(err, &problems) || errors.Is(err, fs.ErrNotExist) {
		return &failure{code: exitUsage, err: err, hint: hint}
	}
	return &failure{code: exitUsage, err: err}
}
