package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
)

func TestMaxDailyLoss(t *testing.T) {
	run(t, MaxDailyLoss, maxDailyLoss, []check{
		{"a gain", func(f *Facts) { f.Equity = ntl("120000") }, Pass},
		{"one unit of precision below", func(f *Facts) { f.Equity = ntl("95000.000000001") }, Pass},
		{"at", func(f *Facts) { f.Equity = ntl("95000") }, Deny},
		{"beyond", func(f *Facts) { f.Equity = ntl("90000") }, Deny},
		{"realized, one unit below", func(f *Facts) { f.State.Day.Realized = ntl("-4999.999999999") }, Pass},
		{"realized at", func(f *Facts) { f.State.Day.Realized = ntl("-5000") }, Deny},
		{"realized gain", func(f *Facts) { f.State.Day.Realized = ntl("9000") }, Pass},
		{"realized at, equity up", func(f *Facts) { f.State.Day.Realized, f.Equity = ntl("-5000"), ntl("110000") }, Deny},
		{"a deposit does not hide a loss", func(f *Facts) {
			f.State.Day.Flows, f.Equity = ntl("10000"), ntl("105000")
		}, Deny},
		{"a withdrawal is no loss", func(f *Facts) { f.State.Day.Flows, f.Equity = ntl("-10000"), ntl("90000") }, Pass},
		{"latched, recovered since", func(f *Facts) { f.State.Day.LossLatched = true }, Deny},
		{"latched, equity unknown", func(f *Facts) { f.State.Day.LossLatched, f.EquityOK = true, false }, Deny},
		{"latched yesterday", func(f *Facts) {
			f.Session.TradeDate = 20260319
			f.State.Day.LossLatched, f.State.Day.Realized = true, ntl("-9000")
		}, Fault}, // and no equity at the open of the new date yet
		{"zero: any day that is not a gain", func(f *Facts) { f.Limits.Session.MaxDailyLoss = on(ntl("0")) }, Deny},
		{"equity unknown", func(f *Facts) { f.EquityOK = false }, Fault},
		{"equity unknown, realized at", func(f *Facts) { f.EquityOK, f.State.Day.Realized = false, ntl("-5000") }, Deny},
		{"no equity at the open", func(f *Facts) { f.State.Day.HasOpen = false }, Fault},
		{"no trade date", func(f *Facts) { f.Session = market.SessionInfo{} }, Fault},
		{"out of range", func(f *Facts) {
			f.State.Day.EquityAtOpen, f.State.Day.Flows = ntl("99999999999999999999"), ntl("99999999999999999999")
		}, Fault},
		{"reducing", func(f *Facts) { f.reduce("10", "10"); f.Equity = ntl("90000") }, Pass},
		{"reducing, latched", func(f *Facts) { f.reduce("10", "10"); f.State.Day.LossLatched = true }, Pass},
		{"replace that only lowers", func(f *Facts) { f.lowers(); f.Equity = ntl("90000") }, Pass},
		{"off", func(f *Facts) {
			f.Equity = ntl("90000")
			f.Limits.Session.MaxDailyLoss = switchedOff[money.Notional]()
		}, Off},
	})
}

func TestMaxDailyLossTripsOnEveryOrder(t *testing.T) {
	rows := []struct {
		name string
		set  func(f *Facts)
		want bool
	}{
		{"not reached", nil, false},
		{"one unit below", func(f *Facts) { f.Equity = ntl("95000.000000001") }, false},
		{"at", func(f *Facts) { f.Equity = ntl("95000") }, true},
		{"on a reducing order that passes", func(f *Facts) { f.reduce("10", "10"); f.Equity = ntl("95000") }, true},
		{"realized", func(f *Facts) { f.State.Day.Realized = ntl("-5000") }, true},
		{"equity unknown", func(f *Facts) { f.Equity, f.EquityOK = ntl("0"), false }, false},
		{"yesterday's realized", func(f *Facts) {
			f.State.Day = account.Day{Date: 20260317, HasOpen: true, Realized: ntl("-9000")}
		}, false},
		{"off", func(f *Facts) {
			f.Equity = ntl("0")
			f.Limits.Session.MaxDailyLoss = switchedOff[money.Notional]()
		}, false},
		{"no facts", func(f *Facts) { *f = Facts{} }, false},
	}
	for _, r := range rows {
		f := baseFacts()
		if r.set != nil {
			r.set(&f)
		}
		for _, denied := range []bool{false, true} {
			if got := maxDailyLossTrips(&f, denied); got != r.want {
				t.Errorf("%s: trips %v, want %v", r.name, got, r.want)
			}
		}
	}
}

func TestMaxDailyLossTellsTheLoss(t *testing.T) {
	f := baseFacts()
	f.Equity, f.State.Day.Realized = ntl("94000.5"), ntl("-5000")
	if got := maxDailyLoss(&f); got.Observed != "5999.5" || got.Limit != "5000" {
		t.Errorf("got %+v", got)
	}
}
