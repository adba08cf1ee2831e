package replay

import (
	"context"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/sim"
)

// week is a session's journal.
func week(t testing.TB, days int, faults bool) audit.Source {
	t.Helper()
	var items []audit.Item
	r, err := sim.Run(context.Background(), sim.Options{
		Days: days, Seed: 1, Faults: faults, Calendar: market.XNYS(), Version: "test",
		Keep: func(account string, b []byte, h journal.Hash) error {
			items = append(items, audit.Item{Account: account, Bytes: b, Stored: h})
			return nil
		},
	})
	if err != nil || !r.Held {
		t.Fatal("no session", err)
	}
	return func(_ context.Context, each func(audit.Item) error) error {
		for _, i := range items {
			if err := each(i); err != nil {
				return err
			}
		}
		return nil
	}
}

func shipped(t testing.TB, changes ...string) *limits.Document {
	t.Helper()
	text := string(limits.Template("paper"))
	doc, err := limits.Load("shipped", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(changes) == 0 {
		return doc
	}
	if doc, err = limits.Over(doc, "over", []byte(strings.Join(changes, "\n"))); err != nil {
		t.Fatal(err)
	}
	return doc
}

func play1(t testing.TB, source audit.Source, doc *limits.Document, o Options) *Report {
	t.Helper()
	o.Account, o.Limits, o.Text = "paper", doc, "test"
	if o.Assume == "" {
		o.Assume = AssumeFill
	}
	o.Audit.Calendar = market.XNYS()
	r, found, err := Run(context.Background(), source, o)
	if err != nil {
		t.Fatal(err)
	}
	if r == nil {
		t.Fatal(found.Failed())
	}
	return r
}

// TestTheSameLimitsChangeNothing is the replay's own proof: with what was recorded both
// ways come to what was recorded, to the last cent.
func TestTheSameLimitsChangeNothing(t *testing.T) {
	for days, faults := range map[int]bool{7: false, 1: true} {
		r := play1(t, week(t, days, faults), shipped(t), Options{})
		if r.ChangedAll != 0 || len(r.Differ) != 0 {
			t.Errorf("faults %v: %d changes, first %+v", faults, r.ChangedAll, r.Changed[:min(3, len(r.Changed))])
		}
		if r.AsRecorded.Same != r.Decisions || r.Followed.Changes.Same != r.Decisions || r.Decisions == 0 {
			t.Errorf("faults %v: %+v %+v", faults, r.AsRecorded, r.Followed)
		}
		if r.Recorded.Trade != r.Followed.Trade || r.Followed.Unfollowed+r.Followed.FillsGone+r.Followed.FillsAssumed != 0 {
			t.Errorf("faults %v: recorded %+v, followed %+v", faults, r.Recorded, r.Followed)
		}
	}
}

// BenchmarkWeek replays a week under stricter limits, verified in the same pass.
func BenchmarkWeek(b *testing.B) {
	source, doc := week(b, 7, false), shipped(b, "size: {max_order_qty: 20}")
	decisions := 0
	b.ResetTimer()
	for b.Loop() {
		decisions += play1(b, source, doc, Options{}).Decisions
	}
	b.ReportMetric(float64(decisions)/b.Elapsed().Seconds(), "decisions/s")
}
