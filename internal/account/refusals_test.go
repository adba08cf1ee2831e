package account_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// refuseAll folds bodies that contradict themselves or the state. None is taken and
// nothing changes.
func (c *script) refuseAll(t *testing.T, bodies map[string]any) {
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			c.t = t
			err := c.refused(journal.KindOf(body), body)
			var typed *account.ApplyError
			if !errors.As(err, &typed) || typed.Kind != journal.KindOf(body) || !strings.HasPrefix(err.Error(), "apply paper/") {
				t.Errorf("refused by %v", err)
			}
		})
	}
}

func TestFailClosedOutcomesAndFills(t *testing.T) {
	c := begin(t)
	ours := c.working(order.Buy, "AAPL", "10", "10")
	c.fill(ours, "5", "10")
	most := money.MustNotional("99999999999999999999.999999999")
	mostUnits := money.MustQuantity("99999999999999999999.999999999")
	filled := func(change func(*journal.Fill)) journal.Fill {
		f := c.fillBody(ours, "1", "10")
		change(&f)
		return f
	}
	c.refuseAll(t, map[string]any{
		"outcome of decision 0":     journal.Outcome{Result: journal.ResultAccepted},
		"outcome of a later one":    journal.Outcome{Decision: 99, Result: journal.ResultAccepted},
		"outcome without a result":  journal.Outcome{Decision: seqOf(ours)},
		"unknown result, no order":  journal.Outcome{Decision: 1, Result: "lost"},
		"fill without an execution": filled(func(f *journal.Fill) { f.ExecutionID = "" }),
		"fill of nothing":           filled(func(f *journal.Fill) { f.Quantity = money.Quantity{} }),
		"fill of less than nothing": filled(func(f *journal.Fill) { f.Quantity = money.MustQuantity("-1") }),
		"fill at a negative price":  filled(func(f *journal.Fill) { f.Price = money.MustPrice("-1") }),
		"fill past the range":       filled(func(f *journal.Fill) { f.Quantity = mostUnits }),
		"fees past the range":       filled(func(f *journal.Fill) { f.Fees = most }),
	})
}

func TestFailClosedExternalOrders(t *testing.T) {
	c := begin(t)
	ours := c.working(order.Buy, "AAPL", "10", "10")
	c.fill(ours, "5", "10")
	mostUnits := money.MustQuantity("99999999999999999999.999999999")
	shown := func(change func(*journal.BrokerOrder)) journal.External {
		b := journal.BrokerOrder{
			BrokerID: "9", Instrument: stock("SPY"), LimitPrice: money.MustPrice("1"), Quantity: money.MustQuantity("1"),
			Side: order.Buy, TimeInForce: order.Day, Type: order.Limit,
		}
		change(&b)
		return journal.External{ID: "order", Order: &b}
	}
	c.refuseAll(t, map[string]any{
		"order without an id":        shown(func(b *journal.BrokerOrder) { b.BrokerID = "" }),
		"order without a symbol":     shown(func(b *journal.BrokerOrder) { b.Instrument.Symbol = "" }),
		"order without a side":       shown(func(b *journal.BrokerOrder) { b.Side = order.SideNone }),
		"order without a type":       shown(func(b *journal.BrokerOrder) { b.Type = order.TypeNone }),
		"order of nothing":           shown(func(b *journal.BrokerOrder) { b.Quantity = money.Quantity{} }),
		"order filled below nothing": shown(func(b *journal.BrokerOrder) { b.Filled = money.MustQuantity("-1") }),
		"order without multiplier":   shown(func(b *journal.BrokerOrder) { b.Instrument.Multiplier = money.Quantity{} }),
		"order at a negative price":  shown(func(b *journal.BrokerOrder) { b.LimitPrice = money.MustPrice("-1") }),
		"order past the range": shown(func(b *journal.BrokerOrder) {
			b.Quantity, b.LimitPrice = mostUnits, money.MustPrice("2")
		}),
		"open quantity past the range": shown(func(b *journal.BrokerOrder) {
			b.Instrument, b.Quantity, b.LimitPrice, b.Type = stock("AAPL"), mostUnits, money.Price{}, order.Market
		}),
	})
}

func TestFailClosedEvents(t *testing.T) {
	c := begin(t)
	ours := c.working(order.Buy, "AAPL", "10", "10")
	c.fill(ours, "5", "10")
	most := money.MustNotional("99999999999999999999.999999999")
	mostUnits := money.MustQuantity("99999999999999999999.999999999")
	executed := func(change func(*journal.ExternalFill)) journal.External {
		f := journal.ExternalFill{Instrument: stock("SPY"), Price: money.MustPrice("1"), Quantity: money.MustQuantity("1"), Side: order.Sell}
		change(&f)
		return journal.External{ID: "fill", Fill: &f}
	}
	c.refuseAll(t, map[string]any{
		"execution without a symbol":   executed(func(f *journal.ExternalFill) { f.Instrument.Symbol = "" }),
		"execution without a side":     executed(func(f *journal.ExternalFill) { f.Side = order.SideNone }),
		"execution without multiplier": executed(func(f *journal.ExternalFill) { f.Instrument.Multiplier = money.Quantity{} }),
		"execution past the range":     executed(func(f *journal.ExternalFill) { f.Quantity, f.Price = mostUnits, money.MustPrice("2") }),
		"cash past the range":          journal.External{ID: "cash", Cash: &journal.CashFlow{Amount: most}},
		"end without a result":         journal.External{ID: "end", Ended: &journal.ExternalEnd{BrokerID: "1"}},
		"refusal of nothing":           journal.Refusal{Code: "c", Door: "d"},
		"refusal of less":              journal.Refusal{Code: "c", Count: -1, Door: "d"},
		"mode without a word":          journal.Mode{By: journal.ByOperator},
		"open without a date":          journal.Open{},
	})
}

