package bound

import (
	"math/big"
	"slices"
	"time"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// Bounds of the search. A run is one plan from the flat account on.
const (
	// askedMax is how many decisions a search over one horizon may ask for.
	askedMax = 220_000
	// ordersMax is how many orders a plan may have. It is there for limits without a pace.
	ordersMax = 2_000
	beamWide  = 3 // best policies of each measure that are varied
	variants  = 2 // of each
)

// policy is how one run decides what to try next.
type policy struct {
	symbols []int // of the scene, in the order in which they are tried
	full    bool  // open only orders of the full size, or wait
	edge    bool  // open at the far end of the collar instead of the quote
	give    bool  // exit at the far end of the collar
	turn    bool  // when positions are full, close everything and begin again
	sell    bool  // close what is left at the end
	short   bool  // open by selling
	crumbs  bool  // exit in the smallest orders
	wash    bool  // close everything in each minute
	most    int   // openings stop at so many orders; 0: ordersMax
}

// run is what a policy came to.
type run struct {
	policy policy
	tally  tally
	plan   []Step
}

// chance is a deterministic source of choices: SplitMix64.
type chance struct{ state uint64 }

func (c *chance) below(n int) int {
	c.state += 0x9e3779b97f4a7c15
	x := c.state
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int((x ^ x>>31) % uint64(n))
}

// search runs a first set of policies, then varies the best of each measure, and returns
// the best run of each.
func search(doc *limits.Document, scene *Scene, h horizon, seed uint64) (map[Measure]*run, error) {
	var runs []*run
	asked := 0
	try := func(p policy) error {
		if asked > askedMax {
			return nil
		}
		r, n, err := play(doc, scene, h, p)
		asked += n
		if err == nil {
			runs = append(runs, r)
		}
		return err
	}
	for _, p := range firstPolicies(doc, scene) {
		if err := try(p); err != nil {
			return nil, err
		}
	}
	dice := chance{seed}
	for _, m := range Measures() {
		best := ranked(runs, m)
		for _, r := range best[:min(beamWide, len(best))] {
			for range variants {
				if err := try(vary(r.policy, &dice, len(scene.Quotes))); err != nil {
					return nil, err
				}
			}
		}
	}
	out := map[Measure]*run{}
	for _, m := range Measures() {
		if best := ranked(runs, m); len(best) > 0 {
			out[m] = best[0]
		}
	}
	return out, nil
}

func ranked(runs []*run, m Measure) []*run {
	out := slices.Clone(runs)
	slices.SortStableFunc(out, func(a, b *run) int { return b.tally.of(m).Cmp(a.tally.of(m)) })
	return out
}

// firstPolicies are the plain ones: cheapest first, dearest first, tight or wide, with
// turning or without.
func firstPolicies(doc *limits.Document, scene *Scene) []policy {
	cheap := make([]int, len(scene.Quotes))
	for i := range cheap {
		cheap[i] = i
	}
	slices.SortStableFunc(cheap, func(a, b int) int { return scene.Quotes[a].Ask.Cmp(scene.Quotes[b].Ask) })
	dear := slices.Clone(cheap)
	slices.Reverse(dear)
	var out []policy
	sides := []bool{false}
	if doc.Instrument.AllowShort {
		sides = append(sides, true)
	}
	for _, short := range sides {
		for _, symbols := range [][]int{dear, cheap} {
			if len(symbols) == 0 {
				continue
			}
			for _, edge := range []bool{false, true} {
				p := policy{symbols: symbols, edge: edge, give: edge, short: short, turn: true, sell: true}
				out = append(out, policy{symbols: symbols, edge: edge, short: short}, p)
				p.full = true
				out = append(out, p)
				p.wash = true
				out = append(out, p)
				p.symbols, p.wash = symbols[:1], false
				out = append(out, p)
			}
		}
		if len(cheap) > 0 {
			out = append(out, policy{symbols: cheap, short: short, sell: true, crumbs: true})
		}
	}
	return out
}

func vary(p policy, dice *chance, symbols int) policy {
	p.symbols = slices.Clone(p.symbols)
	switch dice.below(8) {
	case 0:
		p.full = !p.full
	case 1:
		p.edge = !p.edge
	case 2:
		p.give = !p.give
	case 3:
		p.turn = !p.turn
	case 4:
		p.symbols = []int{dice.below(symbols)}
	case 5:
		i, j := dice.below(len(p.symbols)), dice.below(len(p.symbols))
		p.symbols[i], p.symbols[j] = p.symbols[j], p.symbols[i]
	case 6:
		p.wash = !p.wash
	default:
		p.crumbs = !p.crumbs
	}
	return p
}

// Why an opening was not possible.
type halt int

const (
	opening  halt = iota // it was
	later                // a minute's budget is spent
	crowded              // positions, exposure or cash are full
	finished             // nothing more opens on this day
)

// forTheDay are the rails that no waiting and no closing satisfies.
func forTheDay() []string {
	return []string{
		"max_orders_per_day", "max_notional_per_day", "max_daily_loss", "max_drawdown", "kill_switch", "repeated_execution",
	}
}

// forTheMinute are those that a minute's waiting does.
func forTheMinute() []string {
	return []string{"max_orders_per_minute", "max_notional_per_minute", "max_messages_per_minute", "duplicate_order"}
}

// play runs one policy through the horizon. It trades at the first instant of each
// minute, where the minute before has just left the window.
func play(doc *limits.Document, scene *Scene, h horizon, p policy) (*run, int, error) {
	d, err := newDesk(doc, scene)
	if err != nil {
		return nil, 0, err
	}
	a := &attacker{desk: d, policy: p}
	stop := opening
	idle := 0
	for minute := 0; minute < h.minutes && err == nil && idle < 3; minute++ {
		d.now = scene.Opens.Add(time.Duration(minute) * time.Minute)
		before := len(d.plan)
		if stop != finished {
			stop, err = a.open()
		}
		if err == nil && (p.wash || p.sell && (stop == finished || minute == h.minutes-1)) {
			_, err = a.close()
		}
		idle++
		if len(d.plan) > before {
			idle = 0
		}
	}
	return &run{policy: p, tally: d.tally, plan: d.plan}, d.asked, err
}

// attacker is a policy at a desk.
type attacker struct {
	*desk
	policy policy
}

func (a *attacker) sides() (in, out order.Side) {
	if a.policy.short {
		return order.Sell, order.Buy
	}
	return order.Buy, order.Sell
}

// open opens until something stops it; when positions are full it turns, if it may.
func (a *attacker) open() (halt, error) {
	turns := 0
	for {
		if most := a.policy.most; len(a.plan) >= ordersMax || most > 0 && len(a.plan) >= most {
			return finished, nil
		}
		why, err := a.openOne()
		if err != nil || why == later || why == finished {
			return why, err
		}
		if why == opening {
			continue
		}
		if !a.policy.turn || turns > 8 {
			return later, nil
		}
		turns++
		closed, err := a.close()
		if err != nil || !closed {
			return later, err
		}
	}
}

// openOne places the first order that passes, over the symbols in turn. The reason is the
// one that leaves most hope.
func (a *attacker) openOne() (halt, error) {
	hope := finished
	for _, i := range a.policy.symbols {
		why, err := a.openIn(&a.scene.Quotes[i])
		if err != nil || why == opening {
			return why, err
		}
		if why == crowded || hope == finished {
			hope = why
		}
	}
	return hope, nil
}

func (a *attacker) openIn(q *Quote) (halt, error) {
	side, _ := a.sides()
	price := a.price(q, side, a.policy.edge, false)
	largest := a.sizes(q)
	for range duplicatesMax {
		size, got := a.biggest(q, side, price, largest)
		if size.IsZero() {
			if refused(&got, "duplicate_order") {
				price = a.nudge(q, side, price)
				continue
			}
			return reason(&got), nil
		}
		if a.policy.full && size.Cmp(largest) < 0 {
			got := a.ask(q, side, largest, price)
			return reason(&got), nil
		}
		ok, err := a.place(q, side, size, price)
		if err != nil || ok {
			return opening, err
		}
		return later, nil
	}
	return later, nil
}

// duplicatesMax is how often an order that repeats another is changed by a step.
const duplicatesMax = 24

// sizes is the largest order that could ever pass, by the limits on one order.
func (a *attacker) sizes(q *Quote) money.Quantity {
	f := a.doc.For(q.Symbol)
	most := money.QuantityFromInt(100_000)
	if m := f.Size.MaxOrderQuantity; m.On {
		most = money.MinQuantity(most, m.Value)
	}
	one := money.QuantityFromInt(1)
	for _, m := range []limits.Limit[money.Notional]{f.Size.MaxOrderNotional, a.doc.Session.MaxNotionalPerMinute} {
		if !m.On {
			continue
		}
		side, _ := a.sides()
		n, ok := m.Value.LargestQuantity(a.price(q, side, a.policy.edge, false), one, a.step(q))
		if ok {
			most = money.MinQuantity(most, n)
		}
	}
	return a.floor(q, most)
}

// step is what the quantities it tries are multiples of.
func (a *attacker) step(q *Quote) money.Quantity {
	one := money.QuantityFromInt(1)
	if s := a.doc.For(q.Symbol).Size.QuantityStep; s.On {
		if rat(s.Value).IsInt() || a.doc.Instrument.AllowFractional {
			return s.Value
		}
	} else if a.doc.Instrument.AllowFractional {
		return money.MustQuantity("0.001")
	}
	return one
}

func (a *attacker) floor(q *Quote, x money.Quantity) money.Quantity {
	return quantity(down(rat(x), rat(a.step(q))))
}

// quantity is the quantity of a fraction, rounded down.
func quantity(x *big.Rat) money.Quantity {
	n, err := money.ParseQuantity(trimmed(down(x, big.NewRat(1, 1_000_000_000)).FloatString(9)))
	if err != nil {
		return money.Quantity{}
	}
	return n
}

// biggest is the largest quantity up to most that passes now, by halving; zero with the
// answer to the smallest.
func (a *attacker) biggest(q *Quote, side order.Side, price money.Price, most money.Quantity) (money.Quantity, risk.Decision) {
	if most.IsPositive() {
		if got := a.ask(q, side, most, price); got.Allowed() {
			return most, got
		} else if ids := got.Refusing(); len(ids) == 1 && ids[0] == "duplicate_order" {
			return money.Quantity{}, got
		}
	}
	unit := rat(a.step(q))
	low, high := whole(0), over(rat(most), unit) // in steps: low passes, high does not
	var first risk.Decision
	if first = a.ask(q, side, a.step(q), price); !first.Allowed() && !refused(&first, "min_order_notional") && !refused(&first, "duplicate_order") {
		return money.Quantity{}, first
	}
	for minus(high, low).Cmp(whole(1)) > 0 {
		middle := down(over(plus(low, high), whole(2)), whole(1))
		got := a.ask(q, side, quantity(times(middle, unit)), price)
		if got.Allowed() || refused(&got, "min_order_notional") || refused(&got, "duplicate_order") {
			low = middle
		} else {
			high = middle
		}
	}
	size := quantity(times(low, unit))
	if size.IsZero() {
		return size, first
	}
	if got := a.ask(q, side, size, price); !got.Allowed() {
		return money.Quantity{}, got
	}
	return size, first
}

func refused(d *risk.Decision, id string) bool { return slices.Contains(d.Refusing(), id) }

// reason reads a refusal.
func reason(d *risk.Decision) halt {
	ids := d.Refusing()
	has := func(list []string) bool {
		return slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(list, id) })
	}
	switch {
	case has(forTheDay()):
		return finished
	case has(forTheMinute()):
		return later
	case has([]string{
		"max_position_qty", "max_position_notional", "max_gross_exposure", "max_net_exposure", "max_concentration", "insufficient_buying_power",
	}):
		return crowded
	}
	return finished
}

