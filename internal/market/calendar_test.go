package market_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/market"
)

// xnysDigest changes whenever what the shipped calendar answers does. A change needs
// a line in the change log: decisions name the digest that they were judged by.
const xnysDigest = "407e00a45cffac0c8c79b697a0718324a9475f8906b2cfd3694442af78f5242f"

func TestDigestIsOfTheCanonicalText(t *testing.T) {
	cal := market.XNYS()
	text := cal.AppendCanonical(nil)
	sum := sha256.Sum256(text)
	if cal.Digest() != hex.EncodeToString(sum[:]) {
		t.Error("digest is not the hash of the canonical text")
	}
	if cal.Digest() != xnysDigest {
		t.Errorf("digest of the shipped calendar is %s, was %s", cal.Digest(), xnysDigest)
	}
	for _, line := range []string{
		"mic XNYS\n", "valid 2010-01-01 2027-12-31\n", "closed 2025-01-09\n", "early 2026-11-27\n",
	} {
		if !strings.Contains(string(text), line) {
			t.Errorf("canonical text lacks %q", line)
		}
	}
}

func TestByMIC(t *testing.T) {
	cal, ok := market.ByMIC("XNYS")
	if !ok || cal.Digest() != xnysDigest || cal.MIC() != market.MICXNYS ||
		cal.ValidFrom() != 2010_01_01 || cal.ValidThrough() != 2027_12_31 {
		t.Errorf("XNYS: got %s %s to %s, %t", cal.MIC(), cal.ValidFrom(), cal.ValidThrough(), ok)
	}
	for _, mic := range []string{"", "xnys", "XLON", "XNYS "} { // TIM-06's London is not shipped
		if cal, ok := market.ByMIC(mic); ok || cal.Digest() != "" {
			t.Errorf("%q gave a calendar", mic)
		}
	}
}

func TestFailClosedZeroCalendar(t *testing.T) {
	var cal market.Calendar
	at := utc(t, "2026-03-18T15:00:00Z")
	if cal.IsTradingDay(2026_03_18) || cal.IsTradingDay(1970_01_01) || cal.ValidFrom() != 0 || cal.ValidThrough() != 0 ||
		cal.Digest() != "" || cal.DaysToExpiry(at) >= 0 || market.Session(at, cal).Known {
		t.Error("the zero calendar knows something")
	}
}

func TestDaysToExpiry(t *testing.T) {
	cal := market.XNYS()
	for _, c := range []struct {
		at   string
		want int
	}{
		{"2027-12-01T15:00:00Z", market.ExpiryWarnDays},
		{"2027-12-01T04:59:59Z", market.ExpiryWarnDays + 1}, // still November in New York
		{"2027-12-31T15:00:00Z", 0},
		{"2028-01-01T04:59:59Z", 0},
		{"2028-01-01T05:00:00Z", -1},
		{"0001-01-01T00:00:00Z", -1},
	} {
		if got := cal.DaysToExpiry(utc(t, c.at)); got != c.want {
			t.Errorf("%s: got %d, want %d", c.at, got, c.want)
		}
	}
}

