package rail

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// spent reserves one order of this notional at the instant.
func spent(when time.Time, side order.Side, bucket, notional string) func(l *ledger) {
	return func(l *ledger) { l.allow(when, side, bucket, notional) }
}

func TestMaxNotionalPerMinute(t *testing.T) {
	runOver(t, MaxNotionalPerMinute, maxNotionalPerMinute, []row{
		{"below", spent(ago(time.Second), order.Buy, journal.BucketOpen, "47999"), nil, Pass},
		{"at", spent(ago(time.Second), order.Buy, journal.BucketOpen, "48000"), nil, Pass},
		{"one unit of precision beyond", spent(ago(time.Second), order.Buy, journal.BucketOpen, "48000.000000001"), nil, Deny},
		{"sells count as well", spent(ago(time.Second), order.Sell, journal.BucketOpen, "48001"), nil, Deny},
		{"reducing orders count", spent(ago(time.Second), order.Sell, journal.BucketExit, "48001"), nil, Deny},
		{"exactly 60 s old", spent(ago(60*time.Second), order.Buy, journal.BucketOpen, "48001"), nil, Pass},
		{"a nanosecond younger", spent(ago(60*time.Second-1), order.Buy, journal.BucketOpen, "48001"), nil, Deny},
		{"a replace by its increment", spent(ago(time.Second), order.Buy, journal.BucketOpen, "48000"),
			func(f *Facts) { f.Notional = ntl("90000") }, Pass},
		{"no notional", nil, func(f *Facts) { f.NotionalOK = false }, Fault},
		{"out of range", spent(ago(time.Second), order.Buy, journal.BucketOpen, "1"),
			func(f *Facts) { f.IncrementNotional = ntl("99999999999999999999.999999999") }, Fault},
		{"reducing", spent(ago(time.Second), order.Buy, journal.BucketOpen, "50000"), reducing, Pass},
		{"reducing without a notional", nil, func(f *Facts) { reducing(f); f.NotionalOK = false }, Pass},
		{"replace that only lowers", spent(ago(time.Second), order.Buy, journal.BucketOpen, "50000"),
			func(f *Facts) { f.LowersOnly = true }, Pass},
		{"off", spent(ago(time.Second), order.Buy, journal.BucketOpen, "50000"),
			func(f *Facts) { f.Limits.Session.MaxNotionalPerMinute = switchedOff[money.Notional]() }, Off},
	})
}

func TestMaxNotionalPerMinuteSaysWhatPasses(t *testing.T) {
	l := folded(t)
	l.allow(ago(time.Second), order.Buy, journal.BucketOpen, "49000")
	f := l.facts()
	passing(t, "5 of 10 fit", maxNotionalPerMinute(&f), "5", RetryChanged)
	f.RiskPrice, f.IncrementNotional = prc("1001"), ntl("10010")
	passing(t, "none fits", maxNotionalPerMinute(&f), "", RetryLater)
}
