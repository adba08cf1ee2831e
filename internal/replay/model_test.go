package replay

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
)

// TestOnlyTheDatesAskedFor: before --from the recorded limits hold, and after --to nothing
// counts.
func TestOnlyTheDatesAskedFor(t *testing.T) {
	source := week(t, 2, false)
	strict := shipped(t, "size: {max_order_qty: 20}")
	whole := play1(t, source, strict, Options{})
	second, _ := market.NewTradeDate(2026, time.March, 19)
	one := play1(t, source, strict, Options{From: second, To: second})
	if len(one.Dates) != 1 || one.From != "2026-03-19" || one.Through != "2026-03-19" {
		t.Fatalf("replayed %s through %s, %d dates", one.From, one.Through, len(one.Dates))
	}
	if got, want := one.AsRecorded.Changes, whole.Dates[1].AsRecorded; got != want {
		t.Errorf("as recorded the date has %+v, in the whole replay %+v", got, want)
	}
	if one.Decisions != whole.Dates[1].Decisions || one.Decisions == 0 {
		t.Errorf("%d decisions, want %d", one.Decisions, whole.Dates[1].Decisions)
	}
	same := play1(t, source, shipped(t), Options{From: second})
	if same.ChangedAll != 0 || same.Followed.Unfollowed != 0 || len(same.Dates) != 1 || same.Recorded.Trade != same.Followed.Trade {
		t.Errorf("with the recorded limits from the second date on: %d changes, %+v", same.ChangedAll, same.Followed)
	}
}

// TestWhatNoLaterEntryNamesIsForgotten: memory does not grow with the history.
func TestWhatNoLaterEntryNamesIsForgotten(t *testing.T) {
	o := Options{
		Account: "paper", Limits: shipped(t, "size: {max_order_qty: 20}"), Text: "test", Assume: AssumeFill, Audit: audit.Options{Calendar: market.XNYS()},
	}
	p, most := newPlay(&o), 0
	o.Audit.Follow = func(e *journal.Entry, before *account.State) error {
		err := p.entry(e, before)
		if p.other != nil {
			most = max(most, len(p.other.fates)+len(p.other.guesses)+len(p.other.order))
		}
		return err
	}
	if _, err := audit.Verify(context.Background(), week(t, 6, false), o.Audit); err != nil {
		t.Fatal(err)
	}
	busiest := 0
	for _, d := range p.report.Dates {
		busiest = max(busiest, d.Decisions)
	}
	if most == 0 || most > 2*busiest+100 {
		t.Errorf("%d decisions were remembered at once; a date had %d at the most", most, busiest)
	}
}

