package cli

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
)

// currency of the paper account and of the shipped limits document.
const currency = "USD"

// initFlags are the answers to everything that init would ask.
type initFlags struct {
	yes, adopt     bool
	broker, reason string
	cash, clock    string
	seed           uint64
	alpaca         alpacaFlags
}

type initView struct {
	Schema      string   `json:"schema"`
	Account     string   `json:"account"`
	Broker      string   `json:"broker"`
	Clock       string   `json:"clock"`
	Data        string   `json:"data"`
	LimitsFile  string   `json:"limits_file"`
	LimitsNew   bool     `json:"limits_written"` // false: the file was there and is used as it stands
	Fingerprint string   `json:"fingerprint"`
	Mode        string   `json:"mode"`
	OldJournal  string   `json:"old_journal,omitzero"` // kept file, when adopting
	OldHead     string   `json:"old_head,omitzero"`
	Clients     []client `json:"clients"`
}

func (a *app) initCommand() *cobra.Command {
	var f initFlags
	c := &cobra.Command{
		Use: "init", Short: "Make an account: limits document, data folder, journal and paper ledger", Args: none,
		Long: "Writes the limits document if there is none, and begins the account's journal. It never\n" +
			"overwrites anything. With --adopt an unusable journal is kept under another name, and\n" +
			"a new one begins from the positions, cash and orders that the broker shows.",
		RunE: func(c *cobra.Command, _ []string) error {
			if f.broker == brokerAlpaca && !c.Flags().Changed("clock") {
				f.clock = clockReal
			}
			return a.init(c.Context(), &f)
		},
	}
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "ask nothing")
	c.Flags().BoolVar(&f.adopt, "adopt", false, "begin a new journal from what the broker shows; the old one is kept")
	c.Flags().StringVar(&f.reason, "reason", "", "why; required with --adopt")
	c.Flags().StringVar(&f.broker, "broker", brokerPaper, "the broker: paper, or alpaca for a paper account there")
	f.alpaca.add(c)
	c.Flags().StringVar(&f.cash, "cash", paper.StartingCash().String(), "starting cash of the paper account, in USD")
	c.Flags().StringVar(&f.clock, "clock", clockPractice, "clock of the account: practice or real; real with --broker alpaca, or broker if that is on this machine")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the paper market's prices")
	return c
}

// Clocks that an account can go by.
const (
	clockPractice = "practice"
	clockReal     = "real"
)

func (f *initFlags) check() (cash money.Notional, err error) {
	cash, err = money.ParseNotional(f.cash)
	switch {
	case f.broker == brokerAlpaca && (!f.adopt || f.reason != ""):
		_, err := f.alpaca.file(f.clock)
		return cash, err
	case f.broker != brokerPaper && f.broker != brokerAlpaca:
		return cash, usage("write paper or alpaca", "--broker %q is not known", f.broker)
	case f.broker == brokerPaper && f.alpaca != alpacaFlags{}:
		return cash, usage("add --broker alpaca, or leave them out", "--broker-url, --data-url, --feed and --keys are of Alpaca")
	case f.broker == brokerPaper && f.clock != clockPractice && f.clock != clockReal:
		return cash, usage("write practice or real", "--clock %q is not known", f.clock)
	case err != nil || !cash.IsPositive():
		return cash, usage("write an amount such as 100000", "--cash %q is not an amount of money", f.cash)
	case f.adopt && f.reason == "":
		return cash, usage("say why with --reason", "--adopt needs a reason")
	}
	return cash, nil
}

func (a *app) init(ctx context.Context, f *initFlags) error {
	cash, err := f.check()
	if err != nil {
		return err
	}
	v := initView{Schema: "rails.init/v1", Broker: f.broker, Account: a.flags.account}
	if v.Data, err = a.dataFolder(); err != nil {
		return err
	}
	if v.LimitsFile, err = a.limitsFile(); err != nil {
		return err
	}
	if err := a.ask(ctx, f, &v); err != nil {
		return err
	}
	if _, c := accountFits(v.Account); c != nil {
		return c
	}
	if !f.adopt {
		if err := refuseExisting(ctx, v.Data, v.Account); err != nil {
			return err
		}
	}
	text, err := a.firstLimits(&v)
	if err != nil {
		return err
	}
	var d *deck
	if f.broker == brokerAlpaca {
		if d, err = a.lookAlpaca(ctx, &v, f); err != nil {
			return err
		}
	} else if file, err := readAlpaca(v.Data, v.Account); err != nil {
		return err
	} else if file != nil {
		return usage("add --broker alpaca, or name another account with --account", "account %s is at another broker", v.Account)
	}
	// The old journal is moved last of all: what fails before leaves it in force.
	var old oldJournal
	if f.adopt {
		if old, err = setAside(ctx, v.Data, v.Account); err != nil {
			return err
		}
		v.OldJournal, v.OldHead = old.keptAs, old.head
	}
	if d != nil {
		err = d.beginAlpaca(ctx)
	} else {
		d, err = begin(ctx, &v, f, cash)
	}
	if err != nil {
		return errors.Join(err, d.Close(ctx))
	}
	if err = d.found(ctx, f, &v, old, text); err != nil {
		return errors.Join(err, d.Close(ctx))
	}
	v.Clock, v.Clients = d.clockName(), a.clients(&v)
	if err := d.Close(ctx); err != nil {
		return err
	}
	if a.flags.json {
		return a.out.json(v)
	}
	return a.printInit(&v)
}

