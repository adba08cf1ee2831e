package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// DaysMax bounds a session, in trade dates.
const DaysMax = 400

// Between two ticks of the agent lie tickMin to tickMin+tickSpan seconds.
const (
	tickMin  = 60
	tickSpan = 91
	// faultEvery: one tick of so many has a fault of the broker.
	faultEvery = 12
	// afterClose is when the agent tries once more.
	afterClose = 30 * time.Second
)

// Options of a session.
type Options struct {
	Days     int // trade dates, from 1 to DaysMax
	Seed     uint64
	Faults   bool // inject the paper broker's scripted faults
	Calendar market.Calendar
	Version  string // of the product
	// Progress is called after each trade date; nil is fine.
	Progress func(done, total int)
	// Real runs on real time: its market runs as fast as the wall's clock, and skips the hours
	// in which the exchange is closed. For bounds it; 0: until the trade dates are over. When
	// ctx or For ends it, the report is of what was run until then. Passed is called about
	// every second.
	Real   bool
	For    time.Duration
	Passed func(since time.Duration)
	// Keep is called with every entry of the session's journal, in the order in which they
	// were written, once the session is over; nil is fine.
	Keep func(account string, b []byte, stored journal.Hash) error

	// gateLimits are what the gate judges by instead of the shipped limits; the checker
	// keeps to those. It is how a test shows that the checker does not ask the gate.
	gateLimits []byte
}

// DaysError says that a session cannot be that long.
type DaysError struct{ Days, Most int }

func (e *DaysError) Error() string {
	return fmt.Sprintf("a session has 1 to %d trade dates, not %d", e.Most, e.Days)
}

// datesFrom are the first n trade dates from the practice clock's first on.
func datesFrom(c market.Calendar, n int) ([]market.TradeDate, error) {
	date, _ := market.NewTradeDate(2026, time.March, 18)
	dates := []market.TradeDate{}
	for ok := c.IsTradingDay(date); ok && len(dates) < DaysMax; date, ok = c.NextTradeDate(date) {
		dates = append(dates, date)
	}
	if n < 1 || len(dates) < n {
		return nil, &DaysError{Days: n, Most: len(dates)}
	}
	return dates[:n], nil
}

// Run plays a session and reports. An error tells that it could not be played; what did
// not hold stands in the report.
func Run(ctx context.Context, o Options) (*Report, error) {
	dates, err := datesFrom(o.Calendar, o.Days)
	if err != nil {
		return nil, err
	}
	w, err := newWorld(ctx, o, dates)
	if err != nil {
		return nil, err
	}
	r := newReport(o, dates, w.doc.Fingerprint)
	a := newAgent(w, w.checker.caps, o.Seed)
	running := ctx
	if o.Real {
		ctx = context.WithoutCancel(ctx) // what has begun is finished, and audited
	}
	for i, date := range dates {
		err := w.day(running, a, date, r)
		var ended *endedError
		if errors.As(err, &ended) {
			r.sample(w, r.Dates[i])
			r.stop(date, ended.why, i+1)
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", date, err)
		}
		if o.Progress != nil {
			o.Progress(i+1, len(dates))
		}
	}
	if err := w.audit(ctx, r); err != nil {
		return nil, err
	}
	r.close(ctx, w)
	if err := w.keep(ctx, o.Keep); err != nil {
		return nil, err
	}
	return r, w.gate.Close(ctx)
}

func (w *world) keep(ctx context.Context, each func(string, []byte, journal.Hash) error) error {
	if each == nil {
		return nil
	}
	return w.store.All(ctx, 0, func(s gate.Stored) error { return each(s.Account, s.Bytes, s.Hash) })
}

// day plays one trade date.
func (w *world) day(ctx context.Context, a *agent, date market.TradeDate, r *Report) error {
	opens, ok1 := w.options.Calendar.RegularOpen(date)
	closes, ok2 := w.options.Calendar.RegularClose(date)
	if !ok1 || !ok2 {
		return errors.New("the calendar does not know this date")
	}
	w.count.date = Figures{}
	d := r.begin(date)
	defer func() { d.Figures = w.count.date }()
	for at := opens; at.Before(closes); at = at.Add(time.Duration(tickMin+a.chance.below(tickSpan)) * time.Second) {
		if err := w.wake(ctx, at, a); err != nil {
			return err
		}
		if err := a.tick(ctx); err != nil {
			return err
		}
		r.sample(w, d)
	}
	if w.options.Real {
		return nil // its market has no hours between close and opening
	}
	if err := w.wake(ctx, closes.Add(afterClose), nil); err != nil {
		return err
	}
	symbol := a.pick()
	_, ask := w.quote(symbol)
	if _, err := w.call(ctx, a.limit(order.Buy, symbol, money.QuantityFromInt(1), ask)); err != nil {
		return err
	}
	r.sample(w, d)
	return nil
}