func TestOverrides(t *testing.T) {
	base := market.XNYS()
	cal, err := base.WithOverrides([]market.Override{
		{Date: 2026_05_06, Kind: market.OverrideEarlyClose, Reason: "notice of the exchange"},
		{Date: 2026_05_05, Kind: market.OverrideClosed, Reason: "day of mourning"},
		{Date: 2026_11_27, Kind: market.OverrideClosed, Reason: "closes an early day"},
		{Date: 2026_04_03, Kind: market.OverrideClosed, Reason: "closed already"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if cal.IsTradingDay(2026_05_05) || !cal.IsEarlyClose(2026_05_06) || cal.IsTradingDay(2026_11_27) || cal.IsTradingDay(2026_04_03) {
		t.Error("an override was not applied")
	}
	if got := market.Session(utc(t, "2026-05-05T15:00:00Z"), cal); got.Kind != market.Closed || got.TradeDate != 2026_05_06 || !got.Known {
		t.Errorf("the closed day: got %+v", got)
	}
	if got := market.Session(utc(t, "2026-05-06T17:00:00Z"), cal); got.Kind != market.Post {
		t.Errorf("13:00 of the early close: got %s", got.Kind)
	}
	if base.Digest() != xnysDigest || !base.IsTradingDay(2026_05_05) || len(base.Overrides()) != 0 {
		t.Error("the calendar that overrides were added to has changed")
	}
	if got := cal.Overrides(); len(got) != 4 || got[0].Date != 2026_04_03 || got[3].Date != 2026_11_27 {
		t.Errorf("overrides are not in order: %v", got)
	}
	if !strings.Contains(string(cal.AppendCanonical(nil)), "override 2026-05-05 closed \"day of mourning\"\n") {
		t.Error("canonical text lacks the override")
	}
	more, err := cal.WithOverrides([]market.Override{{Date: 2026_05_07, Kind: market.OverrideClosed, Reason: "second day"}})
	if err != nil || more.IsTradingDay(2026_05_05) || more.IsTradingDay(2026_05_07) || !cal.IsTradingDay(2026_05_07) {
		t.Errorf("overrides on overrides: %v", err)
	}
	if got := len(more.Overrides()); got != 5 {
		t.Errorf("%d overrides are kept, want 5", got)
	}
	if _, err := more.WithOverrides([]market.Override{{Date: 2026_05_07, Kind: market.OverrideEarlyClose, Reason: "again"}}); err == nil {
		t.Error("a second override for one date was taken")
	}
}

// TestDigestTellsCalendarsApart: order of the overrides does not count, everything
// else does.
func TestDigestTellsCalendarsApart(t *testing.T) {
	a := market.Override{Date: 2026_05_05, Kind: market.OverrideClosed, Reason: "a"}
	b := market.Override{Date: 2026_05_06, Kind: market.OverrideEarlyClose, Reason: "b"}
	early, reason, forged := a, a, a
	early.Kind = market.OverrideEarlyClose
	reason.Reason = "another"
	forged.Reason = "a\"\noverride 2026-05-06 early_close \"b"
	seen := map[string]int{}
	for i, set := range [][]market.Override{nil, {a}, {b}, {a, b}, {early}, {reason}, {forged}} {
		cal, err := market.XNYS().WithOverrides(set)
		if err != nil {
			t.Fatal(err)
		}
		if j, ok := seen[cal.Digest()]; ok {
			t.Errorf("sets %d and %d have one digest", i, j)
		}
		seen[cal.Digest()] = i
	}
	ab, _ := market.XNYS().WithOverrides([]market.Override{a, b})
	ba, _ := market.XNYS().WithOverrides([]market.Override{b, a})
	if ab.Digest() != ba.Digest() {
		t.Error("the order in which overrides were given counts")
	}
}

func TestFailClosedBadOverrides(t *testing.T) {
	good := market.Override{Date: 2026_05_05, Kind: market.OverrideClosed, Reason: "good"}
	with := func(change func(*market.Override)) []market.Override {
		o := market.Override{Date: 2026_05_06, Kind: market.OverrideClosed, Reason: "r"}
		change(&o)
		return []market.Override{good, o}
	}
	for why, set := range map[string][]market.Override{
		"outside_validity":  with(func(o *market.Override) { o.Date = 2028_01_03 }),
		"unknown_kind":      with(func(o *market.Override) { o.Kind = market.OverrideNone }),
		"no_reason":         with(func(o *market.Override) { o.Reason = "" }),
		"reason_too_long":   with(func(o *market.Override) { o.Reason = strings.Repeat("r", market.OverrideReasonBytesMax+1) }),
		"duplicate_date":    with(func(o *market.Override) { o.Date = good.Date }),
		"not_a_trading_day": with(func(o *market.Override) { o.Date, o.Kind = 2026_04_03, market.OverrideEarlyClose }),
		"too_many":          make([]market.Override, market.OverridesMax+1),
	} {
		cal, err := market.XNYS().WithOverrides(set)
		var refused *market.OverrideError
		if !errors.As(err, &refused) || refused.Why != why || cal.Digest() != "" || cal.IsTradingDay(2026_03_18) {
			t.Errorf("%s: got %v and a calendar with digest %q", why, err, cal.Digest())
		}
	}
	refused := &market.OverrideError{Date: 2026_05_06, Why: "no_reason"}
	if got, want := refused.Error(), "calendar override 2026-05-06: no_reason"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, d := range []market.TradeDate{0, -5, 2026_02_29, 2009_12_31} {
		if _, err := market.XNYS().WithOverrides([]market.Override{{Date: d, Kind: market.OverrideClosed, Reason: "r"}}); err == nil {
			t.Errorf("date %d was taken", d)
		}
	}
	if _, err := (market.Calendar{}).WithOverrides([]market.Override{good}); err == nil {
		t.Error("the zero calendar took an override")
	}
}

func TestOverrideKindText(t *testing.T) {
	for _, k := range []market.OverrideKind{market.OverrideClosed, market.OverrideEarlyClose} {
		b, err := k.MarshalText()
		var back market.OverrideKind
		if err != nil || back.UnmarshalText(b) != nil || back != k {
			t.Errorf("%s: wrote %q (%v), read %s", k, b, err, back)
		}
	}
	for _, k := range []market.OverrideKind{market.OverrideNone, 9} {
		if _, err := k.MarshalText(); err == nil {
			t.Errorf("kind %d was written", k)
		}
	}
	var k market.OverrideKind
	for _, bad := range []string{"", "open", "Closed"} {
		if k.UnmarshalText([]byte(bad)) == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func BenchmarkXNYS(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		market.XNYS()
	}
}
