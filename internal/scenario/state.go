package scenario

import (
	"context"
	"strconv"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
)

// State is the account when a story has ended, by its journal.
type State struct {
	Cash            string            `json:"cash"`
	Denials         int               `json:"denials"` // of the last day
	EquityAtOpen    string            `json:"equity_at_open"`
	ExitOrdersToday int               `json:"exit_orders_today"`
	Forwarded       int               `json:"forwarded"` // messages that went to the broker
	InDoubt         int               `json:"in_doubt"`
	LossLatched     bool              `json:"loss_latched"`
	Mode            string            `json:"mode"`
	NotionalToday   string            `json:"notional_today"`
	OpenOrders      int               `json:"open_orders"`
	OrdersToday     int               `json:"orders_today"` // exits too
	Positions       map[string]string `json:"positions"`    // without zeros
	Reserved        string            `json:"reserved"`     // units that open orders can still fill, buys and sells added
}

// state looks at the account through its gate.
func (w *world) state(ctx context.Context) (State, error) {
	out := State{Positions: map[string]string{}}
	sent, err := w.sent(ctx)
	if err != nil {
		return out, err
	}
	out.Forwarded = sent - w.base
	err = w.gate.View(ctx, func(v gate.View) { out.take(&v, w.dust) })
	return out, err
}

// take reads the figures. dust is what the orders of before the story had to count at
// the least, and is left out of its own day's turnover.
func (out *State) take(v *gate.View, dust money.Notional) {
	s, day := v.State, v.State.DayAt(v.Now)
	turnover := day.Notional
	if less, ok := turnover.Sub(dust); ok && !less.IsNegative() {
		turnover = less
	}
	out.Cash, out.NotionalToday = s.Cash.String(), turnover.String()
	out.Denials = s.Denials.Count(v.Now, limits.BehaviourWindowMax)
	if day.HasOpen {
		out.EquityAtOpen = day.EquityAtOpen.String()
	}
	out.OrdersToday, out.ExitOrdersToday, out.LossLatched = day.OrdersInAll(), day.ExitOrders, day.LossLatched
	out.InDoubt, out.OpenOrders, out.Mode = s.InDoubtCount(v.Now), s.OpenOrders(), modeWord(v.Mode)
	var reserved money.Quantity
	for i := range s.Holdings {
		h := &s.Holdings[i]
		if !h.Position.IsZero() {
			out.Positions[h.Instrument.Symbol] = h.Position.String()
		}
		reserved, _ = reserved.Add(h.OpenBuy)
		reserved, _ = reserved.Add(h.OpenSell)
	}
	out.Reserved = reserved.String()
}

func modeWord(m account.Mode) string {
	switch m {
	case account.Active:
		return "active"
	case account.ReduceOnly:
		return "reduce_only"
	}
	return "halted"
}

// texts are the figures by the names that a scenario wants them by.
func (out *State) texts() map[string]string {
	return map[string]string{
		"cash": out.Cash, "denials": strconv.Itoa(out.Denials), "equity_at_open": out.EquityAtOpen,
		"exit_orders_today": strconv.Itoa(out.ExitOrdersToday), "forwarded": strconv.Itoa(out.Forwarded),
		"in_doubt": strconv.Itoa(out.InDoubt), "loss_latched": strconv.FormatBool(out.LossLatched), "mode": out.Mode,
		"notional_today": out.NotionalToday, "open_orders": strconv.Itoa(out.OpenOrders),
		"orders_today": strconv.Itoa(out.OrdersToday), "reserved": out.Reserved,
	}
}

// compare adds what the end lacks of what was wanted.
func (want *want) compare(r *Result) {
	for i := range want.positions {
		p := &want.positions[i]
		have, held := r.State.Positions[p.symbol]
		if !held {
			have = "0"
		}
		if q, err := money.ParseQuantity(have); err != nil || q != p.quantity {
			r.fail(-1, 0, "in the end: expected a position of %s in %s, got %s", p.quantity, p.symbol, have)
		}
	}
	have := r.State.texts()
	for _, f := range want.figures {
		if !sameFigure(f.text, have[f.name]) {
			r.fail(-1, 0, "in the end: expected %s %s, got %s", f.name, f.text, have[f.name])
		}
	}
}

// sameFigure compares decimals by value and all else by its text.
func sameFigure(a, b string) bool {
	x, err := money.ParseNotional(a)
	y, err2 := money.ParseNotional(b)
	if err == nil && err2 == nil {
		return x == y
	}
	return a == b
}

// finish brings the account up to date, and holds the journal against the verifier and
// the fold against the broker.
func (w *world) finish(ctx context.Context, r *Result) error {
	if err := w.gate.Tick(ctx); err != nil {
		r.fail(-1, 0, "in the end: %v", err)
	}
	var err error
	if r.State, err = w.state(ctx); err != nil {
		return err
	}
	w.s.want.compare(r)
	return w.verify(ctx, r)
}
