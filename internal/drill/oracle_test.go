package drill

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// oracle knows what is stored and what the broker got, and asks no gate.
type oracle struct {
	w       *world
	docs    *documents
	state   *account.State // the fold of what is stored
	control *account.Control
	entries int // how many are stored, of all chains
	stops   []stop
	asked   int                 // how many entries were stored when the halt file was made
	decided map[string]*decided // allowed, by the client order id that the entry gives
	sent    []*decided          // released by a gate, in this order
	excused map[string]int64    // units that came or may come to the broker past every limit, by symbol
	faults  []string            // that fired, for leaving them out
}

// stop is an entry after which an older permit sends nothing.
type stop struct {
	index  int
	halted bool // the mode in force from it on
}

// decided is an allowed decision as it is stored.
type decided struct {
	index   int // of its entry
	through int // of the last entry of its transaction
	at      time.Time
	intent  order.Intent
	doc     *limits.Document // in force
	sent    bool
	took    bool
	arrived time.Time // by the broker's clock
}

func newOracle(w *world, docs *documents) oracle {
	return oracle{
		w: w, docs: docs, state: account.New(accountName), control: account.NewControl(),
		decided: map[string]*decided{}, excused: map[string]int64{},
	}
}

// read takes in what was stored since. It is called after every append, so what is new is
// one transaction.
func (o *oracle) read() {
	var fresh []*decided
	err := o.w.store.all(context.Background(), uint64(o.entries), func(s gate.Stored) error {
		o.entries++
		e, err := journal.Envelope(s.Bytes)
		if err == nil && s.Account == journal.ControlAccount {
			if err = o.control.ApplyEntry(&e, s.Hash); err == nil {
				o.stop()
			}
			return err
		}
		if err == nil {
			err = o.state.ApplyEntry(&e, s.Hash)
		}
		if err != nil {
			return err
		}
		o.w.note("    entry %d %s", s.Seq, e.Kind)
		switch e.Kind {
		case journal.KindMode, journal.KindLatch, journal.KindLimits:
			o.stop()
			o.halts(&e)
		case journal.KindDecision:
			d, client, err := o.decision(&e, &s)
			if err != nil || d == nil {
				return err
			}
			o.decided[client], fresh = d, append(fresh, d)
		}
		return nil
	})
	if err != nil {
		o.w.fail("what is stored folds", "entry %d: %v", o.entries, err)
	}
	for _, d := range fresh {
		d.through = o.entries
	}
}

func (o *oracle) stop() {
	o.stops = append(o.stops, stop{o.entries, account.Effective(o.state.Mode, o.control.Mode) == account.Halted})
}

// haltAsked notes when a halt file is made, also in the place of one that stands.
func (o *oracle) haltAsked() {
	o.read()
	o.asked = o.entries
}

// haltKept is asked when a halt file is taken away: since it was made, the account was halted
// by what is stored. Otherwise nothing tells any more that somebody asked for it.
func (o *oracle) haltKept() {
	o.read()
	halted := false // by the newest stop before the file was made, or by any after it
	for _, s := range o.stops {
		if s.index <= o.asked {
			halted = s.halted
		} else {
			halted = halted || s.halted
		}
	}
	if o.w.haltFile != "" && !halted {
		o.w.fail("a halt is not lost", "its file, made at entry %d, was taken away at %d, and nothing stored halted since", o.asked, o.entries)
	}
}

// halts notes that a fault inside the gate halted the account, as it must.
func (o *oracle) halts(e *journal.Entry) {
	body, err := journal.DecodeBody[journal.Mode](e)
	if err != nil || e.Kind != journal.KindMode || body.By != gate.CodeInternalFault {
		return
	}
	for _, p := range o.w.processes {
		p.mustHalt = 0
	}
}

func (o *oracle) decision(e *journal.Entry, s *gate.Stored) (*decided, string, error) {
	body, err := journal.DecodeBody[journal.Decision](e)
	if err != nil || body.Verdict != journal.VerdictAllowed {
		return nil, "", err
	}
	d := &decided{index: o.entries, at: e.At.Time, intent: body.Intent, doc: o.docs.by[o.state.Fingerprint]}
	return d, journal.ClientOrderID(accountName, s.Seq, s.Hash), nil
}

// excuse takes units of a symbol out of what is held against the limits: they trade past
// the gate, or after the broker had said that their order is over.
func (o *oracle) excuse(symbol string, units int64) { o.excused[symbol] += units }

