package rail

import (
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
)

// cards repeats what each rail says of itself beside its keys: family, exemption and
// effect. The documentation and every door's description of the rails are made of them,
// so that a change must be meant.
func cards() string {
	return `
		instrument_unknown instrument none none
		instrument_halted instrument none none
		symbol_not_allowed instrument all none
		symbol_restricted instrument none none
		asset_class_not_allowed instrument none none
		side_not_allowed instrument none none
		order_type_not_allowed instrument none none
		time_in_force_not_allowed instrument none none
		extended_hours_not_allowed instrument none none
		fractional_not_allowed instrument own none
		short_not_allowed instrument none none
		max_order_qty size none none
		max_order_notional size own none
		min_order_notional size own none
		max_order_pct_of_equity size all none
		quantity_step size own none
		max_position_qty position all none
		max_position_notional position all none
		max_gross_exposure position all none
		max_net_exposure position all none
		max_concentration position all none
		insufficient_buying_power position all none
		position_flip position none none
		max_open_orders position own none
		self_cross position none none
		order_in_doubt position own none
		account_unreconciled position own none
		limit_price_collar collar own none
		passive_price_collar collar none none
		market_order_guard collar own none
		quote_stale collar all none
		quote_invalid collar all none
		spread_too_wide collar all none
		price_step collar none none
		stop_price_side collar none none
		max_orders_per_minute session own none
		max_notional_per_minute session all none
		max_messages_per_minute session own none
		max_orders_per_day session all none
		max_notional_per_day session all none
		max_daily_loss session all latch
		max_drawdown session all reduce_only
		kill_switch session own none
		market_closed session none none
		trading_window session all none
		duplicate_client_order_id session none none
		duplicate_order session own none
		denial_storm session all reduce_only
		repeated_execution session all reduce_only
		clock_suspect session all none
`
}

func TestEveryRailsCard(t *testing.T) {
	words := map[Exempt]string{ExemptNone: "none", ExemptAll: "all", ExemptOwn: "own"}
	lines := strings.Split(strings.TrimSpace(cards()), "\n")
	if len(lines) != Count {
		t.Fatalf("%d cards for %d rails", len(lines), Count)
	}
	for i, r := range All() {
		got := strings.Join([]string{string(r.ID), r.Family, words[r.Exempt], r.Effect.String()}, " ")
		if want := strings.TrimSpace(lines[i]); got != want {
			t.Errorf("card %q, want %q", got, want)
		}
	}
}

// retryOf is when the order of a denial may come again, as a rail's comment has it.
func retryOf(d Finding) Retry {
	switch d.Rail {
	case AssetClassNotAllowed, SymbolRestricted, DenialStorm, RepeatedExecution, KillSwitch, MaxDrawdown:
		return RetryNo
	case InstrumentHalted, AccountUnreconciled, OrderInDoubt, MarketOrderGuard, SpreadTooWide, QuoteStale,
		QuoteInvalid, MaxOrdersPerMinute, MaxMessagesPerMinute, MaxOrdersPerDay, MaxDailyLoss, MaxOpenOrders,
		TradingWindow, ClockSuspect:
		return RetryLater
	case MarketClosed:
		if strings.Contains(d.Text, "calendar") {
			return RetryNo
		}
		return RetryLater
	case ExtendedHoursNotAllowed:
		if d.Observed == "outside the regular session" && strings.HasPrefix(d.Limit, "allow_extended_hours") {
			return RetryLater
		}
	case DuplicateClientOrderID:
		if d.Observed == "the same order" {
			return RetryNo
		}
	case DuplicateOrder:
		if d.Observed == "in doubt" {
			return RetryNo
		}
		return RetryLater
	case SelfCross:
		if strings.HasPrefix(d.Limit, "no own market order") {
			return RetryLater
		}
	case MaxPositionQty, MaxPositionNotional, MaxGrossExposure, MaxNetExposure, MaxConcentration,
		InsufficientBuyingPower, PositionFlip:
		if d.Passes == "" {
			return RetryNo
		}
	case MaxNotionalPerMinute, MaxNotionalPerDay:
		if d.Passes == "" {
			return RetryLater
		}
	}
	return RetryChanged
}

