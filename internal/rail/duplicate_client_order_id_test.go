package rail

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/order"
)

// named decides on the base order under an id of the agent's.
func named(verdict, id string) func(l *ledger) {
	return func(l *ledger) {
		in := baseIntent()
		in.ClientOrderID = id
		l.decision(ago(24*time.Hour), verdict, &in, journal.BucketOpen, "2000")
	}
}

func TestDuplicateClientOrderID(t *testing.T) {
	id := func(id string) func(f *Facts) { return func(f *Facts) { f.Intent.ClientOrderID = id } }
	other := func(change func(in *order.Intent)) func(f *Facts) {
		return func(f *Facts) { f.Intent.ClientOrderID = "p-1"; change(f.Intent) }
	}
	runOver(t, DuplicateClientOrderID, duplicateClientOrderID, []row{
		{"no id", named(journal.VerdictAllowed, "p-1"), nil, Pass},
		{"an unused id", named(journal.VerdictAllowed, "p-1"), id("p-2"), Pass},
		{"an id in another case", named(journal.VerdictAllowed, "p-1"), id("P-1"), Pass},
		{"another price", named(journal.VerdictAllowed, "p-1"),
			other(func(in *order.Intent) { in.LimitPrice = prc("201") }), Deny},
		{"another time in force", named(journal.VerdictAllowed, "p-1"),
			other(func(in *order.Intent) { in.TimeInForce = order.GTC }), Deny},
		{"the same order again", named(journal.VerdictAllowed, "p-1"), id("p-1"), Deny},
		{"a denied order's id is free", named(journal.VerdictDenied, "p-1"), id("p-1"), Pass},
		{"a faulted order's id is free", named(journal.VerdictError, "p-1"), id("p-1"), Pass},
		{"reducing", named(journal.VerdictAllowed, "p-1"), func(f *Facts) { reducing(f); f.Intent.ClientOrderID = "p-1" }, Deny},
	})
}

func TestDuplicateClientOrderIDNamesTheFirstOrder(t *testing.T) {
	l := folded(t)
	named(journal.VerdictAllowed, "p-1")(l)
	f := l.facts()
	f.Intent.ClientOrderID = "p-1"
	passing(t, "the same", duplicateClientOrderID(&f), "", RetryNo)
	f.Intent.Quantity = qty("11")
	passing(t, "another", duplicateClientOrderID(&f), "an unused client_order_id", RetryChanged)
}
