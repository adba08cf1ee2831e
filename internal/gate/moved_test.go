package gate_test

import (
	"context"
	"testing"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
)

// overtaken has another process act just before a reconciliation is written.
type overtaken struct {
	gate.Store
	before func()
}

func (s *overtaken) Append(ctx context.Context, b *gate.Batch) error {
	if e, err := journal.Decode(b.Entries[len(b.Entries)-1].Bytes); err == nil && e.Kind == journal.KindReconcile && s.before != nil {
		act := s.before
		s.before = nil
		act()
	}
	return s.Store.Append(ctx, b)
}

// A process that trades while another reconciles does not make a difference: the picture
// of the broker that was taken before is not held against what came after.
func TestAnOlderPictureIsNotADifference(t *testing.T) {
	d := newDesk(t, "")
	other := d.otherProcess()
	store := &overtaken{Store: d.store}
	d.store = store
	d.open()
	store.before = func() {
		n := d.call("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
		j := other.Decide(t.Context(), n)
		if out := other.Forward(t.Context(), j.Permit); out.Result != journal.ResultAccepted {
			t.Fatalf("outcome %+v", out)
		}
		if _, err := d.paper.FillOrder(t.Context(), j.ClientOrderID, n.Intent.Quantity, n.Intent.LimitPrice, ""); err != nil {
			t.Fatal(err)
		}
		must(t, other.Tick(t.Context()))
	}
	found, err := d.gate.Reconcile(t.Context(), nil)
	must(t, err)
	if store.before != nil {
		t.Fatal("nothing was reconciled: the test shows nothing")
	}
	if len(found.Differences) != 0 {
		t.Errorf("differences %+v", found.Differences)
	}
	d.view(func(v gate.View) {
		if len(v.State.Reconciled.Differences) != 0 {
			t.Errorf("the journal holds differences %+v", v.State.Reconciled.Differences)
		}
	})
	if d.position("AAPL") != "10" {
		t.Errorf("position %s", d.position("AAPL"))
	}
}
