package audit_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
)

// placed gives items the places that a store keeps, and the ends of their chains.
func placed(t testing.TB, items []audit.Item) (out []audit.Item, ends []audit.Head) {
	t.Helper()
	newest := map[string]int{}
	for _, i := range items {
		i.Seq = decoded(t, i).Seq
		h := audit.Head{Account: i.Account, Seq: i.Seq, Hash: i.Stored}
		if at, known := newest[i.Account]; known {
			ends[at] = h
		} else {
			newest[i.Account], ends = len(ends), append(ends, h)
		}
		out = append(out, i)
	}
	return out, ends
}

func endsOf(ends []audit.Head) func(context.Context) ([]audit.Head, error) {
	return func(context.Context) ([]audit.Head, error) { return ends, nil }
}

// What a store keeps beside the bytes steers the next append: it must agree with them.
func TestWhatAStoreKeepsMustAgreeWithTheEntries(t *testing.T) {
	items, ends := placed(t, small(t))
	paper := slices.IndexFunc(ends, func(h audit.Head) bool { return h.Account == "paper" })
	all := slices.IndexFunc(ends, func(h audit.Head) bool { return h.Account == journal.ControlAccount })
	if paper < 0 || all < 0 {
		t.Fatal("the journal is not what the test needs")
	}
	seq, control := ends[paper].Seq, ends[all].Seq
	for name, c := range map[string]struct {
		change  func(items []audit.Item, ends []audit.Head) ([]audit.Item, []audit.Head)
		account string
		seq     uint64 // 0: intact
	}{
		"as it is": {func(i []audit.Item, e []audit.Head) ([]audit.Item, []audit.Head) { return i, e }, "paper", 0},
		"the newest entry is gone": {func(i []audit.Item, e []audit.Head) ([]audit.Item, []audit.Head) {
			return slices.DeleteFunc(i, func(i audit.Item) bool { return i.Account == "paper" && i.Seq == seq }), e
		}, "paper", seq},
		"the control chain is gone": {func(i []audit.Item, e []audit.Head) ([]audit.Item, []audit.Head) {
			return slices.DeleteFunc(i, func(i audit.Item) bool { return i.Account == journal.ControlAccount }), e
		}, journal.ControlAccount, 1},
		"a head of no entries": {func(i []audit.Item, e []audit.Head) ([]audit.Item, []audit.Head) {
			return i, append(e, audit.Head{Account: "ghost", Seq: 3})
		}, "ghost", 1},
		"no head": {func(i []audit.Item, e []audit.Head) ([]audit.Item, []audit.Head) {
			return i, slices.Delete(e, paper, paper+1)
		}, "paper", seq},
		"no head of the control chain": {func(i []audit.Item, e []audit.Head) ([]audit.Item, []audit.Head) {
			return i, slices.Delete(e, all, all+1)
		}, journal.ControlAccount, control},
		"a head set back to an entry": {func(i []audit.Item, e []audit.Head) ([]audit.Item, []audit.Head) {
			at := slices.IndexFunc(i, func(i audit.Item) bool { return i.Account == "paper" && i.Seq == 2 })
			e[paper].Seq, e[paper].Hash = 2, i[at].Stored
			return i, e
		}, "paper", seq},
		"another hash in a head": {func(i []audit.Item, e []audit.Head) ([]audit.Item, []audit.Head) {
			e[paper].Hash[0] ^= 1
			return i, e
		}, "paper", seq},
		"an entry at another place": {func(i []audit.Item, e []audit.Head) ([]audit.Item, []audit.Head) {
			i[2].Seq += 100
			return i, e
		}, "paper", 3},
		"a hash of zeros": {func(i []audit.Item, e []audit.Head) ([]audit.Item, []audit.Head) {
			i[2].Stored = journal.Hash{}
			return i, e
		}, "paper", 3},
	} {
		t.Run(name, func(t *testing.T) {
			changed, kept := c.change(slices.Clone(items), slices.Clone(ends))
			r, err := audit.Verify(t.Context(), sourceOf(changed), audit.Options{Calendar: market.XNYS(), Ends: endsOf(kept)})
			switch {
			case err != nil:
				t.Fatal(err)
			case c.seq == 0 && len(r.Failed()) > 0:
				t.Errorf("an intact journal failed: %v", r.Failed()[0])
			case c.seq > 0:
				wantFailure(t, r, c.account, c.seq, audit.Integrity)
			}
		})
	}
}

// Others append while an audit reads: entries past the ends that were read first, and
// ends past the entries that were read, are no forgery.
func TestAnAuditBesideAWriterIsNoFailure(t *testing.T) {
	items, ends := placed(t, small(t))
	_, early := placed(t, items[:len(items)-3])
	for name, read := range map[string][]audit.Item{"entries": items, "fewer entries": items[:len(items)-2]} {
		asked := 0
		r, err := audit.Verify(t.Context(), sourceOf(read), audit.Options{Calendar: market.XNYS(), Ends: func(context.Context) ([]audit.Head, error) {
			if asked++; asked == 1 {
				return early, nil
			}
			return ends, nil
		}})
		if err != nil || len(r.Failed()) > 0 || asked != 2 {
			t.Errorf("%s: asked %d times: %v, %v", name, asked, err, r.Failed())
		}
	}
}

func TestEndsThatCannotBeReadEndAnAudit(t *testing.T) {
	items, ends := placed(t, small(t))
	torn := errors.New("torn")
	for fail := range 2 {
		asked := 0
		_, err := audit.Verify(t.Context(), sourceOf(items), audit.Options{Calendar: market.XNYS(), Ends: func(context.Context) ([]audit.Head, error) {
			if asked++; asked == fail+1 {
				return nil, torn
			}
			return ends, nil
		}})
		if !errors.Is(err, torn) {
			t.Errorf("reading %d: %v, want the reader's error", fail+1, err)
		}
	}
}

// A start goes on from a snapshot without folding what is before it.
func TestASnapshotMustBeWhatTheEntriesFoldTo(t *testing.T) {
	items, _ := placed(t, small(t))
	state := account.New("paper")
	for _, i := range items {
		if i.Account == "paper" {
			if err := state.Apply(i.Bytes, i.Stored); err != nil {
				t.Fatal(err)
			}
		}
	}
	snapshot := func() []byte {
		text, err := state.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	audited := func(text []byte) *audit.Report {
		r, err := audit.Verify(t.Context(), sourceOf(items), audit.Options{
			Calendar: market.XNYS(), Snapshots: []audit.Snapshot{{Account: "paper", Seq: state.Seq, State: text}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	text := snapshot()
	if r := audited(text); len(r.Failed()) > 0 {
		t.Errorf("the very fold failed: %v", r.Failed()[0])
	}
	torn := slices.Clone(text)
	torn[len(torn)/2] ^= 1
	if r := audited(torn); len(r.Failed()) > 0 {
		t.Errorf("a snapshot that no start uses failed: %v", r.Failed()[0])
	}
	state.Cash = money.MustNotional("9000000")
	wantFailure(t, audited(snapshot()), "paper", state.Seq, audit.Fold)
}
