package rail

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/order"
)

// messages journals n denied orders in the bucket, the oldest at the instant.
func messages(n int, when time.Time, bucket string) func(l *ledger) {
	return func(l *ledger) {
		for i := range n {
			l.deny(when.Add(time.Duration(i)*time.Millisecond), bucket)
		}
	}
}

func TestMaxMessagesPerMinute(t *testing.T) {
	five := func(f *Facts) { f.Limits.Session.MaxMessagesPerMinute = on(5) }
	cancel := func(f *Facts) {
		five(f)
		*f.Intent = order.Intent{Action: order.ActionCancel, Account: "paper", Symbol: "AAPL", Target: "paper/3"}
	}
	runOver(t, MaxMessagesPerMinute, maxMessagesPerMinute, []row{
		{"below", messages(3, ago(59*time.Second), journal.BucketOpen), five, Pass},
		{"at", messages(4, ago(59*time.Second), journal.BucketOpen), five, Pass},
		{"one more", messages(5, ago(59*time.Second), journal.BucketOpen), five, Deny},
		{"one of five is exactly 60 s old", messages(5, ago(60*time.Second), journal.BucketOpen), five, Pass},
		{"all of five are a nanosecond younger", messages(5, ago(60*time.Second-1), journal.BucketOpen), five, Deny},
		{"allowed ones count", orders(5, ago(time.Second), journal.BucketOpen), five, Deny},
		{"malformed calls count", func(l *ledger) {
			l.put(ago(time.Second), journal.KindRefusal, &journal.Refusal{
				Code: "malformed_call", Count: 5, Denial: true, Door: "test", Message: true,
			})
		}, five, Deny},
		{"reducing, opens are spent", messages(5, ago(time.Second), journal.BucketOpen), func(f *Facts) { five(f); reducing(f) }, Pass},
		{"reducing, one more", messages(5, ago(time.Second), journal.BucketExit), func(f *Facts) { five(f); reducing(f) }, Deny},
		{"cancel, opens are spent", messages(5, ago(time.Second), journal.BucketOpen), cancel, Pass},
		{"cancel at", messages(4, ago(time.Second), journal.BucketExit), cancel, Pass},
		{"cancel, one more", messages(5, ago(time.Second), journal.BucketExit), cancel, Deny},
		{"zero allows nothing", nil, func(f *Facts) { f.Limits.Session.MaxMessagesPerMinute = on(0) }, Deny},
		{"off", messages(5, ago(time.Second), journal.BucketOpen),
			func(f *Facts) { f.Limits.Session.MaxMessagesPerMinute = switchedOff[int]() }, Off},
	})
}
