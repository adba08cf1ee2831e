package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/markfile"
)

type modeChange struct {
	Schema  string       `json:"schema"`
	Account string       `json:"account"` // * for all
	Mode    string       `json:"mode"`    // effective now; the one set, for all
	Reason  string       `json:"reason"`
	Who     string       `json:"who"`
	Left    *ordersView  `json:"left,omitzero"`    // open orders after --cancel-open
	Cancels []cancelView `json:"cancels,omitzero"` // of --cancel-open
}

func (a *app) haltCommand() *cobra.Command {
	var cancelOpen bool
	c, all, reason := a.modeCommand("halt", "Refuse every order, from the next one on")
	c.Long = "Writes an entry that every process reads before it sends: the next order of a running\n" +
		"server, and of one that hangs, is refused. Cancels still pass. Only rails resume ends it."
	c.Flags().BoolVar(&cancelOpen, "cancel-open", false, "also cancel every open order of the account, and list what is left")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if cancelOpen && *all {
			return usage("halt all, then cancel account by account", "--cancel-open goes with one account, not with --all")
		}
		return a.setMode(c.Context(), journal.Mode{Mode: journal.ModeHalted, Reason: *reason}, *all, cancelOpen)
	}
	return c
}

func (a *app) reduceOnlyCommand() *cobra.Command {
	c, all, reason := a.modeCommand("reduce-only", "Let only orders pass that reduce a position")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.setMode(c.Context(), journal.Mode{Mode: journal.ModeReduceOnly, Reason: *reason}, *all, false)
	}
	return c
}

func (a *app) resumeCommand() *cobra.Command {
	var rebase bool
	c, all, reason := a.modeCommand("resume", "Let orders pass again, within the limits")
	c.Flags().BoolVar(&rebase, "rebase-peak", false, "measure max_drawdown from today's equity on")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if rebase && *all {
			return usage("", "--rebase-peak goes with one account, not with --all")
		}
		return a.setMode(c.Context(), journal.Mode{Mode: journal.ModeActive, Reason: *reason, RebasePeak: rebase}, *all, false)
	}
	return c
}

func (a *app) modeCommand(use, short string) (c *cobra.Command, all *bool, reason *string) {
	c = &cobra.Command{Use: use + " --reason R [--account A | --all]", Short: short, Args: none}
	all, reason = new(bool), new(string)
	c.Flags().BoolVar(all, "all", false, "every account of the journal")
	c.Flags().StringVar(reason, "reason", "", "why; it stands in the journal (required)")
	return c, all, reason
}

// setMode writes the mode, and shows what is in force then.
func (a *app) setMode(ctx context.Context, m journal.Mode, all, cancelOpen bool) error {
	if m.Reason == "" {
		return usage("say why with --reason", "a mode needs a reason")
	}
	m.By, m.Who = journal.ByOperator, a.operator()
	if all {
		return a.setModeForAll(ctx, m)
	}
	v := modeChange{Schema: "rails.mode/v1", Reason: m.Reason, Who: m.Who}
	held := m.Mode == journal.ModeHalted && a.holdByFile(ctx, m.Reason, false)
	err := a.withDeck(ctx, ruling, func(d *deck) error {
		v.Account = d.account
		if err := setModeWithFile(m, markfile.For(d.dir, d.account), func() error { return d.gate.SetMode(ctx, m) }); err != nil {
			return fmt.Errorf("mode %s of %s: %w", m.Mode, d.account, err)
		}
		return d.gate.View(ctx, func(now gate.View) { v.Mode = now.Mode.String() })
	})
	if err != nil {
		return orHeld(held, err)
	}
	// The halt stands before any cancel is tried: whatever happens now, nothing opens.
	code := exitDone
	if cancelOpen {
		if code, err = a.cancelAfterHalt(ctx, &v); err != nil {
			return err
		}
	}
	if a.flags.json {
		if err := a.out.json(v); err != nil {
			return err
		}
		return silently(code)
	}
	a.out.line(a.out.strong(v.Account), " is ", a.out.verdict(v.Mode))
	if v.Mode != m.Mode {
		a.out.line("a mode for all accounts is stricter; end it with: rails resume --all")
	}
	if v.Left != nil {
		a.cancelTable(v.Cancels)
		a.out.line("left:")
		a.orderTable(v.Left.Orders)
	}
	if a.out.failed != nil {
		return a.out.failed
	}
	return silently(code)
}

