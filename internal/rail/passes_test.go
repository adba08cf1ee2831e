package rail_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/risk"
)

var noon = time.Date(2026, time.March, 18, 16, 0, 0, 0, time.UTC)

func set[T any](v T) limits.Limit[T] { return limits.Limit[T]{Set: true, On: true, Value: v} }

func share(symbol string) order.Instrument {
	return order.Instrument{
		Symbol: symbol, Class: order.USEquity, Currency: "USD", Multiplier: money.QuantityFromInt(1), Active: true,
	}
}

// figures draws limits that orders of a few hundred shares reach.
func figures(t *rapid.T) *limits.Document {
	draw := func(name string, lo, hi int) int64 { return int64(rapid.IntRange(lo, hi).Draw(t, name)) }
	d := &limits.Document{
		Version: 1, Account: "paper", Mode: limits.Paper, Currency: "USD", Calendar: "XNYS",
		Fingerprint: strings.Repeat("ab", 32),
		Instrument: limits.Instrument{
			Symbols: []string{"AAPL"}, AssetClasses: []order.AssetClass{order.USEquity},
			Sides: []order.Side{order.Buy, order.Sell}, OrderTypes: []order.Type{order.Limit},
			TimesInForce: []order.TimeInForce{order.Day}, AllowShort: true,
		},
		Position: limits.Position{
			MaxPositionQuantity: set(money.QuantityFromInt(draw("max_position_qty", 0, 400))),
			MaxPositionNotional: set(money.NotionalFromInt(draw("max_position_notional", 0, 80_000))),
			MaxGrossExposure:    set(money.NotionalFromInt(draw("max_gross", 0, 120_000))),
			MaxNetExposure:      set(money.NotionalFromInt(draw("max_net", 0, 120_000))),
			MaxConcentration:    set(money.PercentFromInt(draw("max_concentration", 0, 100))),
			RequireBuyingPower:  true,
			AllowFlip:           rapid.Bool().Draw(t, "allow_flip"),
		},
		Session: limits.Session{
			MaxNotionalPerMinute: set(money.NotionalFromInt(draw("per_minute", 0, 80_000))),
			MaxNotionalPerDay:    set(money.NotionalFromInt(draw("per_day", 0, 80_000))),
		},
	}
	d.Size.QuantityStep = set(money.QuantityFromInt(draw("step", 1, 7)))
	return d
}

// past folds an account with a position, a holding elsewhere and a working order.
func past(t *rapid.T) *account.State {
	s := account.New("paper")
	put := func(kind journal.Kind, body any) {
		b, h, err := journal.Seal("paper", s.Seq+1, s.Head, noon.Add(-time.Hour), "", kind, body)
		if err == nil {
			err = s.Apply(b, h)
		}
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
	}
	genesis := &journal.Genesis{
		Broker: "paper", Currency: "USD", Cash: money.NotionalFromInt(int64(rapid.IntRange(0, 90_000).Draw(t, "cash"))),
		Version: "test", Who: "test",
	}
	for _, symbol := range []string{"AAPL", "MSFT"} {
		if held := rapid.IntRange(-150, 150).Draw(t, symbol); held != 0 {
			genesis.Positions = append(genesis.Positions, journal.Position{
				Instrument: share(symbol), Quantity: money.QuantityFromInt(int64(held)), Cost: money.PriceFromInt(100),
			})
		}
	}
	if open := rapid.IntRange(0, 100).Draw(t, "open"); open > 0 {
		genesis.Orders = []journal.BrokerOrder{{
			BrokerID: "b1", Instrument: share("AAPL"), LimitPrice: money.PriceFromInt(190),
			Quantity: money.QuantityFromInt(int64(open)), Side: drawSide(t, "open side"),
			TimeInForce: order.GTC, Type: order.Limit,
		}}
	}
	put(journal.KindGenesis, genesis)
	put(journal.KindMode, &journal.Mode{By: journal.ByOperator, Mode: journal.ModeActive, Reason: "test", Who: "test"})
	return s
}

