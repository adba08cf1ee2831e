package account

import (
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
)

// The parts of a state in their binary form, each for writing and reading.

func (w *wire) date(d *market.TradeDate) {
	n := uint64(uint32(*d))
	w.u64(&n)
	if w.reading {
		*d = market.TradeDate(int32(uint32(n)))
		w.bad = w.bad || *d != 0 && !d.Valid()
	}
}

func (w *wire) instrument(in *order.Instrument) {
	class := uint8(in.Class)
	w.flag(&in.Active)
	w.u8(&class)
	w.text(&in.Currency)
	w.quantity(&in.Multiplier)
	w.text(&in.Symbol)
	w.text(&in.Underlying)
	in.Class = order.AssetClass(class)
}

func (w *wire) terms(t *Terms) {
	kind, tif := uint8(t.Type), uint8(t.TimeInForce)
	w.u8(&kind)
	w.quantity(&t.Quantity)
	w.price(&t.LimitPrice)
	w.price(&t.StopPrice)
	w.u8(&tif)
	w.flag(&t.ExtendedHours)
	w.instant(&t.ExpireAt)
	w.price(&t.RiskPrice)
	w.notional(&t.Cost)
	t.Type, t.TimeInForce = order.Type(kind), order.TimeInForce(tif)
}

func (w *wire) pending(p **Pending) {
	has := *p != nil
	w.flag(&has)
	if !has {
		return
	}
	if w.reading {
		*p = new(Pending)
	}
	w.u64(&(*p).Seq)
	w.terms(&(*p).Terms)
	w.flag(&(*p).Atomic)
	w.instant(&(*p).ReplyBy)
	w.flag(&(*p).Doubtful)
}

func (w *wire) order(o *Order) {
	side, stage := uint8(o.Side), uint8(o.Stage)
	w.text(&o.ID)
	w.u64(&o.Seq)
	w.flag(&o.External)
	w.text(&o.ClientOrderID)
	w.text(&o.AgentID)
	w.text(&o.BrokerID)
	w.text(&o.Group)
	w.terms(&o.Terms)
	w.u8(&side)
	w.text(&o.Symbol)
	w.quantity(&o.Filled)
	w.flag(&o.Reducing)
	w.u8(&stage)
	w.instant(&o.DecidedAt)
	w.instant(&o.ReplyBy)
	w.instant(&o.DoubtAt)
	w.pending(&o.Pending)
	w.pending(&o.Canceling)
	o.Side, o.Stage = order.Side(side), Stage(stage)
}

func (w *wire) holding(h *Holding) {
	w.instrument(&h.Instrument)
	w.quantity(&h.Position)
	w.price(&h.Cost)
	w.notional(&h.Realized)
	w.quantity(&h.OpenBuy)
	w.quantity(&h.OpenSell)
	w.flag(&h.OpenedInCycle)
}

func (w *wire) day(d *Day) {
	w.date(&d.Date)
	w.flag(&d.HasOpen)
	w.notional(&d.EquityAtOpen)
	w.number(&d.Orders)
	w.number(&d.ExitOrders)
	w.notional(&d.Notional)
	w.notional(&d.Realized)
	w.notional(&d.Flows)
	w.flag(&d.LossLatched)
}

func (w *wire) twin(t *Twin) {
	side, kind := uint8(t.Mark.Side), uint8(t.Mark.Type)
	w.instant(&t.At)
	w.text(&t.OrderID)
	w.text(&t.Mark.Symbol)
	w.u8(&side)
	w.u8(&kind)
	w.quantity(&t.Mark.Quantity)
	w.price(&t.Mark.LimitPrice)
	w.price(&t.Mark.StopPrice)
	t.Mark.Side, t.Mark.Type = order.Side(side), order.Type(kind)
}

func (w *wire) reconciled(r *Reconciled) {
	w.instant(&r.At)
	n := w.count(len(r.Differences), 3)
	if w.reading && n > 0 {
		r.Differences = make([]journal.Difference, n)
	}
	for i := range n {
		d := &r.Differences[i]
		w.quantity(&d.Broker)
		w.quantity(&d.Ledger)
		w.text(&d.Symbol)
	}
}

// header is what a state says of itself, without its lists.
func (w *wire) header(s *State) {
	mode := uint8(s.Mode)
	w.text(&s.Account)
	w.text(&s.Broker)
	w.text(&s.Currency)
	w.flag(&s.Started)
	w.u64(&s.Seq)
	w.raw(s.Head[:])
	w.instant(&s.At)
	w.text(&s.Clock.BootID)
	w.i64(&s.Clock.BootNS)
	w.flag(&s.Clock.Suspect)
	w.instant(&s.Clock.Wall.Time)
	w.text(&s.Fingerprint)
	w.u8(&mode)
	w.text(&s.ModeBy)
	w.text(&s.ModeReason)
	w.instant(&s.ModeAt)
	w.notional(&s.Cash)
	w.text(&s.Cursor)
	w.day(&s.Day)
	w.flag(&s.Peak.Known)
	w.notional(&s.Peak.Equity)
	w.reconciled(&s.Reconciled)
	s.Mode = Mode(mode)
	w.bad = w.bad || s.Mode > Active
}
