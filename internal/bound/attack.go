package bound

import (
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/record"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// desk is an account in memory: what the pure engine allows is folded and filled at once,
// at the order's own limit.
type desk struct {
	doc   *limits.Document
	scene *Scene
	state *account.State
	now   time.Time
	seq   int // client order ids
	tally tally
	plan  []Step
	free  money.Notional // what the broker says can be spent
	asked int            // decisions
}

// Step is one order of a plan.
type Step struct {
	After    time.Duration // since the plan begins
	Symbol   string
	Side     order.Side
	Quantity money.Quantity
	Limit    money.Price
}

func newDesk(doc *limits.Document, scene *Scene) (*desk, error) {
	d := &desk{doc: doc, scene: scene, state: account.New(doc.Account), now: scene.Opens, tally: newTally(scene)}
	d.free = d.tally.free()
	date := market.Session(scene.Opens, scene.Calendar).TradeDate
	for _, e := range []struct {
		kind journal.Kind
		body any
	}{
		{journal.KindGenesis, journal.Genesis{Broker: "paper", Cash: scene.Cash, Currency: doc.Currency, Version: "bound", Who: "operator"}},
		{journal.KindLimits, journal.Limits{Fingerprint: doc.Fingerprint, Text: string(doc.Canonical), Who: "operator"}},
		{journal.KindOpen, journal.Open{Equity: scene.Cash, Source: "marks", TradeDate: date.String()}},
		{journal.KindReconcile, journal.Reconcile{AsOf: journal.At(d.now), Cash: scene.Cash, Whole: true}},
	} {
		if err := d.put(e.kind, e.body); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// put folds the next entry.
func (d *desk) put(kind journal.Kind, body any) error {
	s := d.state
	in := s.Fingerprint
	if kind == journal.KindGenesis {
		in = ""
	}
	e, _, h, err := journal.SealEntry(s.Account, s.Seq+1, s.Head, d.now, in, kind, body)
	if err != nil {
		return err
	}
	return s.ApplyEntry(&e, h)
}

func (d *desk) quote(q *Quote) market.Quote {
	return market.Quote{
		Symbol: q.Symbol, Bid: q.Bid, Ask: q.Ask, HasBid: true, HasAsk: true, Currency: d.doc.Currency, Feed: "scene",
		At: d.now, Present: true,
	}
}

// share is the instrument that a symbol is.
func (s *Scene) share(symbol, currency string) order.Instrument {
	return order.Instrument{Symbol: symbol, Class: order.USEquity, Currency: currency, Multiplier: money.QuantityFromInt(1), Active: true}
}

// request is what the engine is asked for a step.
func (d *desk) request(q *Quote, side order.Side, quantity money.Quantity, limit money.Price) *rail.Request {
	now := d.quote(q)
	req := &rail.Request{
		Intent: order.Intent{
			Action: order.ActionNew, Account: d.doc.Account, Symbol: q.Symbol, Side: side, Type: order.Limit,
			Quantity: quantity, LimitPrice: limit, TimeInForce: d.lasts(), ClientOrderID: "bound-" + strconv.Itoa(d.seq),
		},
		Now: d.now, InstrumentAsked: true, InstrumentKnown: true, Instrument: d.scene.share(q.Symbol, d.doc.Currency),
		Quote: now, LastValid: now, PaperBroker: true, AtomicReplace: true, ControlMode: account.Active,
		Broker: rail.BrokerFigures{Present: true, Cash: d.state.Cash, BuyingPower: d.free, At: d.now},
	}
	for i := range d.scene.Quotes {
		if m := &d.scene.Quotes[i]; m.Symbol != q.Symbol {
			req.Marks = append(req.Marks, rail.Mark{Symbol: m.Symbol, Bid: m.Bid, Ask: m.Ask, At: d.now})
		}
	}
	return req
}

// lasts is a time in force that the document lists; ioc last, since it may not fill.
func (d *desk) lasts() order.TimeInForce {
	for _, t := range []order.TimeInForce{order.Day, order.GTC, order.IOC} {
		for _, listed := range d.doc.Instrument.TimesInForce {
			if listed == t {
				return t
			}
		}
	}
	return order.Day
}

// ask judges without consequences.
func (d *desk) ask(q *Quote, side order.Side, quantity money.Quantity, limit money.Price) risk.Decision {
	d.asked++
	return risk.Decide(d.state, d.doc, d.request(q, side, quantity, limit), d.scene.Calendar)
}

// place judges, journals what it came to, and fills what was allowed.
func (d *desk) place(q *Quote, side order.Side, quantity money.Quantity, limit money.Price) (bool, error) {
	if side == order.Buy && limit.Cmp(q.Ask) < 0 || side == order.Sell && limit.Cmp(q.Bid) > 0 {
		return false, nil // it would not trade in this market
	}
	d.asked++
	req := d.request(q, side, quantity, limit)
	got := risk.Decide(d.state, d.doc, req, d.scene.Calendar)
	body := record.Decision(req, &got, record.Origin{
		Door: "bound", RawDigest: strings.Repeat("0", 64), State: strings.Repeat("0", 64), Calendar: d.scene.Calendar.Digest(),
		Clock: journal.Clock{Wall: journal.At(d.now)},
	})
	d.seq++
	if got.Allowed() {
		body.ReplyBy = journal.At(d.now.Add(30 * time.Second))
	}
	if err := d.put(journal.KindDecision, body); err != nil {
		return false, err
	}
	seq := d.state.Seq
	if err := d.effects(&got); err != nil || !got.Allowed() {
		return false, err
	}
	if err := d.put(journal.KindOutcome, journal.Outcome{
		Decision: seq, BrokerID: "b" + strconv.FormatUint(seq, 10), Result: journal.ResultAccepted,
	}); err != nil {
		return false, err
	}
	if err := d.put(journal.KindFill, journal.Fill{
		OrderID:     d.doc.Account + "/" + strconv.FormatUint(seq, 10),
		ExecutionID: "x" + strconv.FormatUint(seq, 10), ExecutedAt: journal.At(d.now), Quantity: quantity, Price: limit,
	}); err != nil {
		return false, err
	}
	d.plan = append(d.plan, Step{After: d.now.Sub(d.scene.Opens), Symbol: q.Symbol, Side: side, Quantity: quantity, Limit: limit})
	d.tally.order()
	d.tally.trade(d.now.Sub(d.scene.Opens), q.Symbol, side == order.Sell, rat(quantity), rat(limit))
	d.free = d.tally.free()
	return true, nil
}

// effects are the entries that a decision brings with it, as the gate writes them.
func (d *desk) effects(got *risk.Decision) error {
	for _, e := range got.Effects {
		var err error
		switch e.Kind {
		case rail.EffectLatch:
			err = d.put(journal.KindLatch, journal.Latch{Rail: string(e.Rail), TradeDate: got.Session.TradeDate.String()})
		case rail.EffectReduceOnly:
			if d.state.Mode == account.Active {
				err = d.put(journal.KindMode, journal.Mode{
					By: string(e.Rail), Mode: journal.ModeReduceOnly, Reason: "tripped by " + string(e.Rail), Who: "bound",
				})
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// held is the position in a symbol.
func (d *desk) held(symbol string) money.Quantity {
	if h := d.state.Holding(symbol); h != nil {
		return h.Position
	}
	return money.Quantity{}
}

// tally is harm as it is counted from trades alone.
type tally struct {
	quotes   map[string]*tallied
	cash     *big.Rat
	begun    *big.Rat
	orders   int
	shares   *big.Rat
	turnover *big.Rat
	overpaid *big.Rat
	peak     *big.Rat
	curve    []Point
}

// tallied is one symbol of a tally.
type tallied struct{ bid, ask, held, peak, low *big.Rat }

// Point is the gross exposure after a trade.
type Point struct {
	After time.Duration
	Gross *big.Rat
}

func newTally(s *Scene) tally {
	t := tally{
		quotes: map[string]*tallied{}, cash: rat(s.Cash), begun: rat(s.Cash),
		shares: new(big.Rat), turnover: new(big.Rat), overpaid: new(big.Rat), peak: new(big.Rat),
	}
	for _, q := range s.Quotes {
		t.quotes[q.Symbol] = &tallied{rat(q.Bid), rat(q.Ask), new(big.Rat), new(big.Rat), new(big.Rat)}
	}
	return t
}

func (t *tally) order() { t.orders++ }

func (t *tally) trade(after time.Duration, symbol string, sells bool, quantity, price *big.Rat) {
	q := t.quotes[symbol]
	worth := times(quantity, price)
	t.shares.Add(t.shares, quantity)
	t.turnover.Add(t.turnover, worth)
	mid := over(plus(q.bid, q.ask), whole(2))
	off := minus(price, mid)
	t.overpaid.Add(t.overpaid, times(off.Abs(off), quantity))
	if sells {
		t.cash.Add(t.cash, worth)
		q.held.Sub(q.held, quantity)
	} else {
		t.cash.Sub(t.cash, worth)
		q.held.Add(q.held, quantity)
	}
	if q.held.Cmp(q.peak) > 0 {
		q.peak.Set(q.held)
	}
	if q.held.Cmp(q.low) < 0 {
		q.low.Set(q.held)
	}
	gross := t.gross()
	if gross.Cmp(t.peak) > 0 {
		t.peak.Set(gross)
	}
	t.curve = append(t.curve, Point{after, gross})
}

func (t *tally) gross() *big.Rat {
	sum := new(big.Rat)
	for _, q := range t.quotes {
		sum.Add(sum, times(new(big.Rat).Abs(q.held), q.ask))
	}
	return sum
}

// loss is what equity is less than at the beginning, longs at bid and shorts at ask.
func (t *tally) loss() *big.Rat {
	equity := new(big.Rat).Set(t.cash)
	for _, q := range t.quotes {
		if q.held.Sign() > 0 {
			equity.Add(equity, times(q.held, q.bid))
		} else {
			equity.Add(equity, times(q.held, q.ask))
		}
	}
	return minus(t.begun, equity)
}

// free is the broker's figure: cash less what is short, at ask.
func (t *tally) free() money.Notional {
	sum := new(big.Rat).Set(t.cash)
	for _, q := range t.quotes {
		if q.held.Sign() < 0 {
			sum.Add(sum, times(q.held, q.ask))
		}
	}
	if sum.Sign() < 0 {
		return money.Notional{}
	}
	n, err := money.ParseNotional(trimmed(down(sum, big.NewRat(1, 1_000_000_000)).FloatString(9)))
	if err != nil {
		return money.Notional{}
	}
	return n
}

// of is what the tally comes to by a measure.
func (t *tally) of(m Measure) *big.Rat {
	switch m {
	case Shares:
		return t.shares
	case Exposure:
		return t.peak
	case Turnover:
		return t.turnover
	case Orders:
		return whole(t.orders)
	case Overpaid:
		return t.overpaid
	}
	return t.loss()
}