func TestFailClosedReconciliations(t *testing.T) {
	c := begin(t)
	ours := c.working(order.Buy, "AAPL", "10", "10")
	c.fill(ours, "5", "10")
	reconciled := func(change func(*journal.Reconcile)) journal.Reconcile {
		r := journal.Reconcile{AsOf: journal.At(c.now)}
		change(&r)
		return r
	}
	c.refuseAll(t, map[string]any{
		"differences out of order": reconciled(func(r *journal.Reconcile) {
			r.Differences = []journal.Difference{{Symbol: "B"}, {Symbol: "A"}}
		}),
		"positions twice": reconciled(func(r *journal.Reconcile) {
			r.Positions = []journal.Holding{{Symbol: "A"}, {Symbol: "A"}}
		}),
		"an order and a position": reconciled(func(r *journal.Reconcile) {
			r.Order, r.Adopted = &journal.Resolution{OrderID: ours, Result: journal.ResolvedPlaced}, []string{"AAPL"}
		}),
		"a negative cost adopted": reconciled(func(r *journal.Reconcile) {
			r.Adopted, r.Positions = []string{"AAPL"}, []journal.Holding{{Cost: money.MustPrice("-1"), Quantity: money.MustQuantity("1"), Symbol: "AAPL"}}
		}),
		"reconciled by no resolution": reconciled(func(r *journal.Reconcile) { r.Order = &journal.Resolution{OrderID: ours} }),
	})
}

func TestFailClosedGenesis(t *testing.T) {
	position := journal.Position{Instrument: stock("AAPL"), Quantity: money.MustQuantity("1")}
	nameless, costly := position, position
	nameless.Instrument.Symbol, costly.Cost = "", money.MustPrice("-1")
	for name, change := range map[string]func(*journal.Genesis){
		"no broker":         func(g *journal.Genesis) { g.Broker = "" },
		"no currency":       func(g *journal.Genesis) { g.Currency = "" },
		"no instrument":     func(g *journal.Genesis) { g.Positions = []journal.Position{nameless} },
		"negative cost":     func(g *journal.Genesis) { g.Positions = []journal.Position{costly} },
		"position twice":    func(g *journal.Genesis) { g.Positions = []journal.Position{position, position} },
		"order of nothing":  func(g *journal.Genesis) { g.Orders = []journal.BrokerOrder{{BrokerID: "1", Instrument: stock("AAPL")}} },
		"order of no one's": func(g *journal.Genesis) { g.Orders = []journal.BrokerOrder{{Instrument: stock("AAPL")}} },
	} {
		t.Run(name, func(t *testing.T) {
			c := &script{t: t, s: account.New("paper"), now: morning}
			g := journal.Genesis{Broker: "paper", Currency: "USD", Version: "1", Who: "w"}
			change(&g)
			c.refused(journal.KindGenesis, g)
		})
	}
}

func TestAnOrderThatIsFilledAlreadyIsNotOpened(t *testing.T) {
	c := begin(t)
	c.must(journal.KindExternal, journal.External{ID: "o", Cursor: "c7", Order: &journal.BrokerOrder{
		BrokerID: "9", Filled: money.MustQuantity("1"), Instrument: stock("SPY"), LimitPrice: money.MustPrice("1"),
		Quantity: money.MustQuantity("1"), Side: order.Buy, TimeInForce: order.Day, Type: order.Limit,
	}})
	c.holding("SPY", "0", "0", "0")
	if c.s.OpenOrders() != 0 || c.s.Cursor != "c7" {
		t.Errorf("%d open, cursor %q", c.s.OpenOrders(), c.s.Cursor)
	}
}

// TestEndedOrdersAreBounded ends more orders than are remembered on one date.
func TestEndedOrdersAreBounded(t *testing.T) {
	c := begin(t)
	first := c.working(order.Buy, "AAPL", "1", "1")
	c.outcome(first, journal.ResultCanceled)
	c.s.ForgetEnded(account.EndedMax)
	last := c.working(order.Buy, "AAPL", "1", "1")
	c.outcome(last, journal.ResultCanceled)
	if n := c.s.EndedCount(); n > account.EndedMax || n < account.EndedMax/2 {
		t.Errorf("%d are remembered", n)
	}
	if _, known := c.s.Ended(first); known {
		t.Error("the oldest is still known")
	}
	if _, known := c.s.Ended(last); !known {
		t.Error("the newest is not known")
	}
	c.refused(journal.KindFill, c.fillBody(first, "1", "1"))
	c.fill(last, "1", "1")
}

func TestModeWords(t *testing.T) {
	for _, m := range []account.Mode{account.Halted, account.ReduceOnly, account.Active} {
		if got, ok := account.ParseMode(m.String()); !ok || got != m {
			t.Errorf("%s read as %s", m, got)
		}
	}
	if m, ok := account.ParseMode("ACTIVE"); ok || m != account.Halted {
		t.Errorf("read as %s", m)
	}
	if account.Mode(9).String() != journal.ModeHalted {
		t.Error("a mode that is none is not halted")
	}
}
