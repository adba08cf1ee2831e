package rail

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
)

// differs leaves a difference of one instrument open.
func (f *Facts) differs(symbol, ledger, broker string) {
	f.State.Reconciled.Differences = append(f.State.Reconciled.Differences,
		journal.Difference{Symbol: symbol, Ledger: qty(ledger), Broker: qty(broker)})
}

func TestAccountUnreconciled(t *testing.T) {
	run(t, AccountUnreconciled, accountUnreconciled, []check{
		{"read a second ago", nil, Pass},
		{"read at now", func(f *Facts) { f.State.Reconciled.At = at }, Pass},
		{"read 60 s ago", func(f *Facts) { f.State.Reconciled.At = ago(time.Minute) }, Pass},
		{"a nanosecond older", func(f *Facts) { f.State.Reconciled.At = ago(time.Minute + 1) }, Deny},
		{"never read", func(f *Facts) { f.State.Reconciled.At = time.Time{} }, Deny},
		{"read in the future", func(f *Facts) { f.State.Reconciled.At = at.Add(1) }, Deny},
		{"on paper, never read", func(f *Facts) {
			f.Request.PaperBroker, f.State.Reconciled = true, account.Reconciled{}
		}, Pass},
		{"another instrument differs", func(f *Facts) { f.differs("MSFT", "1", "2") }, Pass},
		{"cash differs", func(f *Facts) { f.differs("", "1", "2") }, Pass},
		{"this instrument differs", func(f *Facts) { f.differs("", "1", "2"); f.differs("AAPL", "0", "20") }, Deny},
		{"this instrument differs on paper", func(f *Facts) { f.Request.PaperBroker = true; f.differs("AAPL", "0", "20") }, Deny},
		{"after a start", func(f *Facts) { f.Request.StartPending = true }, Deny},
		{"after a start on paper", func(f *Facts) { f.Request.StartPending, f.Request.PaperBroker = true, true }, Deny},
	})
}

func TestAccountUnreconciledLetsExitsOut(t *testing.T) {
	exit := func(held, quantity, broker string) func(f *Facts) {
		return func(f *Facts) { f.reduce(held, quantity); f.differs("AAPL", held, broker) }
	}
	run(t, AccountUnreconciled, accountUnreconciled, []check{
		{"nothing differs", func(f *Facts) { f.reduce("10", "10") }, Pass},
		{"read long ago", func(f *Facts) { f.reduce("10", "10"); f.State.Reconciled.At = ago(time.Hour) }, Deny},
		{"read long ago, after a start", func(f *Facts) {
			f.reduce("10", "10")
			f.State.Reconciled.At, f.Request.StartPending = ago(time.Hour), true
		}, Pass},
		{"never read, after a start", func(f *Facts) {
			f.reduce("10", "10")
			f.State.Reconciled, f.Request.StartPending = account.Reconciled{}, true
		}, Pass},
		{"the broker holds more", exit("10", "10", "20"), Pass},
		{"the broker holds as much as is sold", exit("10", "5", "5"), Pass},
		{"the broker holds less than is sold", exit("10", "5", "4.999999999"), Deny},
		{"not reducing, whatever the broker holds", func(f *Facts) {
			exit("10", "5", "20")(f)
			f.Reducing = false
		}, Deny},
		{"the broker holds nothing", exit("10", "5", "0"), Deny},
		{"the broker is short", exit("10", "5", "-10"), Deny},
		{"what works takes from what the broker holds", func(f *Facts) {
			exit("10", "5", "9")(f)
			f.Holding.OpenSell = qty("5")
		}, Deny},
		{"and leaves the rest", func(f *Facts) {
			exit("10", "5", "10")(f)
			f.Holding.OpenSell = qty("5")
		}, Pass},
		{"a short, bought back up to what the broker holds", func(f *Facts) {
			exit("-10", "5", "-10")(f)
			f.Holding.OpenBuy = qty("5")
		}, Pass},
		{"a short, bought back beyond it", func(f *Facts) {
			exit("-10", "5", "-10")(f)
			f.Holding.OpenBuy = qty("5.000000001")
		}, Deny},
		{"differs, without a holding", func(f *Facts) { exit("10", "5", "10")(f); f.Holding = nil }, Deny},
		{"differs, read 60 s ago", func(f *Facts) { exit("10", "10", "20")(f); f.State.Reconciled.At = ago(time.Minute) }, Deny},
		{"differs, after a start", func(f *Facts) {
			exit("10", "10", "20")(f)
			f.State.Reconciled.At, f.Request.StartPending = ago(time.Hour), true
		}, Deny},
		{"replace that only lowers, differs", func(f *Facts) { f.lowers(); f.differs("AAPL", "0", "20") }, Pass},
		{"replace that only lowers, after a start", func(f *Facts) { f.lowers(); f.Request.StartPending = true }, Pass},
	})
}