// setModeWithFile puts a halt into force by its file before it tries the journal, so that
// a process that hangs on the journal's lock cannot keep it off; the entry then takes the
// file's place. Any other mode takes the file away, once its entry is durable.
func setModeWithFile(m journal.Mode, f markfile.File, write func() error) error {
	if m.Mode == journal.ModeHalted {
		if err := f.Request(m.Reason); err != nil {
			return errors.Join(err, write())
		}
	}
	_, _, done := f.Take() // a halt that comes after this one's entry keeps its file
	if err := write(); err != nil {
		return orHeld(m.Mode == journal.ModeHalted, err)
	}
	return done()
}

// holdByFile puts a halt into force by its file before the journal is opened for writing,
// which another process's lock keeps from happening. It reads the journal only to know
// which account is meant, and reports whether the file stands.
func (a *app) holdByFile(ctx context.Context, reason string, all bool) bool {
	d, err := a.openStore(ctx, looking)
	if err != nil {
		return false
	}
	defer func() { _ = d.Close(ctx) }() // it was only read
	if all {
		return markfile.ForAll(d.dir).Request(reason) == nil
	}
	if d.name(ctx, a.flags.account) != nil {
		return false
	}
	known, err := d.accounts(ctx)
	return err == nil && slices.Contains(known, d.account) && markfile.For(d.dir, d.account).Request(reason) == nil
}

// orHeld says of a halt that could not be written that its file holds.
func orHeld(held bool, err error) error {
	var said *failure
	if !held || errors.As(err, &said) {
		return err
	}
	return &failure{
		code: exitFailed, what: "halted by the halt file alone; the journal could not be written", err: err,
		hint: "the halt holds: nothing is sent while the file stands, and the next process that can write makes its entry",
	}
}

func (a *app) cancelAfterHalt(ctx context.Context, v *modeChange) (code int, err error) {
	err = a.withDeck(ctx, trading, func(d *deck) error {
		done, left, err := a.cancelOrders(ctx, d, nil)
		v.Cancels, v.Left = done, &left
		code = cancelCode(done, &left, nil)
		return err
	})
	if err != nil {
		return exitBroker, &failure{
			code: exitBroker, what: "the account is halted, but its open orders were not canceled", err: err,
			hint: "try again with: rails cancel --all",
		}
	}
	return code, nil
}

// setModeForAll writes the control chain. It opens no account: it must work when one
// cannot be folded.
func (a *app) setModeForAll(ctx context.Context, m journal.Mode) error {
	held := m.Mode == journal.ModeHalted && a.holdByFile(ctx, m.Reason, true)
	d, err := a.openJournal(ctx, ruling)
	if err != nil {
		return orHeld(held, err)
	}
	err = setModeWithFile(m, markfile.ForAll(d.dir), func() error { return gate.SetModeForAll(ctx, d.store, clock.NewSystem(), m) })
	if err = errors.Join(err, d.Close(ctx)); err != nil {
		return fmt.Errorf("mode %s of all accounts: %w", m.Mode, err)
	}
	v := modeChange{Schema: "rails.mode/v1", Account: journal.ControlAccount, Mode: m.Mode, Reason: m.Reason, Who: m.Who}
	if a.flags.json {
		return a.out.json(v)
	}
	a.out.line("all accounts are at the most ", a.out.verdict(m.Mode))
	return a.out.failed
}