// TestAnotherCalendarIsSaid: what cannot be judged again is counted, and stands.
func TestAnotherCalendarIsSaid(t *testing.T) {
	later, _ := market.NewTradeDate(2026, time.December, 24)
	other, err := market.XNYS().WithOverrides([]market.Override{{Date: later, Kind: market.OverrideClosed, Reason: "a storm"}})
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := Run(context.Background(), week(t, 1, false), Options{
		Account: "paper", Limits: shipped(t, "size: {max_order_qty: 1}"), Text: "test", Assume: AssumeFill, Audit: audit.Options{Calendar: other},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Decisions != 0 || r.NotJudged == 0 || r.ChangedAll != 0 {
		t.Errorf("%d judged, %d not, %d changes", r.Decisions, r.NotJudged, r.ChangedAll)
	}
	if r.Recorded.Trade != r.Followed.Trade || r.Followed.Unfollowed != 0 {
		t.Errorf("recorded %+v, followed %+v", r.Recorded.Trade, r.Followed)
	}
}

// TestWhatIsDeniedIsNotHeldLater: the same sale passes on the account as it was, and not
// where its purchase was denied. It is the difference between the two ways.
func TestWhatIsDeniedIsNotHeldLater(t *testing.T) {
	r := play1(t, week(t, 1, false), shipped(t, "instrument: {sides: [sell]}"), Options{})
	if r.Followed.Fills != 0 || r.Recorded.Fills == 0 || r.Followed.FillsGone != r.Recorded.Fills {
		t.Errorf("%d of %d fills are left where nothing may be bought", r.Followed.Fills, r.Recorded.Fills)
	}
	sales := 0
	for i := range r.Changed {
		c := &r.Changed[i]
		if c.Side == "sell" && c.AsRecorded.Verdict == journal.VerdictAllowed {
			sales++
			if c.Followed.Verdict == journal.VerdictAllowed || c.Why != ByHistory || !slices.Contains(c.Followed.Rails, "short_not_allowed") && c.Followed.Verdict != Moot {
				t.Errorf("%s: %+v", c.Entry, c)
			}
		}
	}
	if sales == 0 {
		t.Error("no sale was seen")
	}
	if r.Followed.Equity != money.MustNotional("100000") || !r.Followed.PeakGross.Equal(money.Notional{}) {
		t.Errorf("an account that bought nothing comes to %s, at the most %s", r.Followed.Equity, r.Followed.PeakGross)
	}
}

// TestAssumptionsAreMarked: what is newly allowed is filled by the one and not by the other,
// and nothing before the first assumption depends on one.
func TestAssumptionsAreMarked(t *testing.T) {
	source := week(t, 1, false)
	loose := shipped(t, "instrument: {symbols: [AAPL, AMZN, GOOGL, MSFT, NVDA, QQQ, SPY, TSLA]}")
	filled, none := play1(t, source, loose, Options{}), play1(t, source, loose, Options{Assume: AssumeNone})
	if filled.Followed.FillsAssumed == 0 || none.Followed.FillsAssumed != 0 {
		t.Errorf("%d and %d fills were assumed", filled.Followed.FillsAssumed, none.Followed.FillsAssumed)
	}
	for _, r := range []*Report{filled, none} {
		if r.AsRecorded != filled.AsRecorded {
			t.Error("an assumption changes the account as it was")
		}
		for i := range r.Changed {
			if c := &r.Changed[i]; c.Depends != (i > 0) {
				t.Errorf("%s, change %d, depends on an assumption: %v; the first change made one", c.Entry, i, c.Depends)
			}
		}
	}
	if r := play1(t, source, shipped(t, "instrument: {sides: [sell]}"), Options{}); r.Changed[0].Depends {
		t.Error("a purchase that is newly denied depends on nothing")
	}
}

// TestAJournalThatDoesNotVerifyIsNotReplayed.
func TestAJournalThatDoesNotVerifyIsNotReplayed(t *testing.T) {
	source := week(t, 1, false)
	cut := func(ctx context.Context, each func(audit.Item) error) error {
		n := 0
		return source(ctx, func(i audit.Item) error {
			if n++; n == 50 {
				return nil
			}
			return each(i)
		})
	}
	r, found, err := Run(context.Background(), cut, Options{
		Account: "paper", Limits: shipped(t), Text: "test", Assume: AssumeFill, Audit: audit.Options{Calendar: market.XNYS()},
	})
	if r != nil || err != nil || len(found.Failed()) == 0 {
		t.Errorf("report %v, error %v", r != nil, err)
	}
}

// TestFailClosedOptions: without limits, or an assumption, nothing is said.
func TestFailClosedOptions(t *testing.T) {
	for _, o := range []Options{{}, {Limits: shipped(t)}, {Assume: AssumeFill}, {Limits: shipped(t), Assume: "luck"}} {
		if r, _, err := Run(context.Background(), nil, o); err == nil || r != nil {
			t.Errorf("%+v gave a report", o)
		}
	}
}

// TestReportsForm: the JSON of a report, with few of its rows, is the committed one. The same
// journal gives the same bytes.
func TestReportsForm(t *testing.T) {
	source, doc := week(t, 1, false), shipped(t, "size: {max_order_qty: 20}", "session: {max_orders_per_minute: 3}")
	var texts [2][]byte
	for i := range texts {
		r := play1(t, source, doc, Options{})
		if page, err := r.Page(); err != nil || len(page) < 1000 {
			t.Fatal("no page", err)
		}
		if len(r.Points) > 2*PointsMax {
			t.Errorf("%d points", len(r.Points))
		}
		r.Points, r.Changed = r.Points[:2], append(r.Changed[:1:1], r.Changed[len(r.Changed)-1])
		var err error
		if texts[i], err = json.Marshal(r, json.Deterministic(true), jsontext.WithIndent("  ")); err != nil {
			t.Fatal(err)
		}
	}
	const golden = "testdata/report.json"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, append(texts[0], '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != string(texts[0])+"\n" || string(texts[1]) != string(texts[0]) {
		t.Errorf("%v: differs from %s; see the change with UPDATE=1", err, golden)
	}
}