// released is asked before a message leaves: everything that must have come before it.
func (o *oracle) released(t *task, m *gate.Message) {
	w := o.w
	o.read()
	d := o.decided[m.ClientOrderID]
	if d == nil {
		w.fail("no order without an earlier durable decision", "%s was sent and no stored decision allows it", m.ClientOrderID)
		return
	}
	in := &d.intent
	if m.Action != in.Action || m.Quantity != in.Quantity || m.LimitPrice != in.LimitPrice || m.StopPrice != in.StopPrice ||
		m.Side != in.Side || m.Type != in.Type || m.TimeInForce != in.TimeInForce || m.Action == order.ActionNew && m.Instrument.Symbol != in.Symbol {
		w.fail("what is sent is what was decided", "%+v was sent, %+v was decided", m, in)
	}
	if d.sent {
		w.fail("nothing is sent twice", "%s was sent before", m.ClientOrderID)
	}
	d.sent = true
	o.sent = append(o.sent, d)
	halted := false
	for _, s := range o.stops {
		if s.index > t.headsAt {
			break
		}
		halted = s.halted
		if s.index > d.through {
			w.fail("nothing is sent after a mode, a latch or limits that its last look could see",
				"%s was decided by entry %d, entry %d came after it, the heads were read at %d", m.ClientOrderID, d.index, s.index, t.headsAt)
		}
	}
	if m.Action != order.ActionCancel && (halted || t.stopSeen) {
		w.fail("nothing is sent after a halt", "%s was sent; halted %v, halt file %v", m.ClientOrderID, halted, t.stopSeen)
	}
	if t.process.mustHalt > 0 {
		w.fail("a fault inside the gate halts", "%s was sent after a panic that halted nothing", m.ClientOrderID)
	}
	awake, since := time.Since(t.permit.minted), w.clock.Read().Boot-t.permit.boot
	if awake > gate.PermitFor || since > gate.PermitFor {
		w.fail("a permit expires", "%s was sent %s after its decision, %s by the clock that runs during sleep", m.ClientOrderID, awake, since)
	}
	o.rates(d)
}

// minute is the span of the windows, half-open: (t - minute, t].
const minute = time.Minute

// rates counts what was decided and released within a minute, and on the day.
func (o *oracle) rates(d *decided) {
	if d.intent.Action == order.ActionCancel {
		return
	}
	s := &d.doc.Session
	var buys, sells, all, today, value int64
	for _, x := range o.sent {
		in := &x.intent
		if in.Action == order.ActionNew && in.Side == order.Buy && tradeDate(x.at) == tradeDate(d.at) && !x.at.After(d.at) {
			today++
		}
		if in.Action == order.ActionCancel || x.at.After(d.at) || !x.at.After(d.at.Add(-minute)) {
			continue
		}
		all++
		switch {
		case in.Action != order.ActionNew:
		case in.Side == order.Buy:
			buys++
			value += whole(in.Quantity) * cents(in.LimitPrice)
		default:
			sells++
		}
	}
	most := int64(s.MaxOrdersPerMinute.Value)
	if all > 2*o.docs.ordersMax {
		o.w.fail("orders a minute", "%d in all; the loosest limit is %d, for opens and for exits", all, o.docs.ordersMax)
	}
	if d.intent.Action != order.ActionNew {
		return
	}
	if n := map[order.Side]int64{order.Buy: buys, order.Sell: sells}[d.intent.Side]; n > most {
		o.w.fail("orders a minute", "%d of this side; the limit is %d", n, most)
	}
	if d.intent.Side != order.Buy {
		return
	}
	if today > int64(s.MaxOrdersPerDay.Value) {
		o.w.fail("orders a day", "%d buys; the limit is %d", today, s.MaxOrdersPerDay.Value)
	}
	if d.intent.Type == order.Limit && value > centsOf(s.MaxNotionalPerMinute.Value) {
		o.w.fail("notional a minute", "buys of %d cents", value)
	}
}

func tradeDate(at time.Time) market.TradeDate { return market.Session(at, market.XNYS()).TradeDate }

// side is what the broker may come to in one symbol, in units.
type side struct{ held, buys, sells int64 }

