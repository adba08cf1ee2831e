package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/alpaca"
	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/markfile"
	"github.com/broker-rails/broker-rails/internal/quotes"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
)

// brokerPaper is the paper broker.
const brokerPaper = "paper"

// defaultAccount is what rails init calls an account that nobody named.
const defaultAccount = "paper"

// deck is an account with all that stands round it, opened as far as a command needs.
type deck struct {
	dir      string
	who      string // who asks, where it is not this process's user
	account  string
	calendar market.Calendar
	shipped  bool // the calendar is the shipped one alone: the operator's cannot be read
	store    *sqlite.Store
	ledger   *paper.Ledger  // nil where the command does without
	broker   gate.Broker    // nil unless the deck trades
	quotes   gate.Quotes    // nil where the command does without
	venue    *alpacaFile    // nil: the account is on paper, or behind another's server
	alpaca   *alpaca.Broker // nil unless the deck trades there
	taken    *takenOver     // of an account that begins now
	clock    gate.Clock
	practice *clock.Practice // nil: the clock is the wall's
	gate     *gate.Gate
}

// reach says how far a deck is opened.
type reach uint8

const (
	looking reach = iota // reads the journal, writes nothing
	ruling               // may write modes and limits; asks no broker
	trading              // has a broker and quotes
)

// open opens the account that the flags name.
func (a *app) open(ctx context.Context, r reach, log *slog.Logger) (*deck, error) {
	d, err := a.openJournal(ctx, r)
	if err != nil {
		return nil, err
	}
	if err = d.name(ctx, a.flags.account); err == nil {
		err = d.assemble(ctx, r, a.env, log)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close(ctx))
	}
	return d, nil
}

// openJournal opens the journal of the data folder, and no account in it. What rules judges
// no order: a halt must not wait until someone has mended a calendar.
func (a *app) openJournal(ctx context.Context, r reach) (*deck, error) {
	d, err := a.openStore(ctx, r)
	if err != nil {
		return nil, err
	}
	if d.calendar, err = readCalendar(d.dir); err != nil {
		if r != ruling {
			return nil, errors.Join(err, d.Close(ctx))
		}
		d.calendar, d.shipped = market.XNYS(), true
	}
	return d, nil
}

// noJournal says what is wrong with a folder that holds no journal, nil if one is there or
// it cannot be told.
func noJournal(dir string) error {
	if at, err := os.Stat(dir); err == nil && !at.IsDir() {
		return usage("name the folder that holds "+sqlite.FileName, "--data takes a folder, and %s is a file", dir)
	}
	if _, err := os.Stat(filepath.Join(dir, sqlite.FileName)); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if present(filepath.Join(dir, entriesFile)) {
		return failed("an export is checked with: rails-verify export --key KEY "+quoted(dir), "there is no journal in %s, but what rails audit export wrote of one", dir)
	}
	return failed("make one with: rails init", "there is no journal in %s", dir)
}

