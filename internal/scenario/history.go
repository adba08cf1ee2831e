package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/quotes"
	"github.com/broker-rails/broker-rails/internal/strict"
)

// What an account has when a story begins was lived through before: the positions were
// bought outside the gate, the open orders went through it, on the trade date before;
// today's orders went through it at midnight, so that no window of minutes sees them.
// All of it stands in the journal and verifies like the story itself.

// beforehand makes up that history, under limits that allow it.
type beforehand struct {
	*world
	quotes *quotes.Scripted
	gate   *gate.Gate
	doc    *limits.Document
	orders int
	// spareOrder is open from the day before, when there was turnover today.
	spareOrder known
}

// spareSymbol is what today's orders were in. The story does not know it.
const spareSymbol = "EARLIER.TODAY"

// history writes what was before the story, and leaves clock, ledger and journal at its
// beginning.
func (w *world) history(ctx context.Context) error {
	begins := w.yesterday()
	w.clock = clock.NewVirtual(begins)
	b := &beforehand{world: w, quotes: quotes.NewScripted(w.options.Calendar)}
	start := paper.Start{Market: begins, Wall: begins}
	var err error
	if start.Cash, err = b.cashBefore(); err != nil {
		return err
	}
	ledger := paper.InMemory(start)
	if w.paper, err = w.brokerOn(ledger); err != nil {
		return err
	}
	w.broker = &outside{Broker: w.paper}
	if err := b.start(ctx, ledger, start.Cash); err != nil {
		return err
	}
	if err := b.buy(ctx); err != nil {
		return err
	}
	if err := b.place(ctx, order.GTC); err != nil {
		return err
	}
	if err := b.keepSpare(ctx); err != nil {
		return err
	}
	if err := b.today(ctx); err != nil {
		return err
	}
	w.clock.Set(w.s.at)
	return b.gate.Close(ctx)
}

// brokerOn is the paper broker of the story: orders fill by fill steps only.
func (w *world) brokerOn(l *paper.Ledger) (*paper.Broker, error) {
	return paper.New(l, paper.Options{
		Clock: w.clock, Quotes: w.quotes, Calendar: w.options.Calendar, AccountID: w.doc.Account,
		AllowShort: w.doc.Instrument.AllowShort, ManualFills: true,
	})
}

// yesterday is an hour into the trade date before, where the calendar has one.
func (w *world) yesterday() time.Time {
	date := market.Session(w.s.at, w.options.Calendar).TradeDate
	if before, ok := w.options.Calendar.PreviousTradeDate(date); ok {
		if opens, ok := w.options.Calendar.RegularOpen(before); ok {
			return opens.Add(time.Hour)
		}
	}
	return w.s.at.Add(-24 * time.Hour)
}

// midnight is the beginning of the story's trade date, or of the story if that is earlier.
func (w *world) midnight() time.Time {
	at := market.FromNewYork(market.Session(w.s.at, w.options.Calendar).TradeDate, 0)
	if at.After(w.s.at) || at.Before(w.clock.Now()) {
		return w.s.at
	}
	return at
}

// instrument resolves a symbol as the story does.
func (w *world) instrument(ctx context.Context, symbol string) (order.Instrument, error) {
	in, ok, err := w.quotes.Instrument(ctx, symbol)
	if err == nil && !ok {
		err = fmt.Errorf("no instrument %s; name it under instruments", strict.Printable(symbol))
	}
	return in, err
}

// priceOf is what a position cost: as the scenario says, else what its quote shows.
func (w *world) priceOf(p *position) (money.Price, error) {
	if p.price.IsPositive() {
		return p.price, nil
	}
	if price, ok := w.firstQuote(p.symbol, p.quantity.IsNegative()); ok {
		return price, nil
	}
	return money.Price{}, fmt.Errorf("the position in %s needs a price, or a quote", strict.Printable(p.symbol))
}

// firstQuote is the bid, or for a short position the ask, that a story begins with.
func (w *world) firstQuote(symbol string, short bool) (money.Price, bool) {
	for _, q := range w.s.quotes {
		if q.symbol != symbol || q.bid == nil || q.ask == nil || !q.bid.IsPositive() || q.ask.Cmp(*q.bid) < 0 {
			continue
		}
		if short {
			return *q.ask, true
		}
		return *q.bid, true
	}
	return money.Price{}, false
}

