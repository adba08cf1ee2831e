package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
)

type orderView struct {
	ID          string    `json:"id"`
	Symbol      string    `json:"symbol"`
	Side        string    `json:"side"`
	OrderType   string    `json:"order_type"`
	Quantity    string    `json:"quantity"`
	Filled      string    `json:"filled"`
	LimitPrice  string    `json:"limit_price,omitzero"`
	StopPrice   string    `json:"stop_price,omitzero"`
	TimeInForce string    `json:"time_in_force"`
	Stage       string    `json:"stage"` // reserved, working or in_doubt
	External    bool      `json:"external"`
	Pending     string    `json:"pending,omitzero"` // replace or cancel without a proven end
	AgentID     string    `json:"client_order_id,omitzero"`
	BrokerID    string    `json:"broker_id,omitzero"`
	DecidedAt   time.Time `json:"decided_at"`
}

func viewOrder(o *account.Order, now time.Time) orderView {
	v := orderView{
		ID: o.ID, Symbol: o.Symbol, Side: o.Side.String(), OrderType: o.Type.String(), Quantity: o.Quantity.String(),
		Filled: o.Filled.String(), TimeInForce: o.TimeInForce.String(), Stage: account.StatusWorking, External: o.External,
		AgentID: o.AgentID, BrokerID: o.BrokerID, DecidedAt: o.DecidedAt,
	}
	if !o.LimitPrice.IsZero() {
		v.LimitPrice = o.LimitPrice.String()
	}
	if !o.StopPrice.IsZero() {
		v.StopPrice = o.StopPrice.String()
	}
	switch {
	case o.InDoubt(now):
		v.Stage = account.StatusInDoubt
	case o.Stage == account.Reserved:
		v.Stage = account.StatusReserved
	}
	switch {
	case o.Canceling != nil:
		v.Pending = "cancel"
	case o.Pending != nil:
		v.Pending = "replace"
	}
	return v
}

type ordersView struct {
	Schema  string      `json:"schema"`
	Account string      `json:"account"`
	At      time.Time   `json:"at"`
	Orders  []orderView `json:"orders"`
}

func (a *app) ordersCommand() *cobra.Command {
	return a.bookCommand("orders", "List open orders: working, reserved and in doubt", a.orders)
}

// bookCommand is a listing that can be watched.
func (a *app) bookCommand(use, short string, show func(context.Context, *deck) error) *cobra.Command {
	var w watching
	c := &cobra.Command{Use: use, Short: short, Args: none, RunE: func(c *cobra.Command, _ []string) error {
		return a.look(c.Context(), w, func(d *deck) error { return show(c.Context(), d) })
	}}
	w.flags(c)
	return c
}

// openOrders reads the open orders, in the order in which they were decided.
func openOrders(ctx context.Context, d *deck) (v ordersView, live bool, err error) {
	v = ordersView{Schema: "rails.orders/v1", Account: d.account}
	err = d.gate.View(ctx, func(now gate.View) {
		v.At = now.Now
		live = now.Limits != nil && now.Limits.Mode == limits.Live
		for _, o := range now.State.Orders {
			v.Orders = append(v.Orders, viewOrder(o, now.Now))
		}
	})
	return v, live, err
}

func (a *app) orders(ctx context.Context, d *deck) error {
	v, live, err := openOrders(ctx, d)
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.out.json(v)
	}
	a.header(d, live, v.At)
	a.orderTable(v.Orders)
	return a.out.failed
}

func (a *app) orderTable(list []orderView) {
	if len(list) == 0 {
		a.out.line("no open orders")
		return
	}
	t := columns("order", "symbol", "side", "type", ">quantity", ">filled", ">limit", ">stop", "stage", "")
	for i := range list {
		o := &list[i]
		note := o.Pending
		if o.External {
			note = "external " + note
		}
		t.add(o.ID, o.Symbol, o.Side, o.OrderType+" "+o.TimeInForce, o.Quantity, o.Filled, dashCents(o.LimitPrice), dashCents(o.StopPrice),
			a.out.verdict(o.Stage), note)
	}
	a.out.table(t, "")
}

func dashCents(text string) string {
	if text == "" {
		return "-"
	}
	return cents(text)
}

type positionView struct {
	Symbol   string `json:"symbol"`
	Quantity string `json:"quantity"`
	Cost     string `json:"average_cost"`
	OpenBuy  string `json:"open_buy"`
	OpenSell string `json:"open_sell"`
	Bid      string `json:"bid,omitzero"` // newest valid quote; absent when there is none
	Ask      string `json:"ask,omitzero"`
	Value    string `json:"value,omitzero"` // longs at bid, shorts at ask
	Realized string `json:"realized_today"`
}

type positionsView struct {
	Schema    string         `json:"schema"`
	Account   string         `json:"account"`
	At        time.Time      `json:"at"`
	Cash      string         `json:"cash"`
	Positions []positionView `json:"positions"`
}

func (a *app) positionsCommand() *cobra.Command {
	return a.bookCommand("positions", "List what the account holds", a.positions)
}

