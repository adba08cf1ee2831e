package bound

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// Options of a report.
type Options struct {
	Cash    money.Notional // of the flat account that the attacker begins with
	Symbols []string       // none: all that the document lists
	Seed    uint64         // of the attacker's search
	Page    bool           // make Report.Page
	// Progress is called after each horizon; nil is fine.
	Progress func(done, total int)
}

// Schema is the version of the report's JSON.
const Schema = "rails.limits-bound/v1"

// Report is what a document allows at the most.
type Report struct {
	Schema      string    `json:"schema"`
	Fingerprint string    `json:"fingerprint"`
	Currency    string    `json:"currency"`
	Cash        string    `json:"cash"`
	Seed        uint64    `json:"seed"`
	Model       []string  `json:"model"` // the price model, in sentences
	Quotes      []Quoted  `json:"quotes"`
	Horizons    []Horizon `json:"horizons"`
	Notes       []string  `json:"notes"` // where these limits allow more than their names say
	Page        []byte    `json:"-"`
}

// Quoted is a symbol's quote, which stands still.
type Quoted struct {
	Symbol string `json:"symbol"`
	Bid    string `json:"bid"`
	Ask    string `json:"ask"`
}

// Horizon is one length of time.
type Horizon struct {
	Name      string     `json:"name"` // minute, minute_edge or day
	Words     string     `json:"words"`
	Harms     []Harm     `json:"harms"`
	Positions []Position `json:"positions"`

	curve []Point // gross exposure of the run that reached most
	spans time.Duration
}

// Harm is one measure over one horizon.
type Harm struct {
	Measure   Measure `json:"measure"`
	Unit      string  `json:"unit"`
	Unbounded bool    `json:"unbounded"`
	// WouldBound are keys that are off, each of which would bound the measure by itself.
	WouldBound []string `json:"would_bound,omitempty"`
	Bound      string   `json:"bound,omitempty"`   // rounded up
	Binding    []string `json:"binding,omitempty"` // keys that the bound comes from
	Tight      string   `json:"tight,omitempty"`   // the one of them that contributes most
	Derivation []Line   `json:"derivation,omitempty"`
	Attained   string   `json:"attained"`          // by the attacker's best plan, in memory
	AtBroker   string   `json:"at_broker"`         // by the same plan through the gate, on the broker's ledger
	Denied     int      `json:"denied"`            // orders of that plan that the gate refused; 0
	Gap        string   `json:"gap_pct,omitempty"` // (bound - attained) / bound, in percent

	bound, attained, atBroker *big.Rat
}

// Line is one inequality of a derivation. All lines, each times its factor, add up to
// the bound.
type Line struct {
	Factor     string   `json:"factor"`
	Inequality string   `json:"inequality"`
	Most       string   `json:"most"`
	Adds       string   `json:"adds"` // factor x most
	Keys       []string `json:"keys"`
	Used       bool     `json:"used"` // the best plan of the arithmetic uses its symbol
}

// Position is the most that can be held of a symbol, long or short.
type Position struct {
	Symbol    string `json:"symbol"`
	Side      string `json:"side"` // long or short
	Unbounded bool   `json:"unbounded"`
	Bound     string `json:"bound,omitempty"`
	Tight     string `json:"tight,omitempty"`
	Attained  string `json:"attained"`
}

