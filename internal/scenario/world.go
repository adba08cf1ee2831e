package scenario

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/quotes"
	"github.com/broker-rails/broker-rails/internal/store/memory"
)

// Options are what a run needs beside the scenario.
type Options struct {
	Calendar market.Calendar // zero: the New York calendar as shipped
	Version  string          // of the product, for the journal
	// Document is the text of a whole limits document, in the place of the file that the
	// scenario names and of the shipped one; nil: they are read.
	Document []byte
}

// world is everything that a story happens in.
type world struct {
	s       *Scenario
	options Options
	doc     *limits.Document // in force
	text    []byte           // as it was written

	clock  *clock.Virtual
	true   time.Time // the exchange's time, which a step of the wall clock does not touch
	quotes *quotes.Scripted
	store  *memory.Store
	paper  *paper.Broker
	broker *outside

	process *process
	gate    *gate.Gate
	crash   string // of the next call
	byHand  bool   // an order was booked as filled by hand, so ledger and broker may differ

	orders map[string]known // by the scenario's own names
	base   int              // messages at the broker before the story begins
	dust   money.Notional   // turnover of the orders before it that had to have some
}

// known is an order that steps can name.
type known struct {
	orderID  string // the gate's
	brokerID string // or the client order id that the broker knows
}

// newWorld reads the limits and builds what the story begins with.
func newWorld(ctx context.Context, s *Scenario, o Options) (*world, error) {
	if o.Calendar.MIC() == "" {
		o.Calendar = market.XNYS()
	}
	w := &world{s: s, options: o, true: s.at, orders: map[string]known{}, store: memory.New()}
	if err := w.readLimits(); err != nil {
		return nil, err
	}
	w.quotes = quotes.NewScripted(o.Calendar)
	for _, in := range s.instruments {
		w.quotes.List(in)
	}
	if err := w.history(ctx); err != nil {
		return nil, fmt.Errorf("the account's beginning: %w", err)
	}
	sent, err := w.paper.Ledger().Messages(ctx)
	if err != nil {
		return nil, err
	}
	w.base = len(sent)
	w.tell(s.quotes)
	w.options = o
	if err := w.open(ctx); err != nil {
		return nil, err
	}
	_, err = w.gate.LoadLimits(ctx, w.limitsName(), w.text, "operator")
	return w, err
}

func (w *world) limitsName() string {
	if w.s.limitsFile == "" {
		return "shipped limits"
	}
	return filepath.Join(filepath.Dir(w.s.File), w.s.limitsFile)
}

// LimitsError says that a scenario's limits are not a valid document.
type LimitsError struct{ Err error }

func (e *LimitsError) Error() string { return e.Err.Error() }

// Unwrap returns the cause: limits.Errors, or that the file could not be read.
func (e *LimitsError) Unwrap() error { return e.Err }

// readLimits finds the whole document, and lays the inline part over it. What was laid
// over another is put in force by its canonical form.
func (w *world) readLimits() error {
	w.text = limits.Template("paper")
	switch {
	case w.options.Document != nil:
		w.text = w.options.Document
	case w.s.limitsFile != "":
		var err error
		if w.text, err = os.ReadFile(w.limitsName()); err != nil {
			return &LimitsError{err}
		}
	}
	doc, err := limits.Load(w.limitsName(), w.text)
	if err != nil {
		return &LimitsError{err}
	}
	w.doc = doc
	if w.s.limitsPart == nil {
		return nil
	}
	if w.doc, err = limits.OverTree(doc, w.s.File, w.s.limitsPart); err != nil {
		return &LimitsError{err}
	}
	w.text = w.doc.Canonical
	return nil
}

// config is a gate's, for the process that is up.
func (w *world) config() gate.Config {
	return gate.Config{
		Account: w.doc.Account, Store: w.process, Broker: line{w.broker, w.process}, Quotes: w.quotes, Clock: w.clock,
		Calendar: w.options.Calendar, Paper: true, AtomicReplace: true, Live: w.doc.Mode == limits.Live, Version: w.options.Version,
	}
}

// open starts a process on the journal as it stands.
func (w *world) open(ctx context.Context) error {
	w.process = &process{Store: w.store, broker: w.broker}
	g, err := gate.Open(ctx, w.config())
	if err != nil {
		return err
	}
	w.gate = g
	return nil
}

// tell says quotes, by the exchange's time.
func (w *world) tell(all []quote) {
	for _, q := range all {
		if q.silent {
			w.quotes.Silence(q.symbol)
			continue
		}
		m := market.Quote{Symbol: q.symbol, Halted: q.halted, Currency: q.currency}
		if m.Currency == "" {
			m.Currency = w.currencyOf(q.symbol)
		}
		for _, side := range []struct {
			told *money.Price
			to   *money.Price
			has  *bool
		}{{q.bid, &m.Bid, &m.HasBid}, {q.ask, &m.Ask, &m.HasAsk}, {q.last, &m.Last, &m.HasLast}} {
			if side.told != nil {
				*side.to, *side.has = *side.told, true
			}
		}
		w.quotes.Tell(m, w.true, q.age)
	}
}

func (w *world) currencyOf(symbol string) string {
	if in, ok, err := w.quotes.Instrument(context.Background(), symbol); err == nil && ok {
		return in.Currency
	}
	return w.doc.Currency
}

// advance lets time run, with a look at the account wherever a session begins or ends,
// as a process that is up would have taken.
func (w *world) advance(ctx context.Context, d time.Duration) error {
	for end := w.true.Add(d); w.true.Before(end); {
		next := w.nextBoundary(end)
		w.clock.Advance(next.Sub(w.true))
		w.true = next
		if err := w.gate.Tick(ctx); err != nil {
			return err
		}
	}
	return nil
}

// nextBoundary is the next instant at which a session begins or ends, end at the latest.
func (w *world) nextBoundary(end time.Time) time.Time {
	info := market.Session(w.true, w.options.Calendar)
	next := end
	for _, at := range []time.Time{
		info.ExtendedOpensAt, info.OpensAt, info.ClosesAt, info.ExtendedClosesAt, market.FromNewYork(info.TradeDate.AddDays(1), 0),
	} {
		if at.After(w.true) && at.Before(next) {
			next = at
		}
	}
	return next
}

// find resolves a scenario's own name of an order; other texts are taken as they are.
func (w *world) find(name string) known {
	if k, ok := w.orders[name]; ok {
		return k
	}
	return known{orderID: name, brokerID: name}
}

func (w *world) sent(ctx context.Context) (int, error) {
	sent, err := w.paper.Ledger().Messages(ctx)
	return len(sent), err
}

func sortedPositions(by map[string]journal.Position) []journal.Position {
	var out []journal.Position
	for _, symbol := range slices.Sorted(maps.Keys(by)) {
		if p := by[symbol]; !p.Quantity.IsZero() {
			out = append(out, p)
		}
	}
	return out
}
