package rail

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/order"
)

// doubt adds an own buy far from the market that is in doubt since the instant.
func (f *Facts) doubt(since time.Time) *account.Order {
	o := f.openOrder("paper/5", order.Buy, "10", "190")
	o.Stage, o.DoubtAt = account.Doubtful, since
	return o
}

// doubtElsewhere adds n orders in doubt in another instrument.
func (f *Facts) doubtElsewhere(n int) {
	for range n {
		o := &account.Order{ID: "paper/6", Symbol: "MSFT", Side: order.Buy, Stage: account.Doubtful, DoubtAt: ago(time.Minute)}
		f.State.Orders = append(f.State.Orders, o)
	}
}

func TestOrderInDoubt(t *testing.T) {
	reserved := func(f *Facts, replyBy time.Time) {
		o := f.openOrder("paper/5", order.Buy, "10", "190")
		o.Stage, o.ReplyBy = account.Reserved, replyBy
	}
	run(t, OrderInDoubt, orderInDoubt, []check{
		{"no orders", nil, Pass},
		{"a working order", func(f *Facts) { f.openOrder("paper/5", order.Buy, "10", "190") }, Pass},
		{"in flight", func(f *Facts) { reserved(f, at.Add(1)) }, Pass},
		{"its time to reply is over", func(f *Facts) { reserved(f, at) }, Deny},
		{"the journal says so", func(f *Facts) { f.doubt(ago(time.Second)) }, Deny},
		{"in doubt, re-read, not reducing", func(f *Facts) { f.doubt(ago(10 * time.Second)) }, Deny},
		{"one elsewhere, at max_in_doubt", func(f *Facts) { f.doubtElsewhere(1) }, Pass},
		{"one more elsewhere", func(f *Facts) { f.doubtElsewhere(2) }, Deny},
		{"none may be: one elsewhere", func(f *Facts) { f.doubtElsewhere(1); f.Limits.Position.MaxInDoubt = on(0) }, Deny},
		{"a pending replace in doubt", func(f *Facts) {
			f.openOrder("paper/5", order.Buy, "10", "190").Pending = &account.Pending{ReplyBy: at}
		}, Deny},
		{"off, many elsewhere", func(f *Facts) {
			f.doubtElsewhere(9)
			f.Limits.Position.MaxInDoubt = switchedOff[int]()
		}, Pass},
		{"off, one here", func(f *Facts) {
			f.doubt(ago(time.Second))
			f.Limits.Position.MaxInDoubt = switchedOff[int]()
		}, Deny},
	})
}

func TestOrderInDoubtLetsExitsOutOnceThePositionWasReadAgain(t *testing.T) {
	exit := func(doubted, read time.Time) func(f *Facts) {
		return func(f *Facts) {
			f.reduce("10", "10")
			f.doubt(doubted)
			f.State.Reconciled.At = read
		}
	}
	run(t, OrderInDoubt, orderInDoubt, []check{
		{"never read", exit(ago(10*time.Second), time.Time{}), Deny},
		{"read before the doubt", exit(ago(10*time.Second), ago(11*time.Second)), Deny},
		{"read at the doubt", exit(ago(10*time.Second), ago(10*time.Second)), Deny},
		{"read after the doubt", exit(ago(10*time.Second), ago(10*time.Second-1)), Pass},
		{"read at now", exit(ago(10*time.Second), at), Pass},
		{"read 60 s ago", exit(ago(2*time.Minute), ago(time.Minute)), Deny},
		{"read a nanosecond less ago", exit(ago(2*time.Minute), ago(time.Minute-1)), Pass},
		{"read in the future", exit(ago(10*time.Second), at.Add(1)), Deny},
		{"read before the second doubt", func(f *Facts) {
			exit(ago(10*time.Second), ago(5*time.Second))(f)
			f.doubt(ago(2 * time.Second))
		}, Deny},
		{"a reserved order doubted at its reply_by", func(f *Facts) {
			exit(ago(10*time.Second), ago(5*time.Second))(f)
			o := f.openOrder("paper/8", order.Buy, "10", "190")
			o.Stage, o.ReplyBy = account.Reserved, ago(4*time.Second)
		}, Deny},
		{"too many elsewhere, read just now", func(f *Facts) { f.reduce("10", "10"); f.doubtElsewhere(5) }, Pass},
		{"too many elsewhere, read long ago", func(f *Facts) {
			f.reduce("10", "10")
			f.doubtElsewhere(5)
			f.State.Reconciled.At = ago(time.Hour)
		}, Deny},
	})
}

func TestOrderInDoubtOnReplaces(t *testing.T) {
	run(t, OrderInDoubt, orderInDoubt, []check{
		{"a working target", func(f *Facts) { f.lowers() }, Pass},
		{"no target", func(f *Facts) { f.lowers(); f.Target = nil }, Fault},
		{"target in doubt", func(f *Facts) { f.lowers(); f.Target.Stage, f.Target.DoubtAt = account.Doubtful, ago(9*time.Second) }, Deny},
		{"target not answered yet", func(f *Facts) {
			f.lowers()
			f.Target.Stage, f.Target.ReplyBy = account.Reserved, at.Add(time.Second)
		}, Deny},
		{"target being canceled", func(f *Facts) { f.lowers(); f.Target.Canceling = &account.Pending{ReplyBy: at.Add(time.Second)} }, Deny},
		{"target being replaced", func(f *Facts) { f.lowers(); f.Target.Pending = &account.Pending{ReplyBy: at.Add(time.Second)} }, Deny},
		{"another order in doubt, read again", func(f *Facts) {
			f.lowers()
			f.doubt(ago(9 * time.Second))
		}, Pass},
	})
}