// holdings reads the positions; equity is false when a holding could not be valued.
func holdings(ctx context.Context, d *deck) (v positionsView, equity money.Notional, valued, live bool, err error) {
	v = positionsView{Schema: "rails.positions/v1", Account: d.account}
	valued = true
	err = d.gate.View(ctx, func(now gate.View) {
		v.At, v.Cash, equity = now.Now, dollars(now.State.Cash), now.State.Cash
		live = now.Limits != nil && now.Limits.Mode == limits.Live
		for i := range now.State.Holdings {
			h := &now.State.Holdings[i]
			if h.Position.IsZero() {
				continue
			}
			p, value, ok := viewHolding(ctx, d, h, now.Now)
			v.Positions = append(v.Positions, p)
			sum, fits := equity.Add(value)
			valued, equity = valued && ok && fits, sum
		}
	})
	return v, equity, valued, live, err
}

func viewHolding(ctx context.Context, d *deck, h *account.Holding, now time.Time) (positionView, money.Notional, bool) {
	v := positionView{
		Symbol: h.Instrument.Symbol, Quantity: h.Position.String(), Cost: cents(h.Cost.String()),
		OpenBuy: h.OpenBuy.String(), OpenSell: h.OpenSell.String(), Realized: dollars(h.Realized),
	}
	if d.quotes == nil {
		return v, money.Notional{}, false
	}
	q, err := d.quotes.LastValid(ctx, h.Instrument.Symbol, now, now.Add(-quoteLookback))
	if err != nil || !q.Present {
		return v, money.Notional{}, false
	}
	v.Bid, v.Ask = cents(q.Bid.String()), cents(q.Ask.String())
	price := q.Bid
	if h.Position.IsNegative() {
		price = q.Ask
	}
	value, ok := price.TimesMultiplied(h.Position, h.Instrument.Multiplier, money.Down)
	if ok {
		v.Value = dollars(value)
	}
	return v, value, ok
}

// quoteLookback spans the longest run of closed days.
const quoteLookback = 5 * 24 * time.Hour

func (a *app) positions(ctx context.Context, d *deck) error {
	v, _, _, live, err := holdings(ctx, d)
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.out.json(v)
	}
	a.header(d, live, v.At)
	a.positionTable(&v)
	return a.out.failed
}

func (a *app) positionTable(v *positionsView) {
	a.out.field("cash", v.Cash)
	if len(v.Positions) == 0 {
		a.out.line("no positions")
		return
	}
	t := columns("symbol", ">quantity", ">cost", ">bid", ">ask", ">value", ">buying", ">selling", ">realized")
	for _, p := range v.Positions {
		t.add(p.Symbol, p.Quantity, p.Cost, dash(p.Bid), dash(p.Ask), dash(p.Value), p.OpenBuy, p.OpenSell, p.Realized)
	}
	a.out.table(t, "")
}

type accountView struct {
	Schema       string         `json:"schema"`
	Account      string         `json:"account"`
	Broker       string         `json:"broker"`
	Currency     string         `json:"currency"`
	At           time.Time      `json:"at"`
	Mode         string         `json:"mode"`
	Cash         string         `json:"cash"`
	Committed    string         `json:"committed"` // cash held back by open orders
	Equity       string         `json:"equity,omitzero"`
	EquityAtOpen string         `json:"equity_at_open,omitzero"`
	Realized     string         `json:"realized_today"`
	Positions    []positionView `json:"positions"`
	OpenOrders   int            `json:"open_orders"`
}

func (a *app) accountCommand() *cobra.Command {
	return a.bookCommand("account", "Show cash, equity and positions", a.account)
}

func (a *app) account(ctx context.Context, d *deck) error {
	held, equity, valued, live, err := holdings(ctx, d)
	if err != nil {
		return err
	}
	v := accountView{Schema: "rails.account/v1", Account: d.account, At: held.At, Cash: held.Cash, Positions: held.Positions}
	if valued {
		v.Equity = dollars(equity)
	}
	err = d.gate.View(ctx, func(now gate.View) {
		s := now.State
		v.Broker, v.Currency, v.Mode, v.OpenOrders = s.Broker, s.Currency, now.Mode.String(), s.OpenOrders()
		day := s.DayAt(now.Now)
		v.Realized = dollars(day.Realized)
		if day.HasOpen {
			v.EquityAtOpen = dollars(day.EquityAtOpen)
		}
		var committed money.Notional
		for _, o := range s.Orders {
			if sum, ok := committed.Add(heldBack(o)); ok {
				committed = sum
			}
		}
		v.Committed = dollars(committed)
	})
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.out.json(v)
	}
	a.header(d, live, v.At)
	p := a.out
	p.field("mode", p.verdict(v.Mode))
	p.field("equity", dash(v.Equity), p.dim("  at open "+dash(v.EquityAtOpen)+", realized today "+v.Realized))
	p.field("held back", v.Committed, p.dim("  by "+plural(v.OpenOrders, "open order", "open orders")))
	a.positionTable(&held)
	return p.failed
}

// heldBack is the part of an order's cost that is still to fill, rounded up.
func heldBack(o *account.Order) money.Notional {
	each, ok := o.Cost.Per(o.Quantity, money.Up)
	if !ok {
		return o.Cost
	}
	left, ok := each.Times(o.Remaining(), money.Up)
	if !ok {
		return o.Cost
	}
	return money.MinNotional(left, o.Cost)
}