func drawSide(t *rapid.T, name string) order.Side {
	return rapid.SampledFrom([]order.Side{order.Buy, order.Sell}).Draw(t, name)
}

func ask(s *account.State, side order.Side, quantity money.Quantity) *rail.Request {
	quote := func(symbol string) market.Quote {
		return market.Quote{
			Symbol: symbol, Bid: money.MustPrice("199.98"), Ask: money.MustPrice("200.02"), HasBid: true, HasAsk: true,
			Currency: "USD", At: noon.Add(-time.Second), Present: true,
		}
	}
	return &rail.Request{
		Intent: order.Intent{
			Action: order.ActionNew, Account: "paper", Symbol: "AAPL", Side: side, Type: order.Limit,
			Quantity: quantity, LimitPrice: money.MustPrice("200.01"), TimeInForce: order.Day,
		},
		Now: noon, InstrumentAsked: true, InstrumentKnown: true, Instrument: share("AAPL"),
		Quote: quote("AAPL"), LastValid: quote("AAPL"), ControlMode: account.Active, PaperBroker: true,
		Marks: []rail.Mark{{Symbol: "MSFT", Bid: money.PriceFromInt(99), Ask: money.PriceFromInt(100), At: noon.Add(-time.Minute)}},
		Fees:  money.MustNotional("0.35"),
		Broker: rail.BrokerFigures{
			Present: true, Cash: money.NotionalFromInt(1_000_000), BuyingPower: money.NotionalFromInt(1_000_000), At: noon.Add(-time.Second),
		},
	}
}

// TestWhatADenialSaysPassesDoes asks again with the quantity that a denial offers: the
// rail that offered it must pass it, and must still deny one step more.
func TestWhatADenialSaysPassesDoes(t *testing.T) {
	cal := market.XNYS()
	quantities := []rail.ID{
		rail.MaxPositionQty, rail.MaxPositionNotional, rail.MaxGrossExposure, rail.MaxNetExposure,
		rail.MaxConcentration, rail.InsufficientBuyingPower, rail.PositionFlip, rail.MaxNotionalPerMinute,
		rail.MaxNotionalPerDay,
	}
	rapid.Check(t, func(t *rapid.T) {
		doc, s, side := figures(t), past(t), drawSide(t, "side")
		step := doc.Size.QuantityStep.Value
		quantity := money.QuantityFromInt(int64(rapid.IntRange(1, 400).Draw(t, "quantity")))
		finding := func(quantity money.Quantity, id rail.ID) rail.Finding {
			d := risk.Decide(s, doc, ask(s, side, quantity), cal)
			i := slices.IndexFunc(d.Findings[:], func(f rail.Finding) bool { return f.Rail == id })
			if i < 0 {
				t.Fatalf("no finding of %s: %+v", id, d.Integrity)
			}
			return d.Findings[i]
		}
		for _, id := range quantities {
			got := finding(quantity, id)
			if got.Status != rail.Deny || got.Passes == "" {
				continue
			}
			offered := money.MustQuantity(got.Passes)
			if again := finding(offered, id); again.Status != rail.Pass {
				t.Fatalf("%s offers %s of %s, and then answers %+v", id, offered, quantity, again)
			}
			if more, ok := offered.Add(step); ok && more.Cmp(quantity) < 0 {
				if again := finding(more, id); again.Status == rail.Pass && !reduces(s, doc, side, more, cal) {
					t.Fatalf("%s offers %s of %s, and passes %s as well", id, offered, quantity, more)
				}
			}
		}
	})
}

// reduces reports whether the order reduces: then it passes whatever it would come to.
func reduces(s *account.State, doc *limits.Document, side order.Side, quantity money.Quantity, cal market.Calendar) bool {
	d := risk.Decide(s, doc, ask(s, side, quantity), cal)
	return d.Reducing
}
