package sim

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
)

func run(t testing.TB, o Options) *Report {
	t.Helper()
	o.Calendar, o.Version = market.XNYS(), "test"
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *Report) denials(rail string) int {
	for _, one := range r.Rails {
		if one.Rail == rail {
			return one.Denials
		}
	}
	return 0
}

// TestTwoDaysHoldAndAreNotTame: that limits held says little unless they were met.
func TestTwoDaysHoldAndAreNotTame(t *testing.T) {
	r := run(t, Options{Days: 2, Seed: 1})
	if !r.Held || r.Totals.Errors != 0 {
		t.Fatalf("not held: %v %v", r.Violations, r.Audit.Differences)
	}
	for _, c := range r.Checks {
		if c.Made == 0 {
			t.Errorf("%s was never checked", c.Check)
		}
		if met := []Check{CheckQuantity, CheckPosition, CheckMinute, CheckDay}; slices.Contains(met, c.Check) && c.Peak != c.Cap {
			t.Errorf("%s: peak %s, so that the cap %s was not met", c.Check, c.Peak, c.Cap)
		}
	}
	for _, rail := range []string{
		"max_order_qty", "max_order_notional", "max_position_qty", "max_gross_exposure", "insufficient_buying_power", "short_not_allowed",
		"max_orders_per_minute", "max_notional_per_minute", "max_orders_per_day", "duplicate_order", "duplicate_client_order_id",
		"symbol_not_allowed", "order_type_not_allowed", "limit_price_collar", "price_step", "fractional_not_allowed",
		"time_in_force_not_allowed", "extended_hours_not_allowed", "invalid_number", "max_messages_per_minute",
	} {
		if r.denials(rail) == 0 {
			t.Errorf("nothing was denied by %s", rail)
		}
	}
	if r.Totals.Replayed == 0 || r.Totals.Fills == 0 || r.Totals.Replaces == 0 || r.Totals.Cancels == 0 {
		t.Errorf("%+v", r.Totals)
	}
	if r.Audit.Rederived != r.Audit.Decisions || r.Audit.Decisions == 0 {
		t.Errorf("%+v", r.Audit)
	}
}

func TestFaultsOfTheBrokerBreakNoLimit(t *testing.T) {
	for seed := range uint64(3) {
		r := run(t, Options{Days: 2, Seed: seed, Faults: true})
		if !r.Held {
			t.Fatalf("seed %d: %v %v", seed, r.Violations, r.Audit.Differences)
		}
		if r.Totals.InDoubt == 0 || r.Totals.Rejected == 0 || r.denials("order_in_doubt") == 0 {
			t.Errorf("seed %d: %+v", seed, r.Totals)
		}
	}
}

