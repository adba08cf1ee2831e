package risk_test

import (
	"math/big"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// someBook draws an account with positions and outside orders in a few instruments, and
// a request for AAPL with a mark of each.
func someBook(tb testing.TB, t *rapid.T) (*book, *rail.Request) {
	names := []string{"AAPL", "S100", "S101", "S102"}
	var positions []journal.Position
	var marks []rail.Mark
	for _, name := range names {
		if n := rapid.IntRange(-300, 300).Draw(t, "held "+name); n != 0 {
			positions = append(positions, held(name, strconv.Itoa(n), "200"))
		}
		bid := rapid.IntRange(15_000, 25_000).Draw(t, "bid")
		ask := bid + rapid.IntRange(0, 300).Draw(t, "spread")
		if name != "AAPL" {
			marks = append(marks, mark(name, hundredths(bid), hundredths(ask)))
		}
	}
	b := open(tb, strconv.Itoa(rapid.IntRange(0, 400_000).Draw(t, "cash")), positions...)
	for i := range rapid.IntRange(0, 5).Draw(t, "orders") {
		b.outside(i, rapid.SampledFrom(names).Draw(t, "symbol"), someSide(t),
			rapid.IntRange(1, 200).Draw(t, "size"), rapid.IntRange(15_000, 25_000).Draw(t, "limit"),
			rapid.SampledFrom([]string{"", "", "g1", "g2"}).Draw(t, "group"))
	}
	req := b.new(someSide(t), strconv.Itoa(rapid.IntRange(1, 400).Draw(t, "quantity")), hundredths(rapid.IntRange(19_500, 20_500).Draw(t, "price")))
	req.Marks = marks
	req.Intent.Type = rapid.SampledFrom([]order.Type{order.Limit, order.Limit, order.Market, order.Stop, order.StopLimit}).Draw(t, "type")
	if !req.Intent.Type.HasLimit() {
		req.Intent.LimitPrice = money.Price{}
	}
	if req.Intent.Type.HasStop() {
		req.Intent.StopPrice = prc(hundredths(rapid.IntRange(19_500, 20_500).Draw(t, "stop")))
	}
	return b, req
}

func someSide(t *rapid.T) order.Side {
	return rapid.SampledFrom([]order.Side{order.Buy, order.Sell}).Draw(t, "side")
}

func hundredths(n int) string { return strconv.Itoa(n/100) + "." + strconv.Itoa(100 + n%100)[1:] }

// outside lets an order appear that someone placed at the broker.
func (b *book) outside(i int, symbol string, side order.Side, size, limit int, group string) {
	id := "e" + strconv.Itoa(i)
	b.apply(journal.KindExternal, journal.External{ID: "event-" + id, Order: &journal.BrokerOrder{
		BrokerID: id, Group: group, Instrument: share(symbol), Side: side, Type: order.Limit,
		Quantity: qty(strconv.Itoa(size)), LimitPrice: prc(hundredths(limit)), TimeInForce: order.GTC,
	}})
}

func same(t *rapid.T, what string, a, b risk.Decision) {
	t.Helper()
	opts := cmp.Options{
		cmp.Comparer(func(a, b market.SessionInfo) bool { return a == b }),
		cmpopts.EquateComparable(money.Price{}, money.Quantity{}, money.Notional{}),
	}
	if diff := cmp.Diff(a, b, opts); diff != "" {
		t.Fatalf("%s: %s", what, diff)
	}
}

func TestDecideIsAFunction(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b, req := someBook(t, rt)
		before := b.s.Digest()
		first := b.decide(req)
		same(rt, "decided twice", first, b.decide(req))
		req.Marks = rapid.Permutation(req.Marks).Draw(rt, "marks")
		same(rt, "marks in another order", first, b.decide(req))
		if b.s.Digest() != before {
			rt.Fatal("deciding changed the state")
		}
		if first.Allowed() != (first.Verdict == risk.Allowed && len(first.Refusing())+len(first.Faults()) == 0) {
			rt.Fatalf("%s with refusing %v, faults %v", first.Verdict, first.Refusing(), first.Faults())
		}
	})
}