func TestWordsOfStatusAndEffect(t *testing.T) {
	for status, want := range map[Status]string{StatusNone: "none", Pass: "pass", Deny: "deny", Fault: "fault", Off: "off", Off + 1: "none", 255: "none"} {
		if got := status.String(); got != want {
			t.Errorf("status %d reads %q, want %q", status, got, want)
		}
	}
	for kind, want := range map[EffectKind]string{EffectNone: "none", EffectLatch: "latch", EffectReduceOnly: "reduce_only", EffectReduceOnly + 1: "none", 255: "none"} {
		if got := kind.String(); got != want {
			t.Errorf("effect %d reads %q, want %q", kind, got, want)
		}
	}
}

// TestEffectsAreToldOnce: what trips is told in the order of All, and what holds already
// is not told again.
func TestEffectsAreToldOnce(t *testing.T) {
	latch, drawdown := Effect{MaxDailyLoss, EffectLatch}, Effect{MaxDrawdown, EffectReduceOnly}
	storm, repeated := Effect{DenialStorm, EffectReduceOnly}, Effect{RepeatedExecution, EffectReduceOnly}
	loss := func(f *Facts) { f.Equity = ntl("95000") }
	denials := func(f *Facts) { f.Limits.Session.DenialStorm.Value.Denials = 0 }
	cycles := func(f *Facts) { f.Limits.Session.RepeatedExecution.Value.Cycles = 0 }
	for _, c := range []struct {
		name string
		set  []func(f *Facts)
		want []Effect
	}{
		{"nothing", nil, nil},
		{"loss", []func(f *Facts){loss}, []Effect{latch}},
		{"loss, latched today", []func(f *Facts){loss, func(f *Facts) { f.State.Day.LossLatched = true }}, nil},
		{"loss, another date's latch", []func(f *Facts){loss, func(f *Facts) {
			f.State.Day.LossLatched, f.Session.TradeDate = true, 20260317
		}}, []Effect{latch}},
		{"drawdown", []func(f *Facts){func(f *Facts) { f.State.Peak.Equity = ntl("120000") }}, []Effect{drawdown}},
		{"denials", []func(f *Facts){denials}, []Effect{storm}},
		{"cycles", []func(f *Facts){cycles}, []Effect{repeated}},
		{"all", []func(f *Facts){denials, cycles, func(f *Facts) { f.Equity = ntl("50000") }}, []Effect{latch, drawdown, storm, repeated}},
		{"all, in reduce_only", []func(f *Facts){denials, cycles, func(f *Facts) {
			f.Equity, f.State.Mode = ntl("50000"), account.ReduceOnly
		}}, []Effect{latch}},
		{"all, halted", []func(f *Facts){denials, cycles, func(f *Facts) {
			f.Equity, f.State.Mode = ntl("50000"), account.Halted
		}}, []Effect{latch}},
	} {
		f := baseFacts()
		for _, set := range c.set {
			set(&f)
		}
		got := Effects(&f, true)
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		}
	}
}

// TestTheFactsAreCheckedOnceARun: Run checks that the facts are whole once, for all
// rails, and does not leave that behind for facts that change after it.
func TestTheFactsAreCheckedOnceARun(t *testing.T) {
	f := baseFacts()
	var out [Count]Finding
	Run(&f, &out)
	f.State = nil
	if got := maxOrderQty(&f); got.Status != Fault {
		t.Errorf("without a state after a run: %s", got.Status)
	}
	Run(&f, &out)
	for _, got := range out {
		if got.Status != Fault {
			t.Errorf("%s: %s without a state", got.Rail, got.Status)
		}
	}
}
