package alpaca

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
)

// KnownMax bounds how many activities may lie within the overlaps when a journal begins.
const KnownMax = 10_000

// Takeover is the account at the instant at which a journal begins.
type Takeover struct {
	Seen   gate.BrokerAccount
	Began  time.Time
	Known  []string // ids of activities that Seen holds and a later look would see again
	Cursor string
}

var errBusy = errors.New("the account is busy; begin the journal when it is quiet")

// Takeover reads the account for a journal that begins now. It forgets what was known.
func (b *Broker) Takeover(ctx context.Context) (Takeover, error) {
	for range StillTries {
		began := b.o.Clock.Read().Market.UTC()
		before, err := b.idsBefore(ctx, began)
		if err != nil {
			return Takeover{}, err
		}
		b.o.Began, b.o.Known = began, before
		b.picture.init()
		seen, err := b.Account(ctx)
		if err != nil {
			return Takeover{}, err
		}
		after, err := b.idsBefore(ctx, began)
		if err != nil {
			return Takeover{}, err
		}
		if slices.Equal(before, after) {
			return Takeover{Seen: seen, Began: began, Known: before, Cursor: StartCursor(began)}, nil
		}
	}
	return Takeover{}, errBusy
}

// idsBefore are the ids, sorted, of what a look that begins at an instant reaches back to.
func (b *Broker) idsBefore(ctx context.Context, began time.Time) (ids []string, err error) {
	take := func(fills bool) func(*activity) error {
		return func(a *activity) error {
			if (a.Type == typeFill) != fills {
				return nil
			}
			if len(ids) >= KnownMax {
				return errBusy
			}
			ids = append(ids, a.ID)
			return nil
		}
	}
	if _, err := b.activities(ctx, typeFill, began.Add(-Overlap), take(true)); err != nil {
		return nil, err
	}
	if _, err := b.activities(ctx, "", began.Add(-CashOverlap), take(false)); err != nil {
		return nil, err
	}
	slices.Sort(ids)
	return ids, nil
}