// book is the broker's ledger, with what is on its way there.
func (o *oracle) book() (by map[string]*side, orders []paper.Order, open int) {
	w, ctx := o.w, context.Background()
	by = map[string]*side{}
	for _, symbol := range symbols() {
		by[symbol] = &side{}
	}
	positions, err := w.broker.Ledger().Positions(ctx)
	must(w.t, err)
	for _, p := range positions {
		by[p.Instrument.Symbol].held = whole(p.Quantity)
	}
	orders, err = w.broker.Ledger().Orders(ctx)
	must(w.t, err)
	for i := range orders {
		x := &orders[i]
		if x.State != paper.Open {
			continue
		}
		open++
		by[x.Instrument.Symbol].add(x.Side, whole(x.Quantity)-whole(x.Filled))
	}
	onTheWay := w.delayed
	for _, t := range w.parked {
		if t.sending != nil {
			onTheWay = append(onTheWay[:len(onTheWay):len(onTheWay)], t.sending)
		}
	}
	for _, x := range onTheWay {
		if m := &x.message; m.Action == order.ActionNew && !w.lost(x) && !w.truth.Now().After(m.SendBy) {
			by[m.Instrument.Symbol].add(m.Side, whole(m.Quantity))
		}
	}
	return by, orders, open
}

func (s *side) add(which order.Side, units int64) {
	if which == order.Buy {
		s.buys += units
	} else {
		s.sells += units
	}
}

// took holds the broker's ledger against the caps that the message was judged by, once the
// broker took it.
func (o *oracle) took(m *gate.Message) {
	w := o.w
	d := o.decided[m.ClientOrderID]
	if d == nil {
		return
	}
	if w.wrong {
		w.fail("nothing arrives", "%s did", m.ClientOrderID)
	}
	d.took, d.arrived = true, w.truth.Now()
	if m.Action == order.ActionCancel || d.doc == nil {
		return
	}
	if units := whole(m.Quantity); units > whole(d.doc.Size.MaxOrderQuantity.Value) {
		w.fail("units of an order", "%d", units)
	}
	by, orders, open := o.book()
	symbol := m.Instrument.Symbol
	s, spare := by[symbol], o.excused[symbol]
	if m.Side == order.Sell {
		if short := s.sells - s.held; short > spare {
			w.fail("no short", "%s could come to short %d, of which %d are excused", symbol, short, spare)
		}
		return
	}
	most := whole(d.doc.Position.MaxPositionQuantity.Value)
	if long := s.held + s.buys; long > most+spare {
		w.fail("units of a position", "%s could come to %d, the limit is %d, and %d are excused", symbol, long, most, spare)
	}
	outside := 0
	for i := range orders {
		if orders[i].ClientOrderID == "" {
			outside++
		}
	}
	if most := d.doc.Position.MaxOpenOrders.Value + 5; open > most+outside {
		w.fail("open orders", "%d, the limit is %d with the exits' own, and %d are external", open, most, outside)
	}
	gross := int64(0)
	for _, symbol := range symbols() {
		s := by[symbol]
		gross += max(0, max(s.held+s.buys, s.sells-s.held)-o.excused[symbol]) * lowestAsk
	}
	if gross > centsOf(d.doc.Position.MaxGrossExposure.Value) {
		w.fail("gross exposure", "at the lowest price it is %d cents", gross)
	}
}

// look asks, after every step, that the journal holds in reserve whatever the broker may
// still come to.
func (o *oracle) look() {
	o.read()
	by, _, _ := o.book()
	for _, symbol := range symbols() {
		s := by[symbol]
		var long, short int64
		if h := o.state.Holding(symbol); h != nil {
			long, short = whole(h.Position)+whole(h.OpenBuy), whole(h.OpenSell)-whole(h.Position)
		}
		spare := o.excused[symbol]
		if long+spare < s.held+s.buys || short+spare < s.sells-s.held {
			o.w.fail("no reservation is lost", "%s: the journal counts long %d and short %d, the broker may come to %d and %d, and %d are excused",
				symbol, long, short, s.held+s.buys, s.sells-s.held, spare)
		}
	}
}

func quantity(units int) money.Quantity { return money.QuantityFromInt(int64(units)) }

// whole is a quantity in units, which are all whole here.
func whole(q money.Quantity) int64 {
	n, err := strconv.ParseInt(q.String(), 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func cents(p money.Price) int64 { return inCents(p.String()) }

func centsOf(n money.Notional) int64 { return inCents(n.String()) }

func inCents(text string) int64 {
	units, part, _ := strings.Cut(text, ".")
	part = (part + "00")[:2]
	n, err := strconv.ParseInt(units+part, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}
