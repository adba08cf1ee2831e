package rail

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/order"
)

// judge is one rail of positions and time with its id.
type judge struct {
	id    ID
	check func(*Facts) Finding
}

func judges() []judge {
	return []judge{
		{MaxPositionQty, maxPositionQty}, {MaxPositionNotional, maxPositionNotional},
		{MaxGrossExposure, maxGrossExposure}, {MaxNetExposure, maxNetExposure},
		{MaxConcentration, maxConcentration}, {InsufficientBuyingPower, insufficientBuyingPower},
		{PositionFlip, positionFlip}, {MaxOpenOrders, maxOpenOrders}, {SelfCross, selfCross},
		{OrderInDoubt, orderInDoubt}, {AccountUnreconciled, accountUnreconciled},
		{MaxOrdersPerMinute, maxOrdersPerMinute}, {MaxNotionalPerMinute, maxNotionalPerMinute},
		{MaxMessagesPerMinute, maxMessagesPerMinute}, {MaxOrdersPerDay, maxOrdersPerDay},
		{MaxNotionalPerDay, maxNotionalPerDay}, {MaxDailyLoss, maxDailyLoss}, {MaxDrawdown, maxDrawdown},
		{KillSwitch, killSwitch}, {MarketClosed, marketClosed}, {TradingWindow, tradingWindow},
		{DuplicateClientOrderID, duplicateClientOrderID}, {DuplicateOrder, duplicateOrder},
		{DenialStorm, denialStorm}, {RepeatedExecution, repeatedExecution}, {ClockSuspect, clockSuspect},
	}
}

func TestFailClosedWithoutFacts(t *testing.T) {
	lacks := map[string]func(f *Facts){
		"nothing":         func(f *Facts) { *f = Facts{} },
		"no request":      func(f *Facts) { f.Request = nil },
		"no intent":       func(f *Facts) { f.Intent = nil },
		"no time":         func(f *Facts) { f.Request.Now = time.Time{} },
		"no limits":       func(f *Facts) { f.Limits = nil },
		"empty limits":    func(f *Facts) { f.Limits = &limits.Document{} },
		"no figures":      func(f *Facts) { f.Figures = nil },
		"empty figures":   func(f *Facts) { f.Figures = &limits.Effective{} },
		"no state":        func(f *Facts) { f.State = nil },
		"zero state":      func(f *Facts) { f.State = &account.State{} },
		"zero, reducing":  func(f *Facts) { *f = Facts{Reducing: true} },
		"no state, exits": func(f *Facts) { f.reduce("10", "10"); f.State = nil },
	}
	for name, take := range lacks {
		for _, j := range judges() {
			f := baseFacts()
			take(&f)
			if got := j.check(&f); got.Status != Fault || got.Rail != j.id || got.Text == "" {
				t.Errorf("%s: %s answers %+v, want a fault", name, j.id, got)
			}
		}
	}
	for _, j := range judges() {
		if got := j.check(nil); got.Status != Fault {
			t.Errorf("%s answers %+v to no facts", j.id, got)
		}
	}
}

func TestFailClosedOnALimitThatNobodyWrote(t *testing.T) {
	f := baseFacts()
	f.Limits.Position, f.Limits.Session = limits.Position{RequireBuyingPower: true}, limits.Session{RequireMarketOpen: true}
	f.figures()
	keyed := map[ID]bool{
		MaxPositionQty: true, MaxPositionNotional: true, MaxGrossExposure: true, MaxNetExposure: true,
		MaxConcentration: true, MaxOpenOrders: true, OrderInDoubt: true, MaxOrdersPerMinute: true,
		MaxNotionalPerMinute: true, MaxMessagesPerMinute: true, MaxOrdersPerDay: true, MaxNotionalPerDay: true,
		MaxDailyLoss: true, MaxDrawdown: true, TradingWindow: true, DuplicateOrder: true, DenialStorm: true,
		RepeatedExecution: true,
	}
	for _, j := range judges() {
		got := j.check(&f)
		if keyed[j.id] && (got.Status != Fault || got.Rail != j.id) {
			t.Errorf("%s answers %+v without its key", j.id, got)
		}
		if !keyed[j.id] && got.Status != Pass {
			t.Errorf("%s answers %+v", j.id, got)
		}
	}
}

func TestBaseOrderPassesAndAllocatesNothing(t *testing.T) {
	for _, j := range judges() {
		f := baseFacts()
		finds(t, j.check(&f), j.id, Pass)
		if n := testing.AllocsPerRun(10, func() { j.check(&f) }); n != 0 {
			t.Errorf("%s: passing allocates %v times", j.id, n)
		}
	}
}

func TestDayOfAnEarlierDateHasCountedNothing(t *testing.T) {
	f := baseFacts()
	f.State.Day = account.Day{Date: 20260317, Orders: 7, LossLatched: true}
	if day, ok := f.today(); !ok || *day != (account.Day{Date: 20260318}) {
		t.Errorf("today is %+v, %v", day, ok)
	}
	// The trade date of the state never goes back, whatever the clock shows.
	f.State.Day = account.Day{Date: 20260319, Orders: 7}
	if day, ok := f.today(); !ok || day.Orders != 7 {
		t.Errorf("today is %+v, %v", day, ok)
	}
}

// lowers makes the facts those of a replace that only lowers the base order.
func (f *Facts) lowers() {
	f.Target = f.openOrder("paper/1", order.Buy, "20", "200")
	f.Intent.Action, f.Intent.Target, f.LowersOnly = order.ActionReplace, "paper/1", true
	f.Increment, f.IncrementNotional, f.Cost = qty("0"), ntl("0"), ntl("0")
}

// openOrder adds a working limit order of ours in the base instrument.
func (f *Facts) openOrder(id string, side order.Side, quantity, limit string) *account.Order {
	o := &account.Order{
		ID: id, Seq: uint64(len(f.State.Orders) + 1), Symbol: "AAPL", Side: side, Stage: account.Working,
		DecidedAt: at.Add(-time.Hour), ReplyBy: at.Add(-time.Hour + 30*time.Second),
		Terms: account.Terms{
			Type: order.Limit, Quantity: qty(quantity), LimitPrice: prc(limit), RiskPrice: prc(limit), TimeInForce: order.GTC,
		},
	}
	if len(f.State.Holdings) == 0 {
		f.State.Holdings = []account.Holding{{Instrument: f.Instrument}}
	}
	h := &f.State.Holdings[0]
	h.Orders = append(h.Orders, o)
	f.State.Orders = append(f.State.Orders, o)
	f.Holding = h
	return o
}

// passing asserts what a denial says would pass, and its retry.
func passing(t *testing.T, name string, got Finding, passes string, r Retry) {
	t.Helper()
	if got.Status != Deny || got.Passes != passes || got.Retry != r {
		t.Errorf("%s: status %d passes %q retry %d, want a denial with %q and %d (%s)",
			name, got.Status, got.Passes, got.Retry, passes, r, got.Text)
	}
}
