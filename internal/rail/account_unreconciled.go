package rail

import "github.com/broker-rails/broker-rails/internal/money"

func accountUnreconciledRail() Rail {
	return Rail{
		ID: AccountUnreconciled, Family: familyPosition,
		Exempt: ExemptOwn, Check: accountUnreconciled,
	}
}

// accountUnreconciled denies new risk on a ledger that the broker does not confirm.
//
// Positions move outside: by hand, by corporate actions, by fills that were never
// told. An order is denied while ledger and broker differ in this instrument, when the
// last whole reconciliation is older than 60 s (exactly 60 s passes; the paper broker's
// age is not asked), and after a start until the process has ended its first one. A
// difference in cash is left to insufficient_buying_power, which compares with the
// smaller figure. No key switches it off.
//
// After a start a reducing order passes. With a difference it passes once the position
// was re-read under 60 s ago, and then only up to what the broker says is held, less
// the exits that work. An old reconciliation stops it too, until the next one.
//
// Source: RTS 6 art. 17 (reconciling own records with broker and venue).
func accountUnreconciled(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(AccountUnreconciled, missing)
	}
	broker, ledger, differs := f.difference()
	switch {
	case differs && !(f.spared() && f.reread() && (f.LowersOnly || f.closesAtBroker(broker))):
		return denyDifference(broker, ledger)
	case f.Request.StartPending:
		if f.spared() {
			return pass(AccountUnreconciled)
		}
		return deny(AccountUnreconciled, "no reconciliation since the start", "one", "",
			"The account has not been reconciled since the start; only reducing orders pass until it is.", RetryLater)
	case f.Request.PaperBroker:
		return pass(AccountUnreconciled)
	}
	return reconciledLately(f)
}

// difference is what the broker and the ledger hold of the order's instrument, if the
// last reconciliation found that they differ.
func (f *Facts) difference() (broker, ledger money.Quantity, differs bool) {
	for i := range f.State.Reconciled.Differences {
		if d := &f.State.Reconciled.Differences[i]; d.Symbol == f.symbol() {
			return d.Broker, d.Ledger, true
		}
	}
	return money.Quantity{}, money.Quantity{}, false
}

// closesAtBroker reports whether the order reduces the position that the broker shows:
// of the same sign as ours, and large enough for it and the exits that work.
func (f *Facts) closesAtBroker(broker money.Quantity) bool {
	if f.Holding == nil || broker.IsZero() || broker.Sign() != f.Position.Sign() {
		return false
	}
	working := f.Holding.OpenSell
	if broker.IsNegative() {
		working = f.Holding.OpenBuy
	}
	free, ok := broker.Abs().Sub(working)
	return ok && f.Increment.Cmp(free) <= 0
}

func denyDifference(broker, ledger money.Quantity) Finding {
	observed, expected := broker.String(), ledger.String()
	return deny(AccountUnreconciled, observed, expected, "",
		"The broker holds "+observed+" of this instrument where the ledger holds "+expected+
			"; a reconciliation settles it.", RetryLater)
}

func reconciledLately(f *Facts) Finding {
	read, now := f.State.Reconciled.At, f.Request.Now
	age := now.Sub(read)
	switch {
	case read.IsZero():
		return deny(AccountUnreconciled, "never", reconciledMax.String(), "",
			"The account was never reconciled with the broker.", RetryLater)
	case age > reconciledMax:
		observed := beyond(age)
		return deny(AccountUnreconciled, observed, reconciledMax.String(), "",
			"The last reconciliation is "+observed+" old, above "+reconciledMax.String()+".", RetryLater)
	case age < 0:
		return deny(AccountUnreconciled, beyond(age), "0s", "",
			"The last reconciliation bears a time that is still to come.", RetryLater)
	}
	return pass(AccountUnreconciled)
}