func TestSameSeedSameBytes(t *testing.T) {
	write := func(seed uint64) ([]byte, []byte) {
		r := run(t, Options{Days: 1, Seed: seed, Faults: true})
		text, err := json.Marshal(r, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		page, err := r.Page()
		if err != nil {
			t.Fatal(err)
		}
		return text, page
	}
	text, page := write(9)
	text2, page2 := write(9)
	if !bytes.Equal(text, text2) || !bytes.Equal(page, page2) {
		t.Error("one seed gave two reports")
	}
	if other, _ := write(10); bytes.Equal(text, other) {
		t.Error("two seeds gave one report")
	}
}

// TestTheCheckerDoesNotAskTheGate: the gate judges by looser limits, and each that it
// lets through is found at the broker.
func TestTheCheckerDoesNotAskTheGate(t *testing.T) {
	for _, row := range []struct {
		from, to string
		check    Check
	}{
		{"max_order_qty: 100", "max_order_qty: 100000", CheckQuantity},
		{`max_order_notional: "25000.00"`, `max_order_notional: "90000.00"`, CheckNotional},
		{"max_position_qty: 500", "max_position_qty: 5000", CheckPosition},
		{"max_orders_per_minute: 10", "max_orders_per_minute: 100", CheckMinute},
		{`max_notional_per_minute: "50000.00"`, `max_notional_per_minute: "500000.00"`, CheckMinuteValue},
		{"max_orders_per_day: 200", "max_orders_per_day: 2000", CheckDay},
		{"limit_price_collar: 150", "limit_price_collar: 900", CheckCollar},
		{"price_step: us_equity", "price_step: off", CheckSymbol},
	} {
		text := string(limits.Template(accountName))
		if strings.Count(text, row.from) != 1 {
			t.Fatalf("the shipped limits do not say %q once", row.from)
		}
		text = strings.Replace(text, row.from, row.to, 1)
		if row.check == CheckNotional { // the minute's notional would stand in for it
			text = strings.Replace(text, `max_notional_per_minute: "50000.00"`, `max_notional_per_minute: "500000.00"`, 1)
		}
		r := run(t, Options{Days: 1, Seed: 1, gateLimits: []byte(text)})
		found := false
		for _, c := range r.Checks {
			found = found || c.Check == row.check && c.Failed > 0
		}
		if !found || r.Held {
			t.Errorf("%s: not found at the broker; %v", row.to, r.Checks)
		}
	}
}

func TestDaysThatThereAreNot(t *testing.T) {
	for _, n := range []int{-1, 0, DaysMax + 1} {
		_, err := Run(t.Context(), Options{Days: n, Calendar: market.XNYS()})
		var days *DaysError
		if !errors.As(err, &days) || days.Most != DaysMax {
			t.Errorf("%d days: %v", n, err)
		}
	}
}

func TestClosedDaysAreSkipped(t *testing.T) {
	dates, err := datesFrom(market.XNYS(), 13)
	if err != nil {
		t.Fatal(err)
	}
	// Good Friday is 2026-04-03.
	if got := dates[11].String() + " " + dates[12].String(); got != "2026-04-02 2026-04-06" {
		t.Error(got)
	}
}

func TestThePageLoadsNothing(t *testing.T) {
	r := run(t, Options{Days: 1, Seed: 1})
	page, err := r.Page()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"http:", "https:", "src=", "<script", "@import", "url(", "<link", "NaN", "ZgotmplZ"} {
		if bytes.Contains(page, []byte(word)) {
			t.Errorf("the page holds %q", word)
		}
	}
	for _, word := range []string{"every limit held", "max_order_qty", "2026-03-18", `class="cap"`} {
		if !bytes.Contains(page, []byte(word)) {
			t.Errorf("the page lacks %q", word)
		}
	}
	r.Held, r.Violations = false, []Violation{{Check: CheckShort, Text: "<b>x</b>"}}
	if page, err = r.Page(); err != nil || !bytes.Contains(page, []byte("What did not hold")) || bytes.Contains(page, []byte("<b>x</b>")) {
		t.Error("a violation is not shown, or not as text")
	}
}

// TestCommittedReport: what stands in runs is what this version gives for that seed, but
// for the version and what follows from it in the hashes.
func TestCommittedReport(t *testing.T) {
	text, err := os.ReadFile("../../runs/session-7d-seed1/session.json")
	if err != nil {
		t.Fatal(err)
	}
	var was Report
	if err := json.Unmarshal(text, &was); err != nil {
		t.Fatal(err)
	}
	is := run(t, Options{Days: 7, Seed: 1})
	is.Version, is.Audit.Head, is.samples = was.Version, was.Audit.Head, nil
	want, _ := json.Marshal(&was, json.Deterministic(true))
	got, _ := json.Marshal(is, json.Deterministic(true))
	if !bytes.Equal(want, got) {
		t.Error("runs/session-7d-seed1 is of another version; write it anew: rails session --days 7 --out runs/session-7d-seed1")
	}
}

func BenchmarkWeek(b *testing.B) {
	for b.Loop() {
		run(b, Options{Days: 7, Seed: 1})
	}
}

// BenchmarkYear is 252 trade dates.
func BenchmarkYear(b *testing.B) {
	for b.Loop() {
		run(b, Options{Days: 252, Seed: 1})
	}
}
