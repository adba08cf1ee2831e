package gate_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
)

// oldStore shows the journal as it was, or a snapshot that is not its own.
type oldStore struct {
	gate.Store
	shorter  bool
	snapshot []byte
	at       gate.Head
}

func (s *oldStore) Heads(ctx context.Context, account string) (own, control gate.Head, err error) {
	own, control, err = s.Store.Heads(ctx, account)
	if s.shorter {
		own.Seq--
	}
	return own, control, err
}

func (s *oldStore) Snapshots() gate.Snapshots { return s }

func (s *oldStore) LoadSnapshot(context.Context, string) ([]byte, gate.Head, error) {
	return s.snapshot, s.at, nil
}

func (s *oldStore) SaveSnapshot(context.Context, string, gate.Head, []byte) error { return nil }

// A journal that is shorter than what was read of it releases nothing any more.
func TestFailClosedJournalThatGotShorter(t *testing.T) {
	d := newDesk(t, "session: {duplicate_window: off}")
	store := &oldStore{Store: d.memory}
	d.store = store
	d.open()
	j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if !j.Allowed() {
		t.Fatalf("refused by %v", j.Decision.Refusing())
	}
	store.shorter = true
	if out := d.gate.Forward(t.Context(), j.Permit); out.Result != journal.ResultNotSent || d.messages() != 0 {
		t.Errorf("%s, %d messages", out.Result, d.messages())
	}
	store.shorter = false
	if j := d.decide("place_order", limitOrder("AAPL", "buy", "5", "200.00")); j.Allowed() || j.Fault != gate.CodeJournalUnavailable {
		t.Errorf("afterwards: allowed %v, fault %q", j.Allowed(), j.Fault)
	}
}

// A snapshot that does not stand on the journal, or is not of the state at its head, costs
// a fold and changes nothing.
func TestASnapshotThatIsNotTheJournalsIsNotUsed(t *testing.T) {
	taken := func(d *desk) (text []byte, at gate.Head) {
		d.view(func(v gate.View) {
			var err error
			text, err = v.State.Snapshot()
			must(t, err)
			at = gate.Head{Seq: v.State.Seq, Hash: v.State.Head}
		})
		return text, at
	}
	d := newDesk(t, "session: {duplicate_window: off}")
	id := d.buy("10", "200.00")
	early, earlyAt := taken(d)
	d.fill(id, "10", "200.00")
	newest, newestAt := taken(d)
	other := newDesk(t, "session: {duplicate_window: off, max_orders_per_day: 77}")
	other.buy("10", "200.00")
	foreign, foreignAt := taken(other)
	for name, c := range map[string]struct {
		text []byte
		at   gate.Head
	}{
		"of an earlier state":    {early, newestAt},
		"of a later state":       {newest, earlyAt},
		"of another journal":     {foreign, foreignAt},
		"at a hash it never had": {newest, gate.Head{Seq: newestAt.Seq, Hash: journal.Hash{1}}},
		"that is damaged":        {append(slices.Clone(newest[:len(newest)-1]), newest[len(newest)-1]^1), newestAt},
	} {
		t.Run(name, func(t *testing.T) {
			d.store = &oldStore{Store: d.memory, snapshot: c.text, at: c.at}
			d.open()
			if p := d.position("AAPL"); p != "10" {
				t.Errorf("the account holds %s", p)
			}
			d.view(func(v gate.View) {
				if v.State.Head != newestAt.Hash {
					t.Error("the state is not at the journal's head")
				}
			})
		})
	}
}

// After a start on a broker that is not the paper broker only reducing orders pass, until
// the first reconciliation has ended.
func TestAStartPassesOnlyReducingOrders(t *testing.T) {
	d := newDesk(t, "session: {duplicate_window: off}")
	d.fill(d.buy("10", "200.00"), "10", "200.00")
	d.cfg.Paper = false
	d.open()
	open := func(quantity string) []string {
		j := d.decide("place_order", limitOrder("MSFT", "buy", quantity, "200.00"))
		return j.Decision.Refusing()
	}
	if got := open("1"); !slices.Equal(got, []string{"account_unreconciled"}) {
		t.Errorf("before: refused by %v", got)
	}
	if j := d.decide("place_order", limitOrder("AAPL", "sell", "4", "199.98")); !j.Allowed() {
		t.Errorf("an exit is refused by %v %v", j.Decision.Refusing(), j.Decision.Faults())
	}
	must(t, d.gate.Start(t.Context()))
	if got := open("2"); len(got) != 0 {
		t.Errorf("after: refused by %v", got)
	}
	d.verify()
}

// A flood of refused calls fills no disk where the operator has switched the messages'
// limit off.
func TestRefusalsAreBoundedWithoutALimit(t *testing.T) {
	const most = 6_000
	d := newDesk(t, "session: {max_messages_per_minute: off, denial_storm: off}")
	before := len(d.entries())
	for range most + 100 {
		_, err := d.gate.Refuse(t.Context(), journal.Refusal{Code: "unknown_tool", Denial: true, Door: "test", Message: true})
		must(t, err)
	}
	if more := len(d.entries()) - before; more < most || more > most+2 {
		t.Errorf("%d entries for %d refusals", more, most+100)
	}
}

// TestRefusalsAreNamedByTheirEntry: a caller is told which entry says why; what was only
// counted has none.
func TestRefusalsAreNamedByTheirEntry(t *testing.T) {
	d := newDesk(t, "session: {max_messages_per_minute: 2, denial_storm: off}")
	refusal := journal.Refusal{Code: "unknown_tool", Denial: true, Door: "test", Message: true}
	var ids []string
	for range 4 {
		id, err := d.gate.Refuse(t.Context(), refusal)
		must(t, err)
		ids = append(ids, id)
	}
	var want []string
	for _, e := range d.entries() {
		if e.Kind == journal.KindRefusal {
			want = append(want, fmt.Sprintf("paper/%d", e.Seq))
		}
	}
	// Two are within the messages, the third opens the count, the fourth is counted.
	if want = append(want, ""); !slices.Equal(ids, want) {
		t.Errorf("ids %q, entries %q", ids, want)
	}
}
