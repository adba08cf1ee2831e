package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Environment is everything that a command takes from the process that it runs in.
type Environment struct {
	Args    []string // without the program's name
	Environ []string // as os.Environ gives it
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
}

// Process is the environment of this process.
func Process() Environment {
	return Environment{Args: os.Args[1:], Environ: os.Environ(), In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
}

// app is one run of the command line.
type app struct {
	in      io.Reader
	out     *printer
	errs    *printer
	environ []string
	who     string // who asks, where a server runs the command for an operator; empty: this process's user
	flags   struct {
		account, data, limits string
		json                  bool
	}
}

// Main runs one command to its end and returns the exit code.
func Main(e Environment) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &app{in: e.In, environ: e.Environ, out: newPrinter(e.Out, e.Environ), errs: newPrinter(e.Err, e.Environ)}
	root := a.root()
	root.SetArgs(e.Args)
	root.SetIn(e.In)
	root.SetOut(e.Out)
	root.SetErr(e.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = a.out.failed
	}
	return a.report(err)
}

// report says what went wrong, in one line and a hint, and returns the exit code.
func (a *app) report(err error) int {
	if err == nil {
		return exitDone
	}
	code, hint := explained(err)
	var own *failure
	if errors.As(err, &own) && own.what == "" && own.err == nil {
		return code
	}
	text := strings.TrimSpace(err.Error())
	if errors.Is(err, context.Canceled) {
		text = strings.ReplaceAll(text, context.Canceled.Error(), "interrupted")
	}
	first, rest, _ := strings.Cut(text, "\n")
	if rest == "" && hint != "" {
		first = strings.TrimSuffix(first, "; "+hint) // said once, as the hint
	}
	a.errs.line(a.errs.bad("rails:"), " ", first)
	for _, more := range strings.Split(rest, "\n") {
		if more != "" {
			a.errs.line("       ", more)
		}
	}
	if hint != "" {
		a.errs.line(a.errs.strong("hint:"), " ", hint)
	}
	return code
}

// env is one variable of the environment, empty if it is not set. The last one wins,
// as in os/exec.
func (a *app) env(name string) string {
	value := ""
	for _, pair := range a.environ {
		if k, v, ok := strings.Cut(pair, "="); ok && k == name {
			value = v
		}
	}
	return value
}

const longHelp = `rails stands between AI agents and a broker account. An agent proposes orders through
tool calls; each is judged by the operator's limits, outside the model, and an order
that cannot be proved compliant never reaches the broker.

Exit codes: 0 done, 1 failed, 2 usage, 3 limits invalid, 4 order denied, 5 order held,
6 audit failed, 7 broker unreachable or in doubt, 8 will not serve while halted.`

// root is the command tree. Every command is listed here and nowhere else.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use: "rails", Version: version, Short: "A deterministic gate between AI agents and a broker account", Long: longHelp,
		SilenceErrors: true, SilenceUsage: true, SuggestionsMinimumDistance: 2, Args: noSuchCommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("see "+c.CommandPath()+" --help", "%s", plainFlagError(err))
	})
	flags := root.PersistentFlags()
	flags.StringVar(&a.flags.account, "account", "", "account (default: the only one in the journal)")
	flags.StringVar(&a.flags.data, "data", "", "data folder (default: rails in the XDG state folder)")
	flags.StringVar(&a.flags.limits, "limits", "", "limits document (default: rails/limits.yaml in the XDG configuration folder)")
	flags.BoolVar(&a.flags.json, "json", false, "answer in JSON, with a versioned schema field")
	root.SetVersionTemplate("rails {{.Version}}\n")
	root.SetHelpCommand(helpCommand(root))
	root.AddGroup(
		&cobra.Group{ID: "begin", Title: "Begin:"},
		&cobra.Group{ID: "look", Title: "Look:"},
		&cobra.Group{ID: "act", Title: "Act:"},
		&cobra.Group{ID: "prove", Title: "Try and prove:"},
	)
	for _, g := range []struct {
		id       string
		commands []*cobra.Command
	}{
		{"begin", []*cobra.Command{a.demoCommand(), a.initCommand(), a.serveCommand(), a.shimCommand(), a.proxyCommand()}},
		{"look", []*cobra.Command{
			a.throughSocket(a.statusCommand()), a.showLimitsCommand(), a.ordersCommand(), a.positionsCommand(), a.accountCommand(),
			a.decisionsCommand(), a.explainCommand(),
		}},
		{"act", []*cobra.Command{
			a.throughSocket(a.haltCommand()), a.throughSocket(a.reduceOnlyCommand()), a.throughSocket(a.resumeCommand()),
			a.throughSocket(a.cancelCommand()), a.throughSocket(a.reconcileCommand()), a.throughSocket(a.reloadCommand()),
		}},
		{"prove", []*cobra.Command{a.checkCommand(), a.testCommand(), a.fakeBrokerCommand(), a.profileCommand(), a.adversarialCommand(), a.limitsCommand(), a.sessionCommand(), a.replayCommand(), a.auditVerifyCommand(), a.tamperCommand(), a.auditCommand(), a.witnessCommand()}},
		{"", []*cobra.Command{a.versionCommand()}},
	} {
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	return root
}

// plainFlagError is a flag's error without the names of functions that found it.
func plainFlagError(err error) string {
	text := err.Error()
	if before, _, ok := strings.Cut(text, ": strconv."); ok {
		return before
	}
	return text
}

// helpCommand is cobra's, but a command that is not there is a wrong usage.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Show what a command does, and its flags",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usage("see rails --help", "there is no command %q", strings.Join(args, " "))
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}

func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see " + c.CommandPath() + " --help"
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + c.CommandPath() + " " + near[0] + "?"
	}
	return usage(hint, "unknown command %q", args[0])
}

// exactly and atMost are cobra's, with our exit code.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return usage("see "+c.CommandPath()+" --help", "%s takes %s", c.CommandPath(), what)
		}
		return nil
	}
}

func atMost(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > n {
			return usage("see "+c.CommandPath()+" --help", "%s takes %s", c.CommandPath(), what)
		}
		return nil
	}
}

func none(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("see "+c.CommandPath()+" --help", "%s takes no arguments, and was given %q", c.CommandPath(), args[0])
	}
	return nil
}

// group is a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: noSuchCommand, RunE: func(c *cobra.Command, _ []string) error {
		return usage("see "+c.CommandPath()+" --help", "%s needs a command", c.CommandPath())
	}}
	c.AddCommand(commands...)
	return c
}

func plural(n int, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, one)
	}
	return fmt.Sprintf("%d %s", n, many)
}
