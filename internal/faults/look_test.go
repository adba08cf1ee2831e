//go:build unix

package faults

import (
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
)

// sight is what ledger and journal hold at one moment, while servers may run.
type sight struct {
	messages []paper.Message // all that were sent to the broker
	orders   []paper.Order
	decided  []decided // decisions of new orders
	outcomes map[uint64][]string
	modes    []journal.Entry
	refusals map[string]int // by code
	entries  int
}

// decided is a decision as the tests look at it.
type decided struct {
	seq      uint64
	clientID string
	verdict  string
	rails    []string // that did not pass
	entry    journal.Entry
}

// look reads the journal read-only, and the ledger.
func (h *house) look() *sight {
	h.t.Helper()
	ctx := h.t.Context()
	v := &sight{outcomes: map[uint64][]string{}, refusals: map[string]int{}}
	store, err := sqlite.OpenReadOnly(ctx, h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	defer store.Close()
	if err := store.All(ctx, 0, func(s gate.Stored) error { return v.take(s) }); err != nil {
		h.t.Fatal(err)
	}
	ledger, err := paper.OpenReadOnly(ctx, h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	defer ledger.Close()
	if v.messages, err = ledger.Messages(ctx); err != nil {
		h.t.Fatal(err)
	}
	if v.orders, err = ledger.Orders(ctx); err != nil {
		h.t.Fatal(err)
	}
	return v
}

func (v *sight) take(s gate.Stored) error {
	v.entries++
	e, err := journal.Decode(s.Bytes)
	if err != nil {
		return err
	}
	switch e.Kind {
	case journal.KindMode:
		v.modes = append(v.modes, e)
	case journal.KindRefusal:
		body, err := journal.DecodeBody[journal.Refusal](&e)
		if err != nil {
			return err
		}
		v.refusals[body.Code] += body.Count
	case journal.KindOutcome:
		body, err := journal.DecodeBody[journal.Outcome](&e)
		if err != nil {
			return err
		}
		v.outcomes[body.Decision] = append(v.outcomes[body.Decision], body.Result)
	case journal.KindDecision:
		body, err := journal.DecodeBody[journal.Decision](&e)
		if err != nil {
			return err
		}
		if body.Intent.Action != order.ActionNew {
			return nil
		}
		d := decided{seq: e.Seq, clientID: journal.ClientOrderID(s.Account, s.Seq, s.Hash), verdict: body.Verdict, entry: e}
		for _, f := range body.Findings {
			d.rails = append(d.rails, f.Rail)
		}
		v.decided = append(v.decided, d)
	}
	return nil
}

// allowed counts the decisions that passed.
func (v *sight) allowed() (n int) {
	for _, d := range v.decided {
		if d.verdict == journal.VerdictAllowed {
			n++
		}
	}
	return n
}

// sent counts the messages under a client order id.
func (v *sight) sent(clientID string) (n int) {
	for _, m := range v.messages {
		if m.ClientOrderID == clientID {
			n++
		}
	}
	return n
}

// wantSent fails unless so many messages were ever sent to the broker.
func (h *house) wantSent(want int) *sight {
	h.t.Helper()
	v := h.look()
	if len(v.messages) != want {
		h.t.Errorf("%d messages at the broker, want %d", len(v.messages), want)
	}
	return v
}

// wantDenied fails unless the newest decision was denied by the rail.
func (v *sight) wantDenied(t testing.TB, rail string) {
	t.Helper()
	if len(v.decided) == 0 {
		t.Fatalf("no decision, want a denial by %s", rail)
	}
	last := v.decided[len(v.decided)-1]
	if last.verdict != journal.VerdictDenied || !strings.Contains(strings.Join(last.rails, " "), rail) {
		t.Errorf("the newest decision is %s by %v, want denied by %s", last.verdict, last.rails, rail)
	}
}