var errRange = errors.New("a figure is out of range")

// cashBefore is the cash that becomes the scenario's once the positions are bought.
func (b *beforehand) cashBefore() (money.Notional, error) {
	cash := b.s.account.cash
	for i := range b.s.account.positions {
		p := &b.s.account.positions[i]
		price, err := b.priceOf(p)
		if err != nil {
			return cash, err
		}
		in, err := b.instrument(context.Background(), p.symbol)
		if err != nil {
			return cash, err
		}
		rounding := money.Up
		if p.quantity.IsNegative() {
			rounding = money.Down
		}
		cost, ok := price.TimesMultiplied(p.quantity.Abs(), in.Multiplier, rounding)
		if !ok {
			return cash, errRange
		}
		if p.quantity.IsNegative() {
			cost = cost.Neg()
		}
		if cash, ok = cash.Add(cost); !ok {
			return cash, errRange
		}
	}
	return cash, nil
}

// start writes the genesis and puts limits in force under which the history is allowed.
func (b *beforehand) start(ctx context.Context, l *paper.Ledger, cash money.Notional) error {
	shorting, err := paper.New(l, paper.Options{
		Clock: b.clock, Quotes: b.quotes, Calendar: b.options.Calendar, AccountID: b.world.doc.Account,
		AllowShort: true, ManualFills: true,
	})
	if err != nil {
		return err
	}
	b.process = &process{Store: b.store, broker: b.broker}
	cfg := b.config()
	cfg.Broker, cfg.Quotes = shorting, b.quotes
	genesis := journal.Genesis{Broker: "paper", Cash: cash, Currency: b.world.doc.Currency, Who: "scenario"}
	if err := gate.Create(ctx, cfg, genesis); err != nil {
		return err
	}
	if b.gate, err = gate.Open(ctx, cfg); err != nil {
		return err
	}
	if b.doc, err = b.lenient(); err != nil {
		return err
	}
	_, err = b.gate.LoadLimits(ctx, "history", b.doc.Canonical, "scenario")
	return err
}

// lenient is the story's document with everything switched off that can be.
func (b *beforehand) lenient() (*limits.Document, error) {
	symbols := []string{spareSymbol}
	for _, p := range b.s.account.positions {
		symbols = append(symbols, p.symbol)
	}
	for _, o := range b.s.account.orders {
		symbols = append(symbols, o.symbol)
	}
	slices.Sort(symbols)
	list := []byte("instrument: {symbols: [")
	for i, symbol := range slices.Compact(symbols) {
		if i > 0 {
			list = append(list, ',')
		}
		list = strict.AppendQuoted(list, symbol)
	}
	return limits.Over(b.world.doc, "history", append(list, everythingOff...))
}

const everythingOff = `],
  restricted_symbols: [], asset_classes: [us_equity, us_option, crypto, future, forex], sides: [buy, sell],
  order_types: [limit, market, stop, stop_limit], times_in_force: [day, gtc, ioc],
  allow_extended_hours: true, allow_fractional: true, allow_short: true}
size: {max_order_qty: off, max_order_notional: off, min_order_notional: off, max_order_pct_of_equity: off, quantity_step: off}
position: {max_position_qty: off, max_position_notional: off, max_gross_exposure: off, max_net_exposure: off,
  max_concentration: off, require_buying_power: false, allow_flip: true, max_open_orders: off, allow_self_cross: true, max_in_doubt: off}
collar: {limit_price_collar: off, exit_price_collar: off, passive_price_collar: off, market_order_spread: off,
  market_order_slippage: 1, max_quote_age: off, max_spread: off, price_step: off, stop_price_side: off}
session: {require_market_open: false, trading_window: off, max_orders_per_minute: off, max_notional_per_minute: off,
  max_messages_per_minute: off, max_orders_per_day: off, max_notional_per_day: off, max_daily_loss: off, max_drawdown: off,
  duplicate_window: off, denial_storm: off, repeated_execution: off}
symbols: {}
`
