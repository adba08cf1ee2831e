package rail

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/order"
)

// cycles opens and closes n positions, the first at the instant.
func cycles(n int, when time.Time) func(l *ledger) {
	return func(l *ledger) {
		for i := range n {
			l.cycle(when.Add(time.Duration(i) * time.Millisecond))
		}
	}
}

func TestRepeatedExecution(t *testing.T) {
	three := func(f *Facts) {
		f.Limits.Session.RepeatedExecution = on(limits.RepeatedExecution{Cycles: 3, Window: time.Hour})
	}
	runOver(t, RepeatedExecution, repeatedExecution, []row{
		{"none", nil, three, Pass},
		{"below", cycles(2, ago(time.Minute)), three, Pass},
		{"at", cycles(3, ago(time.Minute)), three, Deny},
		{"beyond", cycles(4, ago(time.Minute)), three, Deny},
		{"one of three closed exactly the window ago", cycles(3, ago(time.Hour)), three, Pass},
		{"all of three a nanosecond later", cycles(3, ago(time.Hour-1)), three, Deny},
		{"a position that stays open is no cycle", func(l *ledger) {
			cycles(2, ago(time.Minute))(l)
			in := baseIntent()
			l.decision(ago(time.Second), journal.VerdictAllowed, &in, journal.BucketOpen, "2000")
			l.put(ago(time.Second), journal.KindFill, &journal.Fill{
				ExecutedAt: journal.Time{Time: ago(time.Second)}, ExecutionID: "open",
				OrderID: l.state.Orders[0].ID, Price: prc("200"), Quantity: in.Quantity,
			})
		}, three, Pass},
		{"an operator clears them", func(l *ledger) {
			cycles(3, ago(time.Minute))(l)
			l.put(ago(time.Second), journal.KindMode, &journal.Mode{
				By: journal.ByOperator, Mode: journal.ModeActive, Reason: "seen", Who: "test",
			})
		}, three, Pass},
		{"zero allows nothing", nil, func(f *Facts) {
			f.Limits.Session.RepeatedExecution = on(limits.RepeatedExecution{Cycles: 0, Window: time.Hour})
		}, Deny},
		{"reducing", cycles(3, ago(time.Minute)), func(f *Facts) { three(f); reducing(f) }, Pass},
		{"replace that only lowers", cycles(3, ago(time.Minute)), func(f *Facts) { three(f); f.LowersOnly = true }, Pass},
		{"off", cycles(3, ago(time.Minute)),
			func(f *Facts) { f.Limits.Session.RepeatedExecution = switchedOff[limits.RepeatedExecution]() }, Off},
	})
}

func TestRepeatedExecutionTripsOnEveryOrder(t *testing.T) {
	l := folded(t)
	cycles(2, ago(time.Minute))(l)
	f := l.facts()
	f.Limits.Session.RepeatedExecution = on(limits.RepeatedExecution{Cycles: 3, Window: time.Hour})
	if repeatedExecutionTrips(&f, true) {
		t.Error("trips below the limit")
	}
	l.cycle(ago(time.Second))
	reducing(&f)
	if !repeatedExecutionTrips(&f, false) {
		t.Error("does not trip at the limit on a reducing order")
	}
	f.Intent.Side = order.Buy
	f.Limits.Session.RepeatedExecution = switchedOff[limits.RepeatedExecution]()
	if repeatedExecutionTrips(&f, true) || repeatedExecutionTrips(&Facts{}, true) {
		t.Error("trips when off, or without facts")
	}
}