// ask fills in the account, and asks for leave, where a person sits at the terminal.
func (a *app) ask(ctx context.Context, f *initFlags, v *initView) error {
	if v.Account == "" {
		v.Account = defaultAccount
	}
	if f.yes || a.flags.json || !terminal(a.in) {
		return nil
	}
	lines := bufio.NewReader(a.in)
	line := func() (string, error) { return lines.ReadString('\n') }
	if a.flags.account == "" {
		a.errs.prompt("Name of the account [%s]: ", v.Account)
		answer, err := unlessStopped(ctx, line)
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			return failed("answer with flags instead: rails init --yes --account NAME", "nothing was answered")
		}
		if answer = strings.TrimSpace(answer); answer != "" {
			v.Account = answer
		}
	}
	a.errs.prompt("Make account %s in %s with limits %s? [Y/n] ", v.Account, v.Data, v.LimitsFile)
	answer, err := unlessStopped(ctx, line)
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "", "y", "yes":
		if err == nil {
			return nil
		}
	}
	return failed("", "nothing was made")
}

// accountFits holds a name against the limits document, which has the stricter rule.
func accountFits(name string) (*limits.Document, error) {
	doc, err := limits.Load("the shipped document", limits.Template(name))
	if err == nil && doc.Account == name && journal.ValidAccount(name) {
		return doc, nil
	}
	return nil, usage("use letters, digits and . _ : -, beginning with a letter or digit", "%q cannot be the name of an account", name)
}

// refuseExisting ends init where the account is there already.
func refuseExisting(ctx context.Context, dir, account string) error {
	if _, err := os.Stat(filepath.Join(dir, sqlite.FileName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	store, err := sqlite.OpenReadOnly(ctx, dir)
	if err != nil {
		return err
	}
	own, _, err := store.Heads(ctx, account)
	var names []string
	if err == nil {
		names, err = store.Accounts(ctx)
	}
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	for _, name := range names {
		// A file system may take both names for one: of the ledger, and of a halt file.
		if name != account && strings.EqualFold(name, account) {
			return usage("choose another name", "account %s differs from account %s in nothing but upper and lower case", account, name)
		}
	}
	if own.Seq > 0 {
		return failed("it is ready: rails serve. To begin anew from what the broker shows: rails init --adopt --reason R",
			"account %s exists already in %s, with %s", account, dir, plural(int(own.Seq), "entry", "entries"))
	}
	return nil
}

// refuseUnfinished ends init where adopting moved the journal away and then failed: what
// the old one says of a halt must not get lost on the way.
func refuseUnfinished(dir, account string) error {
	if present(filepath.Join(dir, sqlite.FileName)) {
		return nil
	}
	kept, err := fs.Glob(os.DirFS(dir), keptJournal+"*.db")
	if err != nil || len(kept) == 0 || !present(filepath.Join(ledgerFolder(dir, account), paper.FileName)) {
		return err
	}
	return failed("take over what the broker shows with: rails init --adopt --reason R",
		"a journal was set aside in %s, and none took its place: %s", dir, kept[len(kept)-1])
}

// firstLimits writes the shipped document where there is none, and reads the one that
// will be in force. It fails before anything else is made.
func (a *app) firstLimits(v *initView) ([]byte, error) {
	if err := os.MkdirAll(filepath.Dir(v.LimitsFile), 0o700); err != nil {
		return nil, unreadable("limits document", v.LimitsFile, err)
	}
	f, err := os.OpenFile(v.LimitsFile, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case err == nil:
		_, err = f.Write(limits.Template(v.Account))
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			return nil, unreadable("limits document", v.LimitsFile, err)
		}
		v.LimitsNew = true
	case !errors.Is(err, fs.ErrExist):
		return nil, unreadable("limits document", v.LimitsFile, err)
	}
	text, err := readLimits(v.LimitsFile)
	if err != nil {
		return nil, err
	}
	doc, err := limits.Load(v.LimitsFile, text)
	if err != nil {
		return nil, err
	}
	if doc.Account != v.Account {
		return nil, &gate.LimitsMismatchError{Field: "account", Document: doc.Account, Gate: v.Account}
	}
	v.Fingerprint = doc.Fingerprint
	return text, nil
}

// begin makes folder, ledger and journal, as far as they are not there. The journal
// comes last: a ledger with a history needs adopting, and no empty journal beside it.
func begin(ctx context.Context, v *initView, f *initFlags, cash money.Notional) (*deck, error) {
	calendar, err := readCalendar(v.Data)
	if err != nil {
		return nil, err
	}
	d := &deck{dir: v.Data, account: v.Account, calendar: calendar}
	now := clock.NewSystem().Read().Wall
	start := paper.Start{Seed: f.seed, Cash: cash, Wall: now, Market: clock.PracticeStart()}
	if f.clock == clockReal {
		start.Market = now
	}
	unfinished := refuseUnfinished(v.Data, v.Account) // asked before a ledger is made
	if d.ledger, err = paper.OpenFile(ctx, ledgerFolder(v.Data, v.Account), start); err != nil {
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			return nil, &failure{code: exitFailed, what: "no account was made", err: path, hint: "name a folder that you can write to with --data"}
		}
		return nil, unreached("the paper ledger of "+v.Account, err)
	}
	if err = d.setClock(d.ledger.Start()); err == nil {
		if err = d.openBroker(); err == nil && !f.adopt {
			if err = d.refuseHistory(ctx); err == nil {
				err = unfinished
			}
		}
	}
	if err == nil {
		d.store, err = sqlite.Open(ctx, v.Data, sqlite.Options{Create: true})
	}
	if err != nil {
		return nil, errors.Join(err, d.Close(ctx))
	}
	return d, nil
}

