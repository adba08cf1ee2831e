package cli

import (
	"context"
	"slices"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
)

// tailStep is how many entries are looked through at first; each further look doubles.
const tailStep = 256

// tail returns the newest n entries that want takes, oldest first, and every entry
// from the first of them on.
func tail(ctx context.Context, store gate.Store, account string, n int, want func(*journal.Entry) bool) (found, since []journal.Entry, err error) {
	own, _, err := store.Heads(ctx, account)
	if err != nil {
		return nil, nil, err
	}
	for step := uint64(tailStep); ; step *= 2 {
		after := uint64(0)
		if own.Seq > step {
			after = own.Seq - step
		}
		if found, since, err = entriesAfter(ctx, store, account, after, want); err != nil {
			return nil, nil, err
		}
		if len(found) >= n || after == 0 {
			found = found[max(0, len(found)-n):]
			if len(found) > 0 {
				first := slices.IndexFunc(since, func(e journal.Entry) bool { return e.Seq == found[0].Seq })
				since = since[first:]
			}
			return found, since, nil
		}
	}
}

// entriesAfter returns the entries after seq, and those of them that want takes.
func entriesAfter(ctx context.Context, store gate.Store, account string, seq uint64, want func(*journal.Entry) bool) (found, all []journal.Entry, err error) {
	err = store.Read(ctx, account, seq, func(s gate.Stored) error {
		e, err := journal.Decode(s.Bytes)
		if err != nil {
			return err
		}
		all = append(all, e)
		if want(&e) {
			found = append(found, e)
		}
		return nil
	})
	return found, all, err
}

// recent serves the door: the account's newest decisions and refusals.
type recent struct {
	store   gate.Store
	account string
}

// Decisions returns the newest n decision and refusal entries, newest first.
func (r recent) Decisions(ctx context.Context, n int) ([]journal.Entry, error) {
	found, _, err := tail(ctx, r.store, r.account, n, isJudged)
	slices.Reverse(found)
	return found, err
}

func isJudged(e *journal.Entry) bool {
	return e.Kind == journal.KindDecision || e.Kind == journal.KindRefusal
}
