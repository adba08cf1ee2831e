package replay

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/sim"
)

// session is a day's journal of a seed.
func session(t testing.TB, seed uint64, faults bool) audit.Source {
	t.Helper()
	var items []audit.Item
	_, err := sim.Run(context.Background(), sim.Options{
		Days: 1, Seed: seed, Faults: faults, Calendar: market.XNYS(), Version: "test",
		Keep: func(account string, b []byte, h journal.Hash) error {
			items = append(items, audit.Item{Account: account, Bytes: b, Stored: h})
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
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

// turns are figures of the shipped limits made stricter and looser.
func turns(way string, chance *rand.Rand) string {
	all := map[string][]string{
		"stricter": {
			"size: {max_order_qty: 7}", "size: {max_order_notional: 900}", "position: {max_position_qty: 30}", "position: {max_gross_exposure: 20000}",
			"session: {max_orders_per_minute: 2}", "session: {max_notional_per_minute: 9000}", "session: {max_orders_per_day: 40}",
			"session: {max_daily_loss: 40}", "session: {max_messages_per_minute: 5}", "collar: {max_spread: 1}", "instrument: {symbols: [AAPL]}", "position: {max_open_orders: 1}",
			"session: {denial_storm: {denials: 6, window: 10m}}", "session: {max_drawdown: 60}", "instrument: {sides: [buy]}",
		},
		"looser": {
			"size: {max_order_qty: off}", "size: {max_order_notional: 90000}", "position: {max_position_qty: off}", "session: {max_orders_per_minute: 100}",
			"session: {max_notional_per_minute: off}", "session: {max_orders_per_day: off}", "session: {duplicate_window: off}",
			"instrument: {symbols: [AAPL, AMZN, GOOGL, MSFT, NVDA, QQQ, SPY, TSLA]}", "instrument: {order_types: [limit, market, stop, stop_limit]}",
			"instrument: {allow_short: true}", "instrument: {allow_fractional: true}", "position: {allow_self_cross: true}", "instrument: {times_in_force: [day, gtc, ioc, gtd]}",
		},
	}[way]
	return all[chance.IntN(len(all))]
}

// TestAnyHistoryCanBeFollowed: of any session, with the broker's faults, under limits that
// nobody chose, the counts add up and no entry is left out.
func TestAnyHistoryCanBeFollowed(t *testing.T) {
	for seed := uint64(1); seed <= 2; seed++ {
		source := session(t, seed, true)
		chance := rand.New(rand.NewPCG(seed, 7))
		for range 4 {
			way := []string{"stricter", "looser"}[chance.IntN(2)]
			change := turns(way, chance)
			assume := []Assumption{AssumeFill, AssumeNone}[chance.IntN(2)]
			name := fmt.Sprint(seed, " ", change, " ", assume)
			r := play1(t, source, shipped(t, strings.Split(change, "\n")...), Options{Assume: assume})
			all := func(v Verdicts) int { return v.Allowed + v.Denied + v.Errors }
			sum := func(c Changes) int {
				return c.Same + c.NewlyAllowed + c.NewlyDenied + c.ToError + c.OtherRails + c.Gone
			}
			f := &r.Followed
			if all(r.Recorded.Verdicts) != r.Decisions || all(r.AsRecorded.Verdicts) != r.Decisions || all(f.Verdicts)+f.Moot+f.Replayed != r.Decisions {
				t.Errorf("%s: verdicts do not add up: %+v", name, r.Followed)
			}
			if sum(r.AsRecorded.Changes) != r.Decisions || sum(f.Changes) != r.Decisions || f.Gone != f.Moot+f.Replayed {
				t.Errorf("%s: changes do not add up: %+v", name, r.Followed)
			}
			if way == "stricter" && r.AsRecorded.NewlyAllowed > 0 || way == "looser" && r.AsRecorded.NewlyDenied > 0 {
				t.Errorf("%s: %+v", name, r.AsRecorded)
			}
			if f.Unfollowed > 0 {
				t.Errorf("%s: %d entries were not followed", name, f.Unfollowed)
			}
			if assume == AssumeNone && f.FillsAssumed > 0 {
				t.Errorf("%s: %d fills were assumed", name, f.FillsAssumed)
			}
		}
	}
}
