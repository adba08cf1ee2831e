package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/broker-rails/broker-rails/internal/attest"
	"github.com/broker-rails/broker-rails/internal/broker/upstream"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/door/mcpproxy"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/profile"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
)

// proxied is an account behind a broker's own server. Its gate opens with the journal if
// the account is in it, else with the first session, which shows what to begin with.
type proxied struct {
	app     *app
	account string
	flags   *proxyFlags
	profile *profile.Profile
	pins    *mcpproxy.Pins
	limits  string
	log     *slog.Logger
	clock   gate.Clock
	broker  *upstream.Broker
	deck    *deck
	ended   context.Context // of the process's tasks
	stop    context.CancelFunc
	tasks   sync.WaitGroup
	ends    []func()

	gate atomic.Pointer[gate.Gate]

	mu      sync.Mutex // one beginning at a time; guards all below
	started bool
}

func (a *app) openProxied(ctx context.Context, f *proxyFlags, p *profile.Profile, log *slog.Logger) (*proxied, error) {
	d := &proxied{app: a, flags: f, profile: p, log: log, clock: clock.NewSystem()}
	if f.clock == clockBroker {
		d.clock = &brokerClock{system: clock.NewSystem()}
	}
	var err error
	if d.account, err = a.proxiedAccount(p); err != nil {
		return nil, err
	}
	if d.limits, err = a.proxiedLimits(d.account); err != nil {
		return nil, err
	}
	dir, err := a.dataFolder()
	if err != nil {
		return nil, err
	}
	if err := makeFolder(proxiedFolder(dir, d.account)); err != nil {
		return nil, err
	}
	if d.pins, err = mcpproxy.OpenPins(pinsFile(dir, d.account)); err != nil {
		return nil, &failure{code: exitFailed, what: "the pins cannot be read", err: err}
	}
	calendar, err := readCalendar(dir)
	if err != nil {
		return nil, err
	}
	d.deck = &deck{dir: dir, account: d.account, calendar: calendar, clock: d.clock}
	if d.deck.store, err = sqlite.Open(ctx, dir, sqlite.Options{Create: true}); err != nil {
		return nil, err
	}
	d.ended, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err = d.reopen(ctx); err != nil {
		return nil, errors.Join(err, d.close(ctx))
	}
	return d, nil
}

// reopen opens the gate of an account that the journal holds.
func (d *proxied) reopen(ctx context.Context) error {
	var begin journal.Entry
	err := d.deck.store.Read(ctx, d.account, 0, func(s gate.Stored) (err error) {
		if begin, err = journal.Envelope(s.Bytes); err == nil {
			err = errFirst
		}
		return err
	})
	switch {
	case errors.Is(err, errFirst):
	case err != nil:
		return err
	case err == nil:
		return nil // the account is not there yet
	}
	if !mapsOrders(d.profile) {
		return d.openGate(ctx)
	}
	id, _, _ := d.pins.Account()
	if !d.pins.Known() || id == "" {
		return failed("put the file back, or begin under another name with --account",
			"account %s has a journal, and the pins that say whose it is are gone: %s", d.account, pinsFile(d.deck.dir, d.account))
	}
	if err := d.deck.refuseBehind(ctx); err != nil {
		return err
	}
	d.makeBroker(id, begin.At.Time)
	return d.openGate(ctx)
}

var errFirst = errors.New("the first entry was read")

func (d *proxied) makeBroker(id string, since time.Time) {
	d.broker = upstream.New(upstream.Options{
		Profile: d.profile, AccountID: id, Currency: currency, Since: since, Mismatch: func(shown string) {
			d.halt(context.WithoutCancel(d.ended), "the broker's server now shows account "+shown+", not "+id)
		},
		Now: func() time.Time { return d.clock.Read().Market },
	})
}

func (d *proxied) openGate(ctx context.Context) error {
	g, err := gate.Open(ctx, d.config())
	if err != nil {
		return err
	}
	if d.flags.live != "" { // told before the first order, and in every listing by the document's mode
		d.app.errs.line("rails: LIVE account ", d.account)
	}
	d.deck.gate = g
	d.gate.Store(g)
	return nil
}

