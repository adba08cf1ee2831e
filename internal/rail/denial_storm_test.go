package rail

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
)

func TestDenialStorm(t *testing.T) {
	const window = 10 * time.Minute
	five := func(f *Facts) {
		f.Limits.Session.DenialStorm = on(limits.DenialStorm{Denials: 5, Window: window})
	}
	none := func(f *Facts) {
		f.Limits.Session.DenialStorm = on(limits.DenialStorm{Denials: 0, Window: window})
	}
	refused := func(denial bool, n int) func(l *ledger) {
		return func(l *ledger) {
			l.put(ago(time.Second), journal.KindRefusal, &journal.Refusal{
				Code: "malformed_call", Count: n, Denial: denial, Door: "test", Message: true,
			})
		}
	}
	runOver(t, DenialStorm, denialStorm, []row{
		{"below", messages(4, ago(9*time.Minute), journal.BucketOpen), five, Pass},
		{"at", messages(5, ago(9*time.Minute), journal.BucketOpen), five, Pass},
		{"one more", messages(6, ago(9*time.Minute), journal.BucketOpen), five, Deny},
		{"one of six is exactly as old as the window", messages(6, ago(window), journal.BucketOpen), five, Pass},
		{"all of six are a nanosecond younger", messages(6, ago(window-1), journal.BucketOpen), five, Deny},
		{"integrity refusals count", refused(true, 6), five, Deny},
		{"faults do not", refused(false, 6), five, Pass},
		{"faulted decisions do not", func(l *ledger) {
			for range 6 {
				in := baseIntent()
				l.decision(ago(time.Second), journal.VerdictError, &in, journal.BucketOpen, "")
			}
		}, five, Pass},
		{"denials of exits count", messages(6, ago(time.Second), journal.BucketExit), five, Deny},
		{"zero: after the first", messages(1, ago(time.Second), journal.BucketOpen), none, Deny},
		{"zero: before the first", nil, none, Pass},
		{"an operator clears them", func(l *ledger) {
			messages(6, ago(time.Minute), journal.BucketOpen)(l)
			l.put(ago(time.Second), journal.KindMode, &journal.Mode{
				By: journal.ByOperator, Mode: journal.ModeActive, Reason: "seen", Who: "test",
			})
		}, five, Pass},
		{"reducing", messages(6, ago(time.Second), journal.BucketOpen), func(f *Facts) { five(f); reducing(f) }, Pass},
		{"replace that only lowers", messages(6, ago(time.Second), journal.BucketOpen), func(f *Facts) { five(f); f.LowersOnly = true }, Pass},
		{"off", messages(6, ago(time.Second), journal.BucketOpen),
			func(f *Facts) { f.Limits.Session.DenialStorm = switchedOff[limits.DenialStorm]() }, Off},
	})
}

func TestDenialStormTripsWithTheDenialThatIsOneTooMany(t *testing.T) {
	rows := []struct {
		name    string
		denials int
		denied  bool
		want    bool
	}{
		{"the fifth", 4, true, false},
		{"five, and an allowed order", 5, false, false},
		{"the sixth", 5, true, true},
		{"six, and an allowed exit", 6, false, true},
	}
	for _, r := range rows {
		l := folded(t)
		messages(r.denials, ago(time.Second), journal.BucketOpen)(l)
		f := l.facts()
		f.Limits.Session.DenialStorm = on(limits.DenialStorm{Denials: 5, Window: time.Minute})
		if got := denialStormTrips(&f, r.denied); got != r.want {
			t.Errorf("%s: trips %v, want %v", r.name, got, r.want)
		}
		f.Limits.Session.DenialStorm = switchedOff[limits.DenialStorm]()
		if denialStormTrips(&f, true) {
			t.Errorf("%s: trips when off", r.name)
		}
	}
	if denialStormTrips(&Facts{}, true) {
		t.Error("trips without facts")
	}
}
