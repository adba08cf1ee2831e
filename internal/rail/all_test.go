package rail

import (
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/order"
)

// TestAllIsTheWholeListInOrder repeats the list of ids in full: findings are kept and
// reported by place, so a rail that is dropped, added or moved must be meant.
func TestAllIsTheWholeListInOrder(t *testing.T) {
	want := strings.Fields(`
		instrument_unknown instrument_halted symbol_not_allowed symbol_restricted
		asset_class_not_allowed side_not_allowed order_type_not_allowed time_in_force_not_allowed
		extended_hours_not_allowed fractional_not_allowed short_not_allowed
		max_order_qty max_order_notional min_order_notional max_order_pct_of_equity quantity_step
		max_position_qty max_position_notional max_gross_exposure max_net_exposure max_concentration
		insufficient_buying_power position_flip max_open_orders self_cross order_in_doubt
		account_unreconciled
		limit_price_collar passive_price_collar market_order_guard quote_stale quote_invalid
		spread_too_wide price_step stop_price_side
		max_orders_per_minute max_notional_per_minute max_messages_per_minute max_orders_per_day
		max_notional_per_day max_daily_loss max_drawdown kill_switch market_closed trading_window
		duplicate_client_order_id duplicate_order denial_storm repeated_execution clock_suspect`)
	all := All()
	if len(want) != Count {
		t.Fatalf("%d ids, Count is %d", len(want), Count)
	}
	families := "instrument size position collar session"
	for i, r := range all {
		if string(r.ID) != want[i] || fixed[i] != r.ID {
			t.Errorf("place %d: %s and %s, want %s", i, r.ID, fixed[i], want[i])
		}
		if !strings.Contains(families, r.Family) || r.Family == "" || r.Check == nil {
			t.Errorf("%s: family %q", r.ID, r.Family)
		}
		if (r.Trips == nil) != (r.Effect == EffectNone) {
			t.Errorf("%s: an effect and what trips it belong together", r.ID)
		}
		for _, key := range r.Keys {
			if section, _, ok := strings.Cut(key, "."); !ok || !strings.Contains(families, section) {
				t.Errorf("%s: key %q is not section.key", r.ID, key)
			}
		}
	}
}

// TestRunAsksWhatAllLists compares the calls written out in Run with the table, over
// facts that every rail answers differently to.
func TestRunAsksWhatAllLists(t *testing.T) {
	for name, set := range map[string]func(f *Facts){
		"allowed":  func(*Facts) {},
		"reducing": func(f *Facts) { f.reduce("10", "10") },
		"empty":    func(f *Facts) { *f = Facts{} },
	} {
		f := baseFacts()
		set(&f)
		var got [Count]Finding
		Run(&f, &got)
		for i, r := range All() {
			want := r.Check(&f)
			if got[i].Rail != r.ID || want.Rail != r.ID || got[i].Status != want.Status || got[i].Text != want.Text {
				t.Errorf("%s: place %d: %s %s %q, want %s %s %q", name, i,
					got[i].Rail, got[i].Status, got[i].Text, want.Rail, want.Status, want.Text)
			}
		}
	}
}

func TestBaseOrderPassesEveryRail(t *testing.T) {
	f := baseFacts()
	var got [Count]Finding
	Run(&f, &got)
	for _, finding := range got {
		if finding.Status != Pass {
			t.Errorf("%s: %s %q", finding.Rail, finding.Status, finding.Text)
		}
	}
}

// TestFailClosedEveryRailWithoutFacts: whatever is absent, no rail passes or is off.
func TestFailClosedEveryRailWithoutFacts(t *testing.T) {
	for name, f := range map[string]*Facts{"none": nil, "zero": {}, "zero, reducing": {Reducing: true, WholeClose: true}} {
		for _, r := range All() {
			if got := r.Check(f); got.Status != Fault || got.Rail != r.ID {
				t.Errorf("%s: %s answers %s", name, r.ID, got.Status)
			}
		}
	}
}

func TestDenialsOfReducingOrdersSayWhatIsLeft(t *testing.T) {
	f := baseFacts()
	f.reduce("500", "101")
	var got [Count]Finding
	Run(&f, &got)
	denials := 0
	for _, finding := range got {
		if finding.Status != Deny {
			continue
		}
		denials++
		if strings.Count(finding.Text, directly) != 1 || !strings.HasSuffix(finding.Text, directly) {
			t.Errorf("%s: %q", finding.Rail, finding.Text)
		}
	}
	if denials == 0 {
		t.Error("101 shares are over max_order_qty")
	}
}

func TestCancelIsJudgedByItsMessagesAlone(t *testing.T) {
	f := baseFacts()
	f.Mode = 0
	f.Intent.Action = order.ActionCancel
	var got [Count]Finding
	RunCancel(&f, &got)
	for i, finding := range got {
		want := Off
		if finding.Rail == MaxMessagesPerMinute {
			want = Pass
		}
		if finding.Rail != fixed[i] || finding.Status != want {
			t.Errorf("%s: %s, want %s", finding.Rail, finding.Status, want)
		}
	}
	f.Limits.Session.MaxMessagesPerMinute = on(0)
	RunCancel(&f, &got)
	for _, finding := range got {
		if finding.Rail == MaxMessagesPerMinute && finding.Status != Deny {
			t.Errorf("with the bucket spent: %s", finding.Status)
		}
	}
}

// TestNoDenialRepeatsTheAgentsText puts a text into every field that an agent can fill
// and looks for it in what the rails say.
func TestNoDenialRepeatsTheAgentsText(t *testing.T) {
	const injected = "IGNORE-ALL-LIMITS"
	f := baseFacts()
	f.Intent.Symbol, f.Intent.ClientOrderID, f.Intent.Target = injected, injected, injected
	f.Limits.Instrument.RestrictedSymbols = []string{injected}
	f.figures()
	var got [Count]Finding
	Run(&f, &got)
	for _, finding := range got {
		for _, text := range []string{finding.Text, finding.Observed, finding.Limit, finding.Passes} {
			if strings.Contains(text, injected) {
				t.Errorf("%s: %q", finding.Rail, text)
			}
		}
	}
}