func (d *proxied) config() gate.Config {
	cfg := d.deck.config(d.log)
	cfg.Paper, cfg.AtomicReplace, cfg.Live = false, false, d.flags.live != ""
	if d.broker != nil {
		cfg.Broker, cfg.Quotes = d.broker, d.broker
	}
	return cfg
}

func (d *proxied) opened() *gate.Gate { return d.gate.Load() }

// halt stops the account; nothing is sent while it is.
func (d *proxied) halt(ctx context.Context, reason string) {
	g := d.opened()
	if g == nil {
		return
	}
	err := g.SetMode(ctx, journal.Mode{By: byUpstream, Mode: journal.ModeHalted, Reason: reason, Who: "proxy"})
	if err != nil {
		d.log.Error("the account was not halted", "account", d.account, "reason", reason, "error", err)
	}
}

// byUpstream is the By of a halt that another account or environment brings.
const byUpstream = "upstream_account"

// begin looks at the account that a session's server trades, and begins or goes on with
// the journal.
func (d *proxied) begin(ctx context.Context, c mcpproxy.Caller) (end func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !mapsOrders(d.profile) {
		return func() {}, d.foundReading(ctx)
	}
	s := way{c}
	shown, err := upstream.Show(ctx, d.profile, s)
	if err != nil {
		return nil, unreached("the broker's server does not show its account", err)
	}
	if err := d.agreed(ctx, &shown); err != nil {
		return nil, err
	}
	if b, ok := d.clock.(*brokerClock); ok {
		at, err := upstream.Clock(ctx, d.profile, s)
		if err != nil {
			return nil, unreached("the broker's server does not tell the time", err)
		}
		b.set(at)
	}
	if d.broker == nil {
		d.makeBroker(shown.ID, d.clock.Read().Market)
	}
	detach := d.broker.Attach(s)
	if err := d.start(ctx, &shown); err != nil {
		detach()
		return nil, err
	}
	return detach, nil
}

// agreed holds what the server shows against what was pinned, or pins it at first use.
func (d *proxied) agreed(ctx context.Context, shown *upstream.Shown) error {
	env := shown.Environment
	switch {
	case shown.ID == "" || env != "paper" && env != "live":
		return failed("the profile must say how they are read", "the broker's server does not show whether account %q is paper or live", shown.ID)
	case env == "live" && d.flags.live != shown.ID:
		return failed("to trade it: --live "+shown.ID+", and mode: live in the limits document",
			"account %s is LIVE, and only paper accounts are served without being named", shown.ID)
	case env == "paper" && d.flags.live != "":
		return usage("leave out --live", "account %s is a paper account", shown.ID)
	}
	id, environment, of := d.pins.Account()
	switch {
	case id == "" && d.opened() == nil:
		return nil // pinned before the account has a journal
	case id == "":
		reason := "the account has a journal, and nothing says which account of the broker's it is of"
		d.halt(ctx, reason)
		return failed("put the file of pins back, or begin another account with --account", "%s; the account is halted", reason)
	}
	if id == shown.ID && environment == env && of == d.profile.ID {
		return nil
	}
	reason := "the broker's server shows " + env + " account " + journal.BoundText(shown.ID, 64) + ", and " + environment + " account " + id + " was pinned"
	d.halt(ctx, reason)
	return failed("give it another name with --account, or start the server with the keys of "+id, "%s; the account is halted", reason)
}

// start begins the account if it is new, and does once what a process does.
func (d *proxied) start(ctx context.Context, shown *upstream.Shown) error {
	if d.opened() == nil {
		if err := d.found(ctx, shown); err != nil {
			return err
		}
	}
	if d.started {
		return nil
	}
	g := d.opened()
	if _, err := d.deck.load(ctx, d.limits); err != nil {
		return err
	}
	if err := g.Start(ctx); err != nil {
		return unreached("the account was not reconciled", err)
	}
	d.started = true
	witnesses, err := (&attestFlags{}).witnesses(d.deck.dir)
	if err != nil {
		return err
	}
	d.ends = append(d.ends, d.deck.attest(d.ended, &attestFlags{entries: attest.EntriesEvery, every: attest.SignEvery}, witnesses, d.log))
	d.tasks.Go(func() { g.Run(d.ended) })
	d.tasks.Go(func() { d.deck.reloadOnHangup(d.ended, d.limits, d.log) })
	return nil
}