// refuseHistory ends init where the broker has done something that no journal tells.
func (d *deck) refuseHistory(ctx context.Context) error {
	seen, cursor, err := shown(ctx, d.broker)
	switch {
	case err != nil:
		return unreached("the broker did not show the account", err)
	case cursor != "" || len(seen.Positions) > 0 || len(seen.Orders) > 0:
		return failed("take over what it shows with: rails init --adopt --reason R",
			"the paper ledger in %s has a history that no journal tells", ledgerFolder(d.dir, d.account))
	}
	return nil
}

// found writes the first entries: genesis, and the limits.
func (d *deck) found(ctx context.Context, f *initFlags, v *initView, old oldJournal, text []byte) error {
	body, err := d.genesis(ctx, f)
	if err != nil {
		return err
	}
	if f.adopt {
		body.OldHead, body.Reason = old.head, f.reason
	}
	cfg := d.config(nil)
	cfg.Broker, cfg.Quotes = d.broker, d.quotes
	if err := gate.Create(ctx, cfg, body); err != nil {
		return err
	}
	if d.gate, err = gate.Open(ctx, cfg); err != nil {
		return err
	}
	if _, err := d.gate.LoadLimits(ctx, v.LimitsFile, text, operator()); err != nil {
		return err
	}
	if f.adopt {
		if err := old.carryMode(ctx, d); err != nil {
			return err
		}
	}
	if err := d.gate.Start(ctx); err != nil {
		return err
	}
	return d.gate.View(ctx, func(now gate.View) { v.Mode = now.Mode.String() })
}

// genesis is the first entry: what the broker shows, where there is something to take over.
func (d *deck) genesis(ctx context.Context, f *initFlags) (journal.Genesis, error) {
	if d.taken != nil {
		return d.taken.genesis(), nil
	}
	seen, cursor, err := shown(ctx, d.broker)
	if err != nil {
		return journal.Genesis{}, unreached("the broker did not show the account", err)
	}
	body := journal.Genesis{Broker: f.broker, Cash: seen.Cash, Currency: currency, Who: operator()}
	if f.adopt {
		body.Cursor, body.Positions, body.Orders = cursor, seen.Positions, seen.Orders
	}
	return body, nil
}

// shown reads the account and the newest event as of one instant: it reads again while
// something happens in between.
func shown(ctx context.Context, b gate.Broker) (seen gate.BrokerAccount, cursor string, err error) {
	for range shownTriesMax {
		before := cursor
		if cursor, err = newest(ctx, b, cursor); err != nil {
			return seen, "", err
		}
		if !seen.At.IsZero() && cursor == before {
			return seen, cursor, nil
		}
		if seen, err = b.Account(ctx); err != nil {
			return seen, "", err
		}
	}
	return seen, "", errBusy
}

// shownTriesMax bounds how often the picture is taken anew.
const shownTriesMax = 20

var errBusy = errors.New("orders keep trading; cancel them first")

// newest reads on to the newest event. A broker that has ever more to tell is an error.
func newest(ctx context.Context, b gate.Broker, cursor string) (string, error) {
	for range gate.EventPagesMax {
		events, err := b.Events(ctx, cursor)
		if err != nil || len(events) == 0 {
			return cursor, err
		}
		cursor = events[len(events)-1].Cursor
	}
	return cursor, errBusy
}