// Run bounds a document and attacks it.
func Run(ctx context.Context, doc *limits.Document, o Options) (*Report, error) {
	scene, err := NewScene(doc, o.Cash, o.Symbols)
	if err != nil {
		return nil, err
	}
	r := &Report{
		Schema: Schema, Fingerprint: doc.Fingerprint, Currency: doc.Currency, Cash: o.Cash.String(), Seed: o.Seed,
		Model: model(), Notes: []string{},
	}
	for _, q := range scene.Quotes {
		r.Quotes = append(r.Quotes, Quoted{q.Symbol, q.Bid.String(), q.Ask.String()})
	}
	all := horizons(doc)
	for i := range all {
		h, err := judge(ctx, doc, scene, all[i], o.Seed)
		if err != nil {
			return nil, err
		}
		r.Horizons = append(r.Horizons, *h)
		if o.Progress != nil {
			o.Progress(i+1, len(all))
		}
	}
	r.Notes = notes(doc, r)
	if o.Page {
		if r.Page, err = r.page().HTML(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

type named struct {
	horizon
	name, words string
}

func horizons(doc *limits.Document) []named {
	session := sessionOf(market.XNYS(), doc.Instrument.AllowExtendedHours, !doc.Session.RequireMarketOpen)
	return []named{
		{horizon{1, time.Minute}, "minute", "in any 60 seconds, from a flat account with nothing working"},
		{horizon{2, time.Minute + 1}, "minute_edge", "in 60 seconds and an instant: two windows, where one ends and the next begins"},
		{horizon{int(session / time.Minute), session}, "day", "in one trade date, " + hours(session) + " long"},
	}
}

func hours(d time.Duration) string {
	if d%time.Hour == 0 {
		return fmt.Sprintf("%d hours", d/time.Hour)
	}
	return fmt.Sprintf("%d minutes", d/time.Minute)
}

// model is the price model, as it is printed.
func model() []string {
	return []string{
		"The account begins flat, with the stated cash and nothing working. Every quote stands still at the stated bid and ask, and is always fresh.",
		"An order fills at once and whole, or not at all: a buy at or above the ask and at or below its limit, a sell at or below the bid and at or above its limit. The worst for the account is its own limit, which the collars keep near the quote.",
		"The fair price is the middle of bid and ask. Positions are worth their bid when long and their ask when short; exposure is at ask. There are no fees.",
		"No person resumes, reloads limits or moves cash, and prices do not move by themselves: what a market's fall does to a position that is held comes on top.",
	}
}

// judge bounds every measure over one horizon, and attacks.
func judge(ctx context.Context, doc *limits.Document, scene *Scene, n named, seed uint64) (*Horizon, error) {
	s := newSystem(doc, scene, n.horizon)
	best, err := search(doc, scene, n.horizon, seed)
	if err != nil {
		return nil, err
	}
	h := &Horizon{Name: n.name, Words: n.words, spans: n.session, Positions: []Position{}}
	again := map[*run]*Rerun{}
	for _, m := range Measures() {
		harm := s.harm(m)
		harm.WouldBound = wouldBound(doc, scene, n.horizon, m, harm.Unbounded)
		if r := best[m]; r != nil {
			if again[r] == nil {
				if again[r], err = rerun(ctx, doc, scene, r.plan); err != nil {
					return nil, err
				}
			}
			harm.reached(r.tally.of(m), again[r].tally.of(m), again[r].Denied)
			if m == Exposure {
				h.curve = r.tally.curve
			}
		} else {
			harm.reached(new(big.Rat), new(big.Rat), 0)
		}
		h.Harms = append(h.Harms, harm)
	}
	for i := range s.legs {
		h.Positions = append(h.Positions, s.greatest(&s.legs[i], best))
	}
	return h, nil
}

func unitOf(m Measure) (unit string, places int) {
	switch m {
	case Shares:
		return "shares", 0
	case Orders:
		return "orders", 0
	}
	return "currency", 2
}

// harm solves one measure.
func (s *system) harm(m Measure) Harm {
	objective := s.objective(m)
	got, rows := s.solve(objective)
	unit, places := unitOf(m)
	out := Harm{Measure: m, Unit: unit, Unbounded: got.unbounded}
	if s.doc.Instrument.AllowFractional && m == Shares {
		places = 3
	}
	if got.unbounded {
		return out
	}
	if got.gaveUp || !got.proves(rows, objective) {
		// A bound without its proof is none; an operator must not read it as one.
		out.Unbounded = true
		return out
	}
	out.bound = got.value
	out.Bound = up(got.value, places)
	most := new(big.Rat)
	for i, y := range got.factors {
		if y.Sign() == 0 {
			continue
		}
		x := &rows[i]
		adds := times(y, x.most)
		out.Derivation = append(out.Derivation, Line{
			Factor: up(y, 4), Inequality: x.text, Most: dec(x.most), Adds: up(adds, 2), Keys: x.keys, Used: s.used(x, got.chosen),
		})
		for _, key := range x.keys {
			if !slices.Contains(out.Binding, key) && s.used(x, got.chosen) {
				out.Binding = append(out.Binding, key)
			}
		}
		if adds.Cmp(most) > 0 && len(x.keys) > 0 {
			most, out.Tight = adds, x.keys[0]
		}
	}
	slices.SortStableFunc(out.Derivation, func(a, b Line) int {
		return boolRank(b.Used) - boolRank(a.Used)
	})
	return out
}

// casesMax is up to which count of orders a day every split of them is a case of its own.
const casesMax = 12

// solve finds the largest sum. Orders are whole: where a day has few, each split of them
// into opening and early reducing orders is solved by itself, and the largest counts. All
// other splits come to less.
func (s *system) solve(objective map[int]*big.Rat) (solution, []row) {
	best, rows := largest(s.rows, objective, s.choices()), s.rows
	day := s.doc.Session.MaxOrdersPerDay
	if best.unbounded || best.gaveUp || !day.On || day.Value > casesMax {
		return best, rows
	}
	for n := 0; n <= day.Value; n++ {
		split := slices.Clone(s.rows)
		for _, part := range [][2]int{{opens, n}, {earlyExits, day.Value - n}} {
			choice, most := part[0], part[1]
			split = append(split, row{
				text: fmt.Sprintf("of %d orders a day, %d open and %d close early: these at most %d", day.Value, n, day.Value-n, most),
				keys: []string{"session.max_orders_per_day"}, coef: s.sum(map[int]*big.Rat{choice: whole(1)}), most: whole(most),
			})
		}
		got := largest(split, objective, s.choices())
		if got.gaveUp || got.unbounded {
			return got, split
		}
		if n == 0 || got.value.Cmp(best.value) > 0 {
			best, rows = got, split
		}
	}
	return best, rows
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}

// used reports whether a row holds anything that the largest sum chooses.
func (s *system) used(r *row, chosen []*big.Rat) bool {
	for at, c := range r.coef {
		if c.Sign() != 0 && chosen[at] != nil && chosen[at].Sign() != 0 {
			return true
		}
	}
	return false
}

// reached notes what the attacker came to.
func (h *Harm) reached(attained, atBroker *big.Rat, denied int) {
	_, places := unitOf(h.Measure)
	if !attained.IsInt() && places == 0 {
		places = 3
	}
	h.attained, h.atBroker, h.Denied = attained, atBroker, denied
	h.Attained, h.AtBroker = attained.FloatString(places), atBroker.FloatString(places)
	if h.bound != nil && h.bound.Sign() > 0 {
		h.Gap = up(over(times(minus(h.bound, attained), whole(100)), h.bound), 2)
	}
}

// greatest is the most that can be held of one leg.
func (s *system) greatest(l *leg, best map[Measure]*run) Position {
	p := Position{Symbol: l.symbol, Side: "long", Attained: "0"}
	if l.short {
		p.Side = "short"
	}
	got := largest(s.rows, s.position(l.symbol, l.short), s.choices())
	switch {
	case got.unbounded, got.gaveUp:
		p.Unbounded = true
	default:
		value := down(got.value, s.unit(l))
		p.Bound = dec(value)
		most := new(big.Rat)
		for i, y := range got.factors {
			if adds := times(y, s.rows[i].most); len(s.rows[i].keys) > 0 && adds.Cmp(most) > 0 {
				most, p.Tight = adds, s.rows[i].keys[0]
			}
		}
	}
	seen := new(big.Rat)
	for _, r := range best {
		q := r.tally.quotes[l.symbol]
		x := q.peak
		if l.short {
			x = neg(q.low)
		}
		if x.Cmp(seen) > 0 {
			seen = x
		}
	}
	p.Attained = dec(seen)
	return p
}

// wouldBound finds the keys that are off, each of which alone would bound a measure.
func wouldBound(doc *limits.Document, scene *Scene, h horizon, m Measure, unbounded bool) []string {
	if !unbounded {
		return nil
	}
	var out []string
	for _, k := range candidates() {
		d := *doc
		d.Symbols = nil // a symbol's own figures only tighten
		if !k.set(&d) {
			continue
		}
		s := newSystem(&d, scene, h)
		if got := largest(s.rows, s.objective(m), s.choices()); !got.unbounded && !got.gaveUp {
			out = append(out, k.key)
		}
	}
	return out
}

type candidate struct {
	key string
	set func(*limits.Document) bool // false: it is on already
}

func turnOn[T any](field func(*limits.Document) *limits.Limit[T], value T) func(*limits.Document) bool {
	return func(d *limits.Document) bool {
		f := field(d)
		if f.On {
			return false
		}
		*f = limits.Limit[T]{Set: true, On: true, Value: value}
		return true
	}
}

// candidates are the keys that can bound anything, in the order of the document.
func candidates() []candidate {
	some, units := money.NotionalFromInt(1_000), money.QuantityFromInt(10)
	type d = *limits.Document
	return []candidate{
		{"size.max_order_qty", turnOn(func(d d) *limits.Limit[money.Quantity] { return &d.Size.MaxOrderQuantity }, units)},
		{"size.max_order_notional", turnOn(func(d d) *limits.Limit[money.Notional] { return &d.Size.MaxOrderNotional }, some)},
		{"position.max_position_qty", turnOn(func(d d) *limits.Limit[money.Quantity] { return &d.Position.MaxPositionQuantity }, units)},
		{"position.max_position_notional", turnOn(func(d d) *limits.Limit[money.Notional] { return &d.Position.MaxPositionNotional }, some)},
		{"position.max_gross_exposure", turnOn(func(d d) *limits.Limit[money.Notional] { return &d.Position.MaxGrossExposure }, some)},
		{"position.require_buying_power", func(d d) bool {
			was := d.Position.RequireBuyingPower
			d.Position.RequireBuyingPower = true
			return !was
		}},
		{"collar.limit_price_collar", turnOn(func(d d) *limits.Limit[money.BasisPoints] { return &d.Collar.LimitPriceCollar }, money.BasisPointsFromInt(100))},
		{"collar.exit_price_collar", turnOn(func(d d) *limits.Limit[money.BasisPoints] { return &d.Collar.ExitPriceCollar }, money.BasisPointsFromInt(100))},
		{"collar.market_order_slippage", turnOn(func(d d) *limits.Limit[money.BasisPoints] { return &d.Collar.MarketOrderSlippage }, money.BasisPointsFromInt(100))},
		{"session.max_orders_per_minute", turnOn(func(d d) *limits.Limit[int] { return &d.Session.MaxOrdersPerMinute }, 10)},
		{"session.max_notional_per_minute", turnOn(func(d d) *limits.Limit[money.Notional] { return &d.Session.MaxNotionalPerMinute }, some)},
		{"session.max_messages_per_minute", turnOn(func(d d) *limits.Limit[int] { return &d.Session.MaxMessagesPerMinute }, 10)},
		{"session.max_orders_per_day", turnOn(func(d d) *limits.Limit[int] { return &d.Session.MaxOrdersPerDay }, 10)},
		{"session.max_notional_per_day", turnOn(func(d d) *limits.Limit[money.Notional] { return &d.Session.MaxNotionalPerDay }, some)},
		{"session.max_daily_loss", turnOn(func(d d) *limits.Limit[money.Notional] { return &d.Session.MaxDailyLoss }, some)},
		{"session.repeated_execution", turnOn(func(d d) *limits.Limit[limits.RepeatedExecution] { return &d.Session.RepeatedExecution },
			limits.RepeatedExecution{Cycles: 10, Window: time.Hour})},
	}
}

// harmOf finds a measure of a horizon.
func (r *Report) harmOf(name string, m Measure) *Harm {
	for i := range r.Horizons {
		for j := range r.Horizons[i].Harms {
			if r.Horizons[i].Name == name && r.Horizons[i].Harms[j].Measure == m {
				return &r.Horizons[i].Harms[j]
			}
		}
	}
	return nil
}

// notes say where limits allow more than a reader of their names expects.
func notes(doc *limits.Document, r *Report) []string {
	out, day := []string{}, &doc.Session
	if h := r.harmOf("day", Loss); day.MaxDailyLoss.On && (h.Unbounded || h.bound.Cmp(rat(day.MaxDailyLoss.Value)) > 0) {
		most := "without bound"
		if !h.Unbounded {
			most = h.Bound
		}
		out = append(out, fmt.Sprintf("session.max_daily_loss of %s stops openings, not the loss: one order more and exits at the far end of collar.exit_price_collar bring it to %s.",
			day.MaxDailyLoss.Value, most))
	}
	if h := r.harmOf("day", Orders); day.MaxOrdersPerDay.On && (h.Unbounded || h.bound.Cmp(whole(day.MaxOrdersPerDay.Value)) > 0) {
		out = append(out, fmt.Sprintf("session.max_orders_per_day of %d counts reducing orders and never refuses them, and a replace is no new order: only the minute's limits bound those.", day.MaxOrdersPerDay.Value))
	}
	if doc.Instrument.AllowShort && doc.Position.RequireBuyingPower && !doc.Position.MaxGrossExposure.On {
		out = append(out, "position.require_buying_power bounds each short sale by the cash and not their sum, since proceeds count at once: position.max_gross_exposure, which is off, would.")
	}
	if day.MaxNotionalPerMinute.On && (!doc.Position.MaxOpenOrders.On || doc.Position.MaxOpenOrders.Value > 1) {
		out = append(out, "A minute counts orders when they are decided. Orders left working in earlier minutes can fill in a later one beside what is new in it, as far as position.max_open_orders lets them stand.")
	}
	if !doc.Collar.PassivePriceCollar.On && slices.Contains(doc.Instrument.OrderTypes, order.Limit) {
		out = append(out, "collar.passive_price_collar is off: an order may wait at any distance from the market and fill when a price falls to it, which a quote that stands still does not show.")
	}
	return out
}
