package rail

import (
	"strconv"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/order"
)

// reconciledMax is how old a reconciliation may be and still tell what the broker
// holds: an exit that leans on it needs one that is younger than this, and away from
// the paper broker every new risk one that is not older.
const reconciledMax = 60 * time.Second

func orderInDoubtRail() Rail {
	return Rail{
		ID: OrderInDoubt, Family: familyPosition, Keys: []string{"position.max_in_doubt"},
		Exempt: ExemptOwn, Check: orderInDoubt,
	}
}

// orderInDoubt denies new risk while the outcome of an earlier order is not known.
//
// After a timeout or a lost reply the broker may hold the order, have filled it, or
// never have seen it. While an order of this instrument is in doubt, or more than
// max_in_doubt are in the account, nothing new is sent; at max_in_doubt elsewhere
// passes. Switched off, the account is not counted and the instrument still is. An
// order is in doubt as a function of now. A reducing order passes once the position
// was re-read: a whole reconciliation newer than each doubt in this instrument and
// under 60 s old. A replace of an order that is itself in doubt, not yet answered, or
// being canceled or replaced is denied whatever it changes.
//
// Source: RTS 6 art. 15(2): an order that was sent counts, whatever is known of it.
func orderInDoubt(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(OrderInDoubt, missing)
	}
	limit, now := f.Limits.Position.MaxInDoubt, f.Request.Now
	if !limit.Set {
		return unset(OrderInDoubt, "position.max_in_doubt")
	}
	if f.Intent.Action == order.ActionReplace {
		if f.Target == nil {
			return fault(OrderInDoubt, "the order to replace")
		}
		if unsettled(f.Target, now) {
			return denyInDoubt("1", "0", "Order "+f.Target.ID+" cannot be replaced while what became of it is not known")
		}
	}
	here, all := f.State.InDoubtIn(f.symbol(), now), f.State.InDoubtCount(now)
	switch {
	case !here && (!limit.On || all <= limit.Value):
		return pass(OrderInDoubt)
	case f.spared() && f.reread():
		return pass(OrderInDoubt)
	case here:
		return denyInDoubt("1", "0", "What became of an earlier order of this instrument is not known: it may have "+
			"been placed, and must not be sent again")
	}
	observed, most := strconv.Itoa(all), strconv.Itoa(limit.Value)
	return denyInDoubt(observed, most, "The outcomes of "+observed+" orders of the account are not known, above "+most)
}

func denyInDoubt(observed, most, text string) Finding {
	return deny(OrderInDoubt, observed, most, "", text+"; reconciling settles it.", RetryLater)
}

// unsettled reports whether a message about the order has no proven end: a replace on
// top of it could not be told from it.
func unsettled(o *account.Order, now time.Time) bool {
	return o.InDoubt(now) || o.Stage == account.Reserved || o.Pending != nil || o.Canceling != nil
}

// reread reports whether the position of this instrument was read at the broker after
// each doubt in it, and under reconciledMax ago.
func (f *Facts) reread() bool {
	read, now := f.State.Reconciled.At, f.Request.Now
	if age := now.Sub(read); read.IsZero() || age < 0 || age >= reconciledMax {
		return false
	}
	if f.Holding == nil {
		return true
	}
	for _, o := range f.Holding.Orders {
		if since := o.DoubtSince(now); !since.IsZero() && !read.After(since) {
			return false
		}
	}
	return true
}