// price is an order's limit: at the quote, or at the last step inside the collar.
func (a *attacker) price(q *Quote, side order.Side, edge, exit bool) money.Price {
	price := q.Ask
	if side == order.Sell {
		price = q.Bid
	}
	band := a.doc.For(q.Symbol).Collar.LimitPriceCollar
	if exit {
		band = a.doc.For(q.Symbol).Collar.ExitPriceCollar
	}
	if !edge || !band.On {
		return price
	}
	far, ok := money.HighestWithinBandAbove(price, band.Value, a.tick(price))
	if side == order.Sell {
		far, ok = money.LowestWithinBandBelow(price, band.Value, a.tick(price))
	}
	if !ok || !far.IsPositive() {
		return price
	}
	return far
}

func (a *attacker) tick(at money.Price) money.Price {
	step := a.doc.Collar.PriceStep
	switch {
	case step.On && !step.Value.USEquity:
		return step.Value.Step
	case at.Cmp(money.PriceFromInt(1)) < 0:
		return money.MustPrice("0.0001")
	}
	return money.MustPrice("0.01")
}

// nudge moves a price by a step, so that the order repeats no other: outwards from the
// quote, inwards from the collar's end.
func (a *attacker) nudge(q *Quote, side order.Side, price money.Price) money.Price {
	up := side == order.Buy
	if a.policy.edge {
		up = !up
	}
	next, ok := price.Sub(a.tick(price))
	if up {
		next, ok = price.Add(a.tick(price))
	}
	// Short of the quote it would rest, which no plan does.
	if !ok || !next.IsPositive() || side == order.Buy && next.Cmp(q.Ask) < 0 || side == order.Sell && next.Cmp(q.Bid) > 0 {
		return price
	}
	return next
}

