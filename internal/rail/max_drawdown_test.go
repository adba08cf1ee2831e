package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/money"
)

func TestMaxDrawdown(t *testing.T) {
	run(t, MaxDrawdown, maxDrawdown, []check{
		{"at the peak", nil, Pass},
		{"above it", func(f *Facts) { f.Equity = ntl("130000") }, Pass},
		{"one unit of precision below the limit", func(f *Facts) { f.Equity = ntl("80000.000000001") }, Pass},
		{"at", func(f *Facts) { f.Equity = ntl("80000") }, Deny},
		{"beyond", func(f *Facts) { f.Equity = ntl("10000") }, Deny},
		{"no peak yet", func(f *Facts) { f.State.Peak, f.Equity = account.Peak{}, ntl("1") }, Pass},
		{"zero allows nothing", func(f *Facts) {
			f.Limits.Session.MaxDrawdown = on(ntl("0"))
			f.Equity = ntl("130000")
		}, Deny},
		{"equity unknown", func(f *Facts) { f.EquityOK = false }, Fault},
		{"out of range", func(f *Facts) {
			f.State.Peak.Equity, f.Equity = ntl("99999999999999999999"), ntl("-99999999999999999999")
		}, Fault},
		{"reducing", func(f *Facts) { f.reduce("10", "10"); f.Equity = ntl("10000") }, Pass},
		{"replace that only lowers", func(f *Facts) { f.lowers(); f.Equity = ntl("10000") }, Pass},
		{"off", func(f *Facts) {
			f.Equity = ntl("10000")
			f.Limits.Session.MaxDrawdown = switchedOff[money.Notional]()
		}, Off},
	})
}

func TestMaxDrawdownTripsOnEveryOrder(t *testing.T) {
	f := baseFacts()
	if maxDrawdownTrips(&f, true) {
		t.Error("trips at the peak")
	}
	f.Equity = ntl("80000.000000001")
	if maxDrawdownTrips(&f, true) {
		t.Error("trips one unit below the limit")
	}
	f.Equity = ntl("80000")
	if !maxDrawdownTrips(&f, false) {
		t.Error("does not trip at the limit")
	}
	f.reduce("10", "10")
	if !maxDrawdownTrips(&f, false) {
		t.Error("does not trip on a reducing order")
	}
	f.EquityOK = false
	if maxDrawdownTrips(&f, false) {
		t.Error("trips without equity")
	}
	f.EquityOK = true
	f.Limits.Session.MaxDrawdown = switchedOff[money.Notional]()
	if maxDrawdownTrips(&f, false) || maxDrawdownTrips(&Facts{}, false) {
		t.Error("trips when off, or without facts")
	}
}