// found writes the first entries of a new account: what the broker shows is taken over.
func (d *proxied) found(ctx context.Context, shown *upstream.Shown) error {
	v := initView{Account: d.account, LimitsFile: d.limits}
	text, err := d.app.firstLimits(&v)
	if err != nil {
		return err
	}
	seen, err := d.broker.Account(ctx)
	if err != nil {
		return unreached("the broker did not show the account", err)
	}
	cfg := d.config()
	body := journal.Genesis{
		Broker: "upstream:" + d.profile.ID, Cash: seen.Cash, Currency: currency, Who: operator(), Positions: seen.Positions, Orders: seen.Orders,
		Reason: "first use of rails proxy",
	}
	// Pinned first: a journal whose account is not pinned is of any account.
	if err := d.pins.PinAccount(shown.ID, shown.Environment, d.profile.ID, d.profile.Broker); err != nil {
		return err
	}
	if err := gate.Create(ctx, cfg, body); err != nil {
		return err
	}
	if err := d.openGate(ctx); err != nil {
		return err
	}
	if _, err := d.opened().LoadLimits(ctx, d.limits, text, operator()); err != nil {
		return err
	}
	d.app.errs.line("rails: account ", d.account, " begun from what the broker shows (", shown.Environment, " ", shown.ID, "), limits in ", d.limits)
	return nil
}

// foundReading begins the journal of an account that no order reaches: it has the calls
// that were refused.
func (d *proxied) foundReading(ctx context.Context) error {
	if d.opened() != nil {
		return nil
	}
	err := gate.Create(ctx, d.config(), journal.Genesis{
		Broker: "upstream:" + d.profile.ID, Currency: currency, Who: operator(), Reason: "first use of rails proxy; the profile maps no orders",
	})
	if err != nil {
		return err
	}
	return d.openGate(ctx)
}

func (d *proxied) close(ctx context.Context) error {
	d.stop()
	d.tasks.Wait()
	for _, end := range d.ends {
		end()
	}
	return d.deck.Close(ctx)
}

// way is a proxy's session as the broker calls it.
type way struct{ c mcpproxy.Caller }

// Call calls a tool once.
func (w way) Call(ctx context.Context, tool string, arguments []byte) (profile.Reply, string, error) {
	reply, digest, err := w.c.Call(ctx, tool, arguments)
	if errors.Is(err, mcpproxy.ErrNotSent) {
		err = errors.Join(upstream.ErrNotSent, err)
	}
	return reply, digest, err
}

// carry puts an order on its way through the gate.
func carry(ctx context.Context, c mcpproxy.Caller, r *profile.Reading) context.Context {
	return upstream.With(ctx, &upstream.Errand{Session: way{c}, Reading: *r})
}

// brokerClock shows the broker's time, once it was told; before that an instant before
// all others, so that entries take the newest one's time.
type brokerClock struct {
	system clock.System
	ahead  atomic.Pointer[time.Duration]
}

func (b *brokerClock) set(at time.Time) {
	d := at.Sub(b.system.Read().Wall)
	b.ahead.CompareAndSwap(nil, &d)
}

// Read reads the clocks once.
func (b *brokerClock) Read() gate.Reading {
	r := b.system.Read()
	if d := b.ahead.Load(); d != nil {
		r.Market = r.Wall.Add(*d)
	} else {
		r.Market = stillClock{}.Read().Market
	}
	return r
}

// proxiedAccounts are the accounts of the data folder that have pins.
func proxiedAccounts(dir string) (names []string) {
	found, _ := filepath.Glob(filepath.Join(dir, "accounts", "*", "pins.json")) // the pattern is sound
	for _, path := range found {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			names = append(names, filepath.Base(filepath.Dir(path)))
		}
	}
	return names
}
