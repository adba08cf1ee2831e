package rail

import (
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/order"
)

// twin allows the base order at the instant.
func twin(when time.Time) func(l *ledger) {
	return func(l *ledger) {
		in := baseIntent()
		l.decision(when, journal.VerdictAllowed, &in, journal.BucketOpen, "2000")
	}
}

func TestDuplicateOrder(t *testing.T) {
	differs := func(change func(f *Facts)) row {
		return row{"", twin(ago(time.Second)), change, Pass}
	}
	rows := []row{
		{"nothing before", nil, nil, Pass},
		{"a second ago", twin(ago(time.Second)), nil, Deny},
		{"at now", twin(at), nil, Deny},
		{"a nanosecond short of the window", twin(ago(10*time.Second - 1)), nil, Deny},
		{"exactly the window", twin(ago(10 * time.Second)), nil, Pass},
		{"under another id", twin(ago(time.Second)), func(f *Facts) { f.Intent.ClientOrderID = "z" }, Deny},
		{"for another time in force", twin(ago(time.Second)), func(f *Facts) { f.Intent.TimeInForce = order.GTC }, Deny},
		{"denied orders are not remembered", func(l *ledger) { l.deny(ago(time.Second), journal.BucketOpen) }, nil, Pass},
		{"behind a later order", func(l *ledger) {
			twin(ago(5 * time.Second))(l)
			l.allow(ago(time.Second), order.Buy, journal.BucketOpen, "1")
		}, nil, Deny},
		{"a replace to the same form", twin(ago(time.Second)), func(f *Facts) { f.Intent.Action = order.ActionReplace }, Deny},
		{"reducing, exactly 2 s ago", twin(ago(2 * time.Second)), func(f *Facts) { f.Reducing = true }, Pass},
		{"reducing, a nanosecond less", twin(ago(2*time.Second - 1)), func(f *Facts) { f.Reducing = true }, Deny},
		{"reducing, the operator's window is shorter", twin(ago(time.Second)), func(f *Facts) {
			f.Reducing = true
			f.Limits.Session.DuplicateWindow = on(time.Second)
		}, Pass},
		{"replace that only lowers, 2 s ago", twin(ago(2 * time.Second)), func(f *Facts) { f.LowersOnly = true }, Pass},
		{"off", twin(ago(time.Second)), func(f *Facts) { f.Limits.Session.DuplicateWindow = switchedOff[time.Duration]() }, Off},
	}
	for name, change := range map[string]func(f *Facts){
		"another side":     func(f *Facts) { f.Intent.Side = order.Sell },
		"another type":     func(f *Facts) { f.Intent.Type = order.StopLimit },
		"another quantity": func(f *Facts) { f.Intent.Quantity = qty("11") },
		"another limit":    func(f *Facts) { f.Intent.LimitPrice = prc("200.01") },
		"another stop":     func(f *Facts) { f.Intent.StopPrice = prc("1") },
		"another symbol":   func(f *Facts) { f.Instrument.Symbol = "MSFT" },
	} {
		r := differs(change)
		r.name = name
		rows = append(rows, r)
	}
	runOver(t, DuplicateOrder, duplicateOrder, rows)
}

func TestDuplicateOrderHasNoEndWhileTheTwinIsInDoubt(t *testing.T) {
	run(t, DuplicateOrder, duplicateOrder, []check{
		{"in doubt for an hour", func(f *Facts) { f.doubt(ago(time.Hour)).LimitPrice = prc("200") }, Deny},
		{"working for an hour", func(f *Facts) { f.openOrder("paper/5", order.Buy, "10", "200") }, Pass},
		{"other terms in doubt", func(f *Facts) { f.doubt(ago(time.Hour)) }, Pass},
		{"other side in doubt", func(f *Facts) {
			o := f.doubt(ago(time.Hour))
			o.LimitPrice, o.Side = prc("200"), order.Sell
		}, Pass},
		{"a replace to these terms in doubt", func(f *Facts) {
			o := f.openOrder("paper/5", order.Buy, "20", "190")
			o.Pending = &account.Pending{ReplyBy: at, Terms: account.Terms{
				Type: order.Limit, Quantity: qty("10"), LimitPrice: prc("200"),
			}}
		}, Deny},
		{"reducing", func(f *Facts) {
			f.reduce("10", "10")
			o := f.doubt(ago(time.Hour))
			o.LimitPrice, o.Side = prc("200"), order.Sell
		}, Deny},
	})
}

func TestDuplicateOrderNamesTheTwin(t *testing.T) {
	l := folded(t)
	twin(ago(time.Second))(l)
	f := l.facts()
	got := duplicateOrder(&f)
	if got.Observed != "1s" || got.Limit != "10s" || got.Retry != RetryLater {
		t.Errorf("got %+v", got)
	}
}

// TestDuplicateOrderTellsTheAgeBelowTheWindow: in whole milliseconds, and never as the
// window that the age is under.
func TestDuplicateOrderTellsTheAgeBelowTheWindow(t *testing.T) {
	for age, want := range map[time.Duration]string{11_702_117: "11ms", 10*time.Second - 1: "9.999s", 1: "0s"} {
		l := folded(t)
		twin(ago(age))(l)
		f := l.facts()
		if got := duplicateOrder(&f); got.Status != Deny || got.Observed != want || !strings.Contains(got.Text, " "+want+" ago ") {
			t.Errorf("%d: %v %q %q", age, got.Status, got.Observed, got.Text)
		}
	}
}
