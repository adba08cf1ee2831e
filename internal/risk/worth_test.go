package risk_test

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// TestWorthIsWhatADecisionFinds adds up by hand: MSFT long 10, S100 short 20, and a buy
// of 5 MSFT working at 310.
func TestWorthIsWhatADecisionFinds(t *testing.T) {
	b := open(t, "100000", held("MSFT", "10", "300"), held("S100", "-20", "50"))
	b.apply(journal.KindExternal, journal.External{ID: "e", Order: &journal.BrokerOrder{
		BrokerID: "e", Instrument: share("MSFT"), Side: order.Buy, Quantity: qty("5"), LimitPrice: prc("310"),
		Type: order.Limit, TimeInForce: order.Day,
	}})
	marks := []rail.Mark{mark("MSFT", "300", "301"), mark("S100", "50", "51")}
	w := risk.WorthOf(b.s, marks, b.now, calendar)
	want := risk.Worth{Equity: ntl("101980"), EquityOK: true, Gross: ntl("5580"), GrossOK: true} // 10 x 301 + 5 x 310 + 20 x 51
	if w != want {
		t.Fatalf("worth %+v, want %+v", w, want)
	}
	req := b.new(order.Buy, "10", "200")
	req.Marks = marks
	if d := b.decide(req); d.Equity != w.Equity {
		t.Errorf("a decision finds equity %s, the account is worth %s", d.Equity, w.Equity)
	}
	if w := risk.WorthOf(b.s, marks[1:], b.now, calendar); w.EquityOK || w.GrossOK {
		t.Errorf("worth %+v without a mark of MSFT", w)
	}
	if w := risk.WorthOf(nil, marks, b.now, calendar); w != (risk.Worth{}) {
		t.Errorf("worth %+v of nothing", w)
	}
}

func TestLossAndDrawdownOfAWorth(t *testing.T) {
	w := risk.Worth{Equity: ntl("99000"), EquityOK: true}
	for _, c := range []struct {
		name string
		day  account.Day
		loss string // empty: not known
	}{
		{"a loss", account.Day{HasOpen: true, EquityAtOpen: ntl("100000")}, "1000"},
		{"a gain", account.Day{HasOpen: true, EquityAtOpen: ntl("98000")}, "0"},
		{"a realized gain", account.Day{HasOpen: true, EquityAtOpen: ntl("98000"), Realized: ntl("300")}, "-300"},
		{"a deposit", account.Day{HasOpen: true, EquityAtOpen: ntl("100000"), Flows: ntl("500")}, "1500"},
		{"more was realized", account.Day{HasOpen: true, EquityAtOpen: ntl("100000"), Realized: ntl("-1200")}, "1200"},
		{"no open", account.Day{}, ""},
	} {
		if loss, ok := w.LossToday(&c.day); ok != (c.loss != "") || ok && loss != ntl(c.loss) {
			t.Errorf("%s: %s %v, want %q", c.name, loss, ok, c.loss)
		}
	}
	for equity, want := range map[string]string{"100000": "1000", "98000": "0"} {
		if fall, ok := w.Drawdown(&account.Peak{Known: true, Equity: ntl(equity)}); !ok || fall != ntl(want) {
			t.Errorf("peak %s: fall %s %v, want %s", equity, fall, ok, want)
		}
	}
	if fall, ok := w.Drawdown(&account.Peak{}); !ok || fall != (money.Notional{}) {
		t.Errorf("without a peak: %s %v", fall, ok)
	}
	if _, ok := (&risk.Worth{}).Drawdown(&account.Peak{}); ok {
		t.Error("a drawdown without equity")
	}
}