// openStore opens the journal without a calendar, for what asks for no time.
func (a *app) openStore(ctx context.Context, r reach) (*deck, error) {
	dir, err := a.dataFolder()
	if err != nil {
		return nil, err
	}
	if err := noJournal(dir); err != nil {
		return nil, err
	}
	d := &deck{dir: dir, who: a.who}
	if r == looking {
		d.store, err = sqlite.OpenReadOnly(ctx, dir)
	} else {
		d.store, err = sqlite.Open(ctx, dir, sqlite.Options{})
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// name settles which account is meant: the one asked for, else the only one.
func (d *deck) name(ctx context.Context, asked string) error {
	if asked != "" {
		d.account = asked
		return nil
	}
	accounts, err := d.accounts(ctx)
	switch {
	case err != nil:
		return err
	case len(accounts) == 0:
		return failed("make one with: rails init", "the journal in %s holds no account", d.dir)
	case len(accounts) > 1:
		return usage("name one with --account", "the journal holds several accounts: %s", strings.Join(accounts, ", "))
	}
	d.account = accounts[0]
	return nil
}

// accounts are the accounts of the journal, without the control chain.
func (d *deck) accounts(ctx context.Context) ([]string, error) {
	names, err := d.store.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(n string) bool { return n == journal.ControlAccount }), nil
}

// assemble opens the ledger and the gate.
func (d *deck) assemble(ctx context.Context, r reach, env func(string) string, log *slog.Logger) error {
	if !journal.ValidAccount(d.account) || d.account == journal.ControlAccount {
		return usage("", "%q cannot be the name of an account", d.account)
	}
	file, err := readAlpaca(d.dir, d.account)
	switch {
	case err != nil && r == ruling:
		d.clock = stillClock{} // a halt must not wait until someone has mended a file
	case err != nil:
		return err
	case file != nil:
		err = d.openAlpaca(ctx, r, file, env, log)
	default:
		err = d.openLedger(ctx, r)
	}
	if err != nil && r != ruling {
		return err
	}
	cfg := d.config(log)
	if d.quotes != nil {
		cfg.Quotes = d.quotes
	}
	if r == trading {
		if d.ledger != nil {
			if err := d.openBroker(); err != nil {
				return err
			}
		}
		cfg.Broker = d.broker
	}
	if d.gate, err = gate.Open(ctx, cfg); err != nil || r == ruling {
		return err
	}
	return d.sameBroker(ctx)
}

func (d *deck) config(log *slog.Logger) gate.Config {
	return gate.Config{
		Account: d.account, Store: d.store, Clock: d.clock, Calendar: d.calendar,
		Paper: d.venue == nil, AtomicReplace: d.venue == nil, Stop: markfile.For(d.dir, d.account), BadLimits: markfile.InvalidLimits(d.dir, d.account), Version: version, Log: log,
	}
}

// rulingLedgerWithin is how long a mode or a reload waits for the ledger, which only
// tells it the time: without it the entry takes the newest one's time.
const rulingLedgerWithin = 300 * time.Millisecond

// openLedger opens the paper ledger, which says what clock the account goes by. What
// only reads or rules goes on without one: a halt must not need a broker.
func (d *deck) openLedger(ctx context.Context, r reach) error {
	if d.shipped { // the practice clock goes by the calendar, and this is not its own
		d.clock = stillClock{}
		return nil
	}
	dir := ledgerFolder(d.dir, d.account)
	_, err := os.Stat(filepath.Join(dir, paper.FileName))
	if err == nil {
		// A server that hangs may hold the ledger's lock: a halt must not wait for it.
		wait, stop := ctx, context.CancelFunc(func() {})
		if r == ruling {
			wait, stop = context.WithTimeout(ctx, rulingLedgerWithin)
		}
		d.ledger, err = paper.OpenFile(wait, dir, paper.Start{})
		stop()
	}
	if err != nil {
		if r == trading {
			return &failure{
				code: exitBroker, what: "the paper ledger of " + d.account, err: err,
				hint: "put the ledger back, or begin anew with: rails init --adopt --reason R",
			}
		}
		d.clock = stillClock{}
		return nil
	}
	return d.setClock(d.ledger.Start())
}

// setClock makes the clock that the ledger was begun with. A ledger whose market began
// at the wall's own instant goes by the wall.
func (d *deck) setClock(start paper.Start) error {
	system := clock.NewSystem()
	d.quotes = quotes.NewPaper(start.Seed, d.calendar)
	if start.Market.Equal(start.Wall) {
		d.clock = system
		return nil
	}
	practice, err := clock.NewPractice(system, d.calendar, clock.Origin{Wall: start.Wall, Market: start.Market})
	if err != nil {
		return err
	}
	d.practice, d.clock = practice, practice
	return nil
}

func (d *deck) openBroker() error {
	b, err := paper.New(d.ledger, paper.Options{
		Clock: d.clock, Quotes: d.quotes, Calendar: d.calendar, AccountID: d.account,
	})
	if err != nil {
		return err
	}
	d.broker = b
	return nil
}

// Close ends the gate, then what it stood on.
func (d *deck) Close(ctx context.Context) error {
	if d == nil {
		return nil
	}
	var errs []error
	if d.gate != nil {
		// A deck that only looks has nothing to flush, and may not write.
		errs = append(errs, d.gate.Close(context.WithoutCancel(ctx)))
	}
	if d.ledger != nil {
		errs = append(errs, d.ledger.Close())
	}
	if d.alpaca != nil {
		d.alpaca.Close()
	}
	if d.store != nil {
		errs = append(errs, d.store.Close())
	}
	return errors.Join(errs...)
}

// clockName says what time the account goes by.
func (d *deck) clockName() string {
	switch d.clock.(type) {
	case stillClock:
		return "unknown"
	case *clock.Practice:
		return clockPractice
	case *brokerClock:
		return clockBroker
	}
	return "real"
}

// ledgerFolder is where an account's paper ledger stands: the default account's beside
// the journal, any other's in a folder of its own.
func ledgerFolder(dir, account string) string {
	if account == defaultAccount {
		return dir
	}
	return filepath.Join(dir, "accounts", account)
}

// stillClock stands in where the ledger that would tell the time cannot be read. It
// shows an instant before all others, so that entries take the newest one's time.
type stillClock struct{}

func (stillClock) Read() gate.Reading {
	at := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	wall := clock.NewSystem().Read()
	return gate.Reading{Market: at, Wall: wall.Wall, Boot: wall.Boot, BootID: wall.BootID}
}

// operator is who runs the command, for entries.
func operator() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return journal.BoundText(u.Username, 64)
	}
	return "operator"
}

// operator is who asks, for entries.
func (a *app) operator() string { return asking(a.who) }

func (d *deck) operator() string { return asking(d.who) }

func asking(who string) string {
	if who != "" {
		return who
	}
	return operator()
}

// withDeck opens the account, runs the command, and closes it again.
func (a *app) withDeck(ctx context.Context, r reach, run func(d *deck) error) error {
	d, err := a.open(ctx, r, nil)
	if err != nil {
		return err
	}
	if err := run(d); err != nil {
		_ = d.Close(ctx) // the command's own error says more
		return err
	}
	return d.Close(ctx)
}

// quoted writes a path for a shell.
func quoted(path string) string {
	if strings.ContainsAny(path, " \t\n'\"\\$`&|;<>()*?[]{}!#~") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// header says whose account a listing is of, and by what clock.
func (a *app) header(d *deck, live bool, now time.Time) {
	clockText := marketTime(now) + " New York"
	if name := d.clockName(); name != "real" {
		clockText += ", " + name + " clock"
	}
	a.out.line(a.out.badge(live), " ", a.out.strong(d.account), a.out.dim("  "+clockText))
}