// closesMax is how many orders a plan may have with its exits.
func (a *attacker) closesMax() int {
	if a.policy.most > 0 {
		return 2 * a.policy.most
	}
	return 2 * ordersMax
}

// close sends reducing orders until nothing is held or something refuses.
func (a *attacker) close() (bool, error) {
	_, side := a.sides()
	closed := false
	for _, i := range a.policy.symbols {
		q := &a.scene.Quotes[i]
		price := a.price(q, side, a.policy.give, true)
		for tries := 0; tries < duplicatesMax && len(a.plan) < a.closesMax(); {
			held := a.held(q.Symbol).Abs()
			if held.IsZero() {
				break
			}
			size := held
			if a.policy.crumbs {
				size = money.MinQuantity(held, a.step(q))
			}
			size, got := a.biggest(q, side, price, size)
			if size.IsZero() {
				if !refused(&got, "duplicate_order") {
					break
				}
				tries++
				price = a.backward(q, side, price)
				continue
			}
			ok, err := a.place(q, side, size, price)
			if err != nil {
				return closed, err
			}
			if !ok {
				break
			}
			closed = true
		}
	}
	return closed, nil
}

// backward is nudge for an exit.
func (a *attacker) backward(q *Quote, side order.Side, price money.Price) money.Price {
	edge := a.policy.edge
	a.policy.edge = a.policy.give
	next := a.nudge(q, side, price)
	a.policy.edge = edge
	return next
}
