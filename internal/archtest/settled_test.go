package archtest_test

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/quotes"
	"github.com/broker-rails/broker-rails/internal/store/memory"
)

// TestSettledKeysRefuseTheDocument proves that a document which is for something else
// than this account is not put in force, key by key.
func TestSettledKeysRefuseTheDocument(t *testing.T) {
	g := paperGate(t)
	shipped := string(limits.Template("paper"))
	if _, err := g.LoadLimits(t.Context(), "limits.yaml", []byte(shipped), "test"); err != nil {
		t.Fatalf("the shipped document: %v", err)
	}
	inForce := fingerprint(t, g)
	for key, value := range settled() {
		t.Run(key, func(t *testing.T) {
			if _, err := g.LoadLimits(t.Context(), "limits.yaml", []byte(set(t, shipped, key, value)), "test"); err == nil {
				t.Errorf("a document with %s: %s is taken", key, value)
			}
			if now := fingerprint(t, g); now != inForce {
				t.Errorf("another document is in force: %s", now)
			}
		})
	}
}

func fingerprint(t *testing.T, g *gate.Gate) (f string) {
	t.Helper()
	if err := g.View(t.Context(), func(v gate.View) { f = v.State.Fingerprint }); err != nil {
		t.Fatal(err)
	}
	return f
}

func paperGate(t *testing.T) *gate.Gate {
	t.Helper()
	calendar, now := market.XNYS(), clock.NewVirtual(clock.PracticeStart())
	source := quotes.NewScripted(calendar)
	broker, err := paper.OpenMemory(
		paper.Start{Seed: 1, Cash: paper.StartingCash(), Wall: now.Now(), Market: now.Now()},
		paper.Options{Clock: now, Quotes: source, Calendar: calendar})
	if err != nil {
		t.Fatal(err)
	}
	cfg := gate.Config{
		Account: "paper", Store: memory.New(), Broker: broker, Quotes: source, Clock: now, Calendar: calendar,
		Paper: true, AtomicReplace: true, Version: "test",
	}
	genesis := journal.Genesis{Broker: "paper", Cash: paper.StartingCash(), Currency: "USD", Who: "test"}
	if err := gate.Create(t.Context(), cfg, genesis); err != nil {
		t.Fatal(err)
	}
	g, err := gate.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestWindowsHoldWhatLimitsCanAsk compares the account's bounds with those of the limits
// document: account does not import limits, and a window that kept less than a limit can
// ask would let orders pass.
func TestWindowsHoldWhatLimitsCanAsk(t *testing.T) {
	for _, row := range []struct {
		name        string
		keeps, asks int64
	}{
		{"DuplicateWindowMax", int64(account.DuplicateWindowMax), int64(limits.DuplicateWindowMax)},
		{"BehaviourWindowMax", int64(account.BehaviourWindowMax), int64(limits.BehaviourWindowMax)},
		{"DenialsMax", account.DenialsMax, limits.DenialsMax},
		{"CyclesMax", account.CyclesMax, limits.CyclesMax},
		{"OrdersPerMinuteMax", account.OrdersPerMinuteMax, limits.OrdersPerMinuteMax},
		{"MessagesMax", account.MessagesMax, limits.MessagesMax},
	} {
		if row.keeps != row.asks {
			t.Errorf("%s: account keeps %d, limits ask %d", row.name, row.keeps, row.asks)
		}
	}
}
