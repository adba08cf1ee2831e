package mcpserver

import (
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/journal"
)

func TestAnAllowedOrderFills(t *testing.T) {
	d := newDesk(t)
	l := d.stdio().handshake()
	a := l.call("1", "place_order", goodOrder)
	if a.Bad || a.Error != 0 || a.Shown["status"] != "filled" || a.Shown["filled"] != "10" {
		t.Fatalf("not filled: %s", a.raw)
	}
	if d.filled() != 1 || d.broker.sends.Load() != 1 {
		t.Fatalf("the broker's ledger: %d fills, %d sends", d.filled(), d.broker.sends.Load())
	}
	if !strings.HasPrefix(a.Text, "ALLOWED order=paper/") || a.Shown["verdict"] != "allowed" {
		t.Fatalf("text %q shown %v", a.Text, a.Shown)
	}
}

func TestADeniedOrderSaysEveryReason(t *testing.T) {
	d := newDesk(t)
	l := d.stdio().handshake()
	a := l.call("1", "place_order", hugeOrder)
	if !a.Bad || a.Error != 0 {
		t.Fatalf("not a refusal: %s", a.raw)
	}
	for _, rail := range []string{"max_order_qty", "max_order_notional", "insufficient_buying_power"} {
		if !strings.Contains(a.Text, "DENIED "+rail+" decision=paper/") {
			t.Errorf("%s is not among the reasons:\n%s", rail, a.Text)
		}
	}
	decisions := d.entries(journal.KindDecision)
	if len(decisions) != 1 || d.broker.sends.Load() != 0 {
		t.Fatalf("%d decisions, %d sends", len(decisions), d.broker.sends.Load())
	}
	body, err := journal.DecodeBody[journal.Decision](&decisions[0])
	check(t, err)
	if body.Verdict != journal.VerdictDenied || body.Agent != "tester" || body.Door != "mcp" || len(body.RawDigest) != 64 || body.CallID == "" {
		t.Fatalf("entry %+v", body)
	}
}
