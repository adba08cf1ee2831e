package rail

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/order"
)

// orders reserves n orders in the bucket, the oldest at the instant.
func orders(n int, when time.Time, bucket string) func(l *ledger) {
	return func(l *ledger) {
		for i := range n {
			l.allow(when.Add(time.Duration(i)*time.Millisecond), order.Buy, bucket, "1")
		}
	}
}

func TestMaxOrdersPerMinute(t *testing.T) {
	const most = 5
	five := func(f *Facts) { f.Limits.Session.MaxOrdersPerMinute = on(most) }
	runOver(t, MaxOrdersPerMinute, maxOrdersPerMinute, []row{
		{"below", orders(3, ago(59*time.Second), journal.BucketOpen), five, Pass},
		{"at", orders(4, ago(59*time.Second), journal.BucketOpen), five, Pass},
		{"one more", orders(5, ago(59*time.Second), journal.BucketOpen), five, Deny},
		{"one of five is exactly 60 s old", orders(5, ago(60*time.Second), journal.BucketOpen), five, Pass},
		{"all of five are a nanosecond younger", orders(5, ago(60*time.Second-1), journal.BucketOpen), five, Deny},
		{"reserved at now", orders(5, ago(4*time.Millisecond), journal.BucketOpen), five, Deny},
		{"denied orders do not count", func(l *ledger) {
			for range 9 {
				l.deny(ago(time.Second), journal.BucketOpen)
			}
		}, five, Pass},
		{"exits do not count against opens", orders(5, ago(time.Second), journal.BucketExit), five, Pass},
		{"reducing, opens are spent", orders(5, ago(time.Second), journal.BucketOpen), func(f *Facts) { five(f); reducing(f) }, Pass},
		{"reducing at", orders(4, ago(time.Second), journal.BucketExit), func(f *Facts) { five(f); reducing(f) }, Pass},
		{"reducing, one more", orders(5, ago(time.Second), journal.BucketExit), func(f *Facts) { five(f); reducing(f) }, Deny},
		{"a replace counts", orders(5, ago(time.Second), journal.BucketOpen),
			func(f *Facts) { five(f); f.Intent.Action = order.ActionReplace }, Deny},
		{"a replace that only lowers draws on exits", orders(5, ago(time.Second), journal.BucketOpen),
			func(f *Facts) { five(f); f.LowersOnly = true }, Pass},
		{"zero allows nothing", nil, func(f *Facts) { f.Limits.Session.MaxOrdersPerMinute = on(0) }, Deny},
		{"zero allows no exit either", nil, func(f *Facts) { f.Limits.Session.MaxOrdersPerMinute = on(0); reducing(f) }, Deny},
		{"off", orders(5, ago(time.Second), journal.BucketOpen),
			func(f *Facts) { f.Limits.Session.MaxOrdersPerMinute = switchedOff[int]() }, Off},
	})
}