// wake lets time run to an instant, as a process that is up spends it.
func (w *world) wake(ctx context.Context, at time.Time, a *agent) error {
	if err := w.time.until(ctx, at); err != nil {
		return err
	}
	if w.options.Real {
		ctx = context.WithoutCancel(ctx)
	}
	if w.options.Faults && a != nil && a.chance.below(faultEvery) == 0 {
		if err := w.broker.Inject(ctx, paper.Fault{Kind: faultKinds[a.chance.below(len(faultKinds))]}); err != nil {
			return err
		}
	}
	if err := w.gate.Tick(ctx); err != nil {
		return err
	}
	if _, err := w.gate.Reconcile(ctx, nil); err != nil {
		return err
	}
	return w.look(ctx, false)
}

// audit asks of the journal what rails audit-verify asks.
func (w *world) audit(ctx context.Context, r *Report) error {
	if _, err := w.gate.Reconcile(ctx, nil); err != nil {
		return err
	}
	if err := w.look(ctx, false); err != nil {
		return err
	}
	source := func(ctx context.Context, each func(audit.Item) error) error {
		return w.store.All(ctx, 0, func(s gate.Stored) error {
			return each(audit.Item{Account: s.Account, Bytes: s.Bytes, Stored: s.Hash})
		})
	}
	found, err := audit.Verify(ctx, source, audit.Options{Calendar: w.options.Calendar})
	if err != nil {
		return err
	}
	r.Audit = Audit{Entries: found.Entries, Differences: []string{}}
	for _, f := range found.Failed() {
		r.Audit.Differences = append(r.Audit.Differences, f.Error())
	}
	for _, one := range found.Accounts {
		if one.Account != accountName || one.State == nil {
			continue
		}
		r.Audit.Decisions, r.Audit.Rederived = one.Decisions, one.Rederived
		r.Audit.NotRederived, r.Audit.Head = one.NotRederived, one.Head.String()
		if err := w.compare(ctx, one, one.State, r); err != nil {
			return err
		}
	}
	a := &r.Audit
	a.Verified = len(a.Differences) == 0 && a.NotRederived == 0 && a.Head != ""
	return nil
}

// compare holds the fold against the ledger: cash, positions, fills and open orders.
func (w *world) compare(ctx context.Context, one *audit.AccountReport, s *account.State, r *Report) error {
	differ := func(format string, args ...any) {
		r.Audit.Differences = append(r.Audit.Differences, fmt.Sprintf(format, args...))
	}
	ledger := w.broker.Ledger()
	cash, err := ledger.Cash(ctx)
	if err != nil {
		return err
	}
	if cash != s.Cash {
		differ("cash: the journal comes to %s, the broker holds %s", s.Cash, cash)
	}
	held, err := ledger.Positions(ctx)
	if err != nil {
		return err
	}
	broker := map[string]money.Quantity{}
	for _, p := range held {
		broker[p.Instrument.Symbol] = p.Quantity
	}
	for i := range s.Holdings {
		symbol := s.Holdings[i].Instrument.Symbol
		if broker[symbol] != s.Holdings[i].Position {
			differ("%s: the journal comes to %s, the broker holds %s", symbol, s.Holdings[i].Position, broker[symbol])
		}
		delete(broker, symbol)
	}
	for _, p := range held {
		if q, left := broker[p.Instrument.Symbol]; left {
			differ("%s: the journal comes to 0, the broker holds %s", p.Instrument.Symbol, q)
		}
	}
	if one.Fills != w.count.Fills {
		differ("the journal holds %d fills, the broker %d", one.Fills, w.count.Fills)
	}
	return w.compareOrders(ctx, s, differ)
}

func (w *world) compareOrders(ctx context.Context, s *account.State, differ func(string, ...any)) error {
	news, err := w.broker.Ledger().After(ctx, w.count.message, w.count.execution)
	if err != nil {
		return err
	}
	open := []string{}
	for i := range news.Orders {
		if news.Orders[i].State == paper.Open {
			open = append(open, news.Orders[i].ClientOrderID)
		}
	}
	for _, o := range s.Orders {
		i := slices.Index(open, o.ClientOrderID)
		if i < 0 {
			differ("order %s is open in the journal only", o.ID)
			continue
		}
		open = slices.Delete(open, i, i+1)
	}
	for _, id := range open {
		differ("order %s is open at the broker only", id)
	}
	return nil
}