// TestExposureAgainstTheSumByHand compares gross, net and equity with sums over the
// instruments in fractions of any size.
func TestExposureAgainstTheSumByHand(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b, req := someBook(t, rt)
		nothingAllowed(&b.doc.Position.MaxGrossExposure)
		nothingAllowed(&b.doc.Position.MaxNetExposure)
		d := b.decide(req)
		if d.Reducing || d.Integrity != "" {
			return
		}
		gross, long, short, equity := b.byHand(req, &d)
		expect(rt, "equity", d.Equity.String(), equity)
		for _, f := range d.Findings {
			switch f.Rail {
			case rail.MaxGrossExposure:
				expect(rt, "gross", f.Observed, gross)
			case rail.MaxNetExposure:
				if net := larger(long, short); net.Sign() > 0 {
					expect(rt, "net", f.Observed, net)
				}
			}
		}
	})
}

func expect(t *rapid.T, what, got string, want *big.Rat) {
	t.Helper()
	if r, ok := new(big.Rat).SetString(got); !ok || r.Cmp(want) != 0 {
		t.Fatalf("%s %s, want %s", what, got, want.FloatString(9))
	}
}

// byHand is deliberately simple: every order on its own, in fractions.
func (b *book) byHand(req *rail.Request, d *risk.Decision) (gross, long, short, equity *big.Rat) {
	gross, long, short = new(big.Rat), new(big.Rat), new(big.Rat)
	equity = rat(b.s.Cash)
	names := []string{"AAPL", "S100", "S101", "S102"}
	for _, name := range names {
		bid, ask := req.Quote.Bid, req.Quote.Ask
		for _, m := range req.Marks {
			if m.Symbol == name {
				bid, ask = m.Bid, m.Ask
			}
		}
		own := name == req.Intent.Symbol
		position := new(big.Rat)
		legs := map[string]*big.Rat{} // side and group to the largest, ungrouped ones by their own name
		dear := map[string]*big.Rat{} // of the own instrument: what a leg is worth beyond the order's value
		if h := b.s.Holding(name); h != nil {
			position = rat(h.Position)
			for i, o := range h.Orders {
				key := strconv.Itoa(i)
				if o.Group != "" {
					key = o.Group
				}
				price := money.MaxPrice(ask, o.RiskPrice)
				side := o.Side.String() + " "
				if own {
					beyond := new(big.Rat).Sub(rat(price), rat(money.MaxPrice(ask, d.RiskPrice)))
					dear[side+key] = larger(dear[side+key], times(rat(o.Quantity), larger(new(big.Rat), beyond)))
					price = money.PriceFromInt(1) // valued below, in units until then
				}
				legs[side+key] = larger(legs[side+key], times(rat(o.Quantity), rat(price)))
			}
		}
		if position.Sign() < 0 {
			equity.Add(equity, times(position, rat(ask)))
		} else {
			equity.Add(equity, times(position, rat(bid)))
		}
		value := rat(ask)
		worstLong, worstShort := times(position, value), times(new(big.Rat).Neg(position), value)
		if own {
			value = rat(money.MaxPrice(ask, d.RiskPrice))
			worstLong, worstShort = new(big.Rat).Set(position), new(big.Rat).Neg(position)
			legs[req.Intent.Side.String()+" new"] = rat(req.Intent.Quantity)
		}
		for _, key := range slices.Sorted(keys(legs)) {
			if key[:3] == "buy" {
				worstLong.Add(worstLong, legs[key])
			} else {
				worstShort.Add(worstShort, legs[key])
			}
		}
		if own {
			long, short := worstLong.Sign() > 0, worstShort.Sign() > 0
			worstLong, worstShort = times(worstLong, value), times(worstShort, value)
			for _, key := range slices.Sorted(keys(dear)) {
				switch {
				case key[:3] == "buy" && long:
					worstLong.Add(worstLong, dear[key])
				case key[:3] != "buy" && short:
					worstShort.Add(worstShort, dear[key])
				}
			}
		}
		gross.Add(gross, larger(worstLong, worstShort))
		long.Add(long, worstLong)
		short.Add(short, worstShort)
	}
	return gross, long, short, equity
}

func rat(n interface{ String() string }) *big.Rat {
	r, _ := new(big.Rat).SetString(n.String())
	return r
}

func times(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }

func larger(a, b *big.Rat) *big.Rat {
	if a == nil || a.Cmp(b) < 0 {
		return b
	}
	return a
}

