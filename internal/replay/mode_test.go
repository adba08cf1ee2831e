package replay

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
)

// TestARailsModeIsEachHistorysOwn: what a person set binds the followed history too; what a
// rail tripped in the record does not, since there it may not have tripped.
func TestARailsModeIsEachHistorysOwn(t *testing.T) {
	at := time.Date(2026, time.March, 18, 15, 0, 0, 0, time.UTC)
	for by, want := range map[string]account.Mode{
		journal.ByOperator: account.ReduceOnly, "internal_fault": account.ReduceOnly,
		"denial_storm": account.Active, "max_drawdown": account.Active, "repeated_execution": account.Active,
	} {
		p := newPlay(&Options{Account: "paper", Limits: shipped(t), Assume: AssumeFill, Audit: audit.Options{Calendar: market.XNYS()}})
		p.other = &other{state: account.New("paper")}
		if err := p.other.put(at, journal.KindGenesis, journal.Genesis{Broker: "paper", Cash: money.NotionalFromInt(1), Currency: "USD", Who: "test"}); err != nil {
			t.Fatal(err)
		}
		body := journal.Mode{By: by, Mode: journal.ModeReduceOnly, Reason: "test", Who: "test"}
		e, _, _, err := journal.SealEntry("paper", 9, journal.Hash{1}, at, p.doc.Fingerprint, journal.KindMode, body)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.mode(&e); err != nil || p.other.state.Mode != want {
			t.Errorf("a mode by %s: %v, %v, want %v", by, err, p.other.state.Mode, want)
		}
	}
}
