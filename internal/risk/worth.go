package risk

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// Worth is what an account comes to as it stands, without a new order. A figure whose
// flag is false lacks a usable mark, or is out of range.
type Worth struct {
	Equity   money.Notional // cash, longs at bid, shorts at ask; rounded down
	EquityOK bool
	Gross    money.Notional // what max_gross_exposure compares, open orders in; rounded up
	GrossOK  bool
}

// WorthOf values an account by the marks of its holdings, in the order of their symbols,
// exactly as a decision at now would.
func WorthOf(s *account.State, marks []rail.Mark, now time.Time, cal market.Calendar) (w Worth) {
	if s == nil || !s.Started || now.IsZero() {
		return Worth{}
	}
	f := rail.Facts{
		Request: &rail.Request{Now: now, Marks: marks}, State: s, Limits: &limits.Document{Currency: s.Currency},
		Session: market.Session(now, cal), Calendar: cal,
	}
	dates := tradeDatesOf(&f)
	sums := sums{wantGross: true, wantEquity: true}
	sums.addOthers(&f, &dates)
	sums.settle()
	if sums.wantGross {
		w.Gross, w.GrossOK = sums.gross.Round(money.Up)
	}
	if sums.wantEquity {
		sums.equity.AddNotional(s.Cash)
		w.Equity, w.EquityOK = sums.equity.Round(money.Down)
	}
	return w
}

// LossToday is what max_daily_loss compares: the larger of the loss in equity since the
// open, with deposits and withdrawals taken out, and the realized one. It is negative
// where both are gains, and false where a decision would lack a figure.
func (w *Worth) LossToday(day *account.Day) (money.Notional, bool) {
	if !w.EquityOK || !day.HasOpen {
		return money.Notional{}, false
	}
	start, ok1 := day.EquityAtOpen.Add(day.Flows)
	loss, ok2 := start.Sub(w.Equity)
	return money.MaxNotional(loss, day.Realized.Neg()), ok1 && ok2
}

// Drawdown is what max_drawdown compares: how far equity is below its peak, from 0 up.
func (w *Worth) Drawdown(peak *account.Peak) (money.Notional, bool) {
	if !w.EquityOK || !peak.Known {
		return money.Notional{}, w.EquityOK
	}
	fall, ok := peak.Equity.Sub(w.Equity)
	return money.MaxNotional(fall, money.Notional{}), ok
}