func keys(m map[string]*big.Rat) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// tighten makes one figure of the document tighter. The slippage and the quantity step
// are left out: they are also what other rails measure with.
func tighten(t *rapid.T, d *limits.Document) {
	percent := int64(rapid.IntRange(0, 99).Draw(t, "percent"))
	less := func(n money.Notional) money.Notional {
		out, _ := n.Share(money.PercentFromInt(percent), money.Down)
		return out
	}
	fewer := func(l *limits.Limit[int]) { l.Value = int(int64(l.Value) * percent / 100) }
	band := func(l *limits.Limit[money.BasisPoints]) { l.Value = money.BasisPointsFromInt(percent) }
	for range rapid.IntRange(1, 3).Draw(t, "changes") {
		switch rapid.IntRange(0, 19).Draw(t, "which") {
		case 0:
			d.Size.MaxOrderQuantity.Value = money.QuantityFromInt(percent)
		case 1:
			d.Size.MaxOrderNotional.Value = less(d.Size.MaxOrderNotional.Value)
		case 2:
			d.Size.MinOrderNotional.Value = money.NotionalFromInt(percent * 1000)
		case 3:
			d.Size.MaxOrderPctOfEquity.Value = money.PercentFromInt(percent / 2)
		case 4:
			d.Position.MaxPositionQuantity.Value = money.QuantityFromInt(percent * 5)
		case 5:
			d.Position.MaxPositionNotional.Value = less(d.Position.MaxPositionNotional.Value)
		case 6:
			d.Position.MaxGrossExposure.Value = less(d.Position.MaxGrossExposure.Value)
		case 7:
			d.Position.MaxNetExposure.Value = less(d.Position.MaxNetExposure.Value)
		case 8:
			d.Position.MaxConcentration.Value = money.PercentFromInt(percent * 9 / 10)
		case 9:
			fewer(&d.Position.MaxOpenOrders)
		case 10:
			band(&d.Collar.LimitPriceCollar)
		case 11:
			band(&d.Collar.ExitPriceCollar)
		case 12:
			band(&d.Collar.PassivePriceCollar)
		case 13:
			d.Collar.MaxSpread.Value = money.BasisPointsFromInt(percent / 50)
		case 14:
			d.Instrument.OrderTypes = []order.Type{order.Limit}
		case 15:
			d.Instrument.Sides = []order.Side{order.Sell}
		case 16:
			d.Session.MaxDailyLoss.Value = less(d.Session.MaxDailyLoss.Value)
		case 17:
			d.Instrument.RestrictedSymbols = []string{"AAPL"}
		case 18:
			fewer(&d.Session.MaxMessagesPerMinute)
		default:
			d.Session.MaxNotionalPerMinute.Value = less(d.Session.MaxNotionalPerMinute.Value)
		}
	}
}

func TestTighteningNeverOpens(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b, req := someBook(t, rt)
		if rapid.Bool().Draw(rt, "off before") {
			b.doc.Position.MaxGrossExposure.On = false
			b.doc.Size.MaxOrderPctOfEquity.On = false
		}
		before := b.decide(req)
		b.doc.Position.MaxGrossExposure.On = true
		b.doc.Size.MaxOrderPctOfEquity.On = true
		tighten(rt, b.doc)
		if after := b.decide(req); after.Allowed() && !before.Allowed() {
			rt.Fatalf("allowed by the tighter limits; before: refusing %v, faults %v", before.Refusing(), before.Faults())
		}
	})
}

func TestAnotherOrderOnTheSameSideNeverMakesRoom(t *testing.T) {
	exposure := []rail.ID{
		rail.MaxPositionQty, rail.MaxPositionNotional, rail.MaxGrossExposure, rail.MaxConcentration,
		rail.InsufficientBuyingPower, rail.PositionFlip, rail.ShortNotAllowed, rail.MaxOpenOrders,
	}
	rapid.Check(t, func(rt *rapid.T) {
		b, req := someBook(t, rt)
		tighten(rt, b.doc)
		before := b.decide(req)
		b.outside(99, "AAPL", req.Intent.Side, rapid.IntRange(1, 200).Draw(rt, "more"), 20_000, "")
		after := b.decide(req)
		for i := range before.Findings {
			was, is := before.Findings[i].Status, after.Findings[i].Status
			if slices.Contains(exposure, before.Findings[i].Rail) && was == rail.Deny && is != rail.Deny {
				rt.Fatalf("%s: %s became %s", before.Findings[i].Rail, was, is)
			}
		}
		if after.Reducing && !before.Reducing {
			rt.Fatal("an order that was not reducing became so")
		}
	})
}
