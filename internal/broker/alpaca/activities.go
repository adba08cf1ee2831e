package alpaca

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
)

func query(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q
}

// activities reads the account's activities of a type, or of all, oldest first, and calls
// each with every one. It returns how many there were.
func (b *Broker) activities(ctx context.Context, kind string, after time.Time, each func(*activity) error) (n int, err error) {
	path, token := "/v2/account/activities", ""
	if kind != "" {
		path += "/" + kind
	}
	seen := map[string]bool{}
	for range PagesMax {
		q := query("after", after.UTC().Format(time.RFC3339Nano), "direction", "asc", "page_size", strconv.Itoa(PageMax))
		if token != "" {
			q.Set("page_token", token)
		}
		var page []activity
		if err := b.c.read(ctx, path, q, &page); err != nil {
			return n, err
		}
		fresh := 0
		for i := range page {
			a := &page[i]
			if a.ID == "" {
				return n, fmt.Errorf("activity without an id: %w", errUnreadable)
			}
			if seen[a.ID] {
				continue
			}
			seen[a.ID] = true
			fresh++
			if err := each(a); err != nil {
				return n, err
			}
		}
		n += fresh
		if len(page) < PageMax || fresh == 0 {
			return n, nil
		}
		token = page[len(page)-1].ID
	}
	return n, errTooMany
}

// fills takes in executions since the newest event, with an overlap.
func (b *Broker) fills(ctx context.Context) error {
	p := &b.picture
	_, err := b.activities(ctx, typeFill, p.newest.Add(-Overlap), func(a *activity) error {
		if err := p.count(a); err != nil {
			return err
		}
		if p.passes(a, Overlap) {
			return nil
		}
		return b.fill(ctx, a)
	})
	return err
}

// passes reports whether an activity is not to be told: it was, or came before the journal.
func (p *picture) passes(a *activity, overlap time.Duration) bool {
	_, told := p.told[a.ID]
	_, known := p.known[a.ID]
	at, err := a.at()
	return told || known || err == nil && at.Before(p.since.Add(-overlap))
}

// count adds a fill to what is known to have filled of its order.
func (p *picture) count(a *activity) error {
	if _, counted := p.counted[a.ID]; counted || a.Type != typeFill {
		return nil
	}
	q, err := a.Qty.quantity()
	if err != nil {
		return fmt.Errorf("fill %s: %w", journal.BoundText(a.ID, TextBytesMax), errUnreadable)
	}
	sum, ok := p.filled[a.OrderID].Add(q.Abs())
	if !ok {
		return fmt.Errorf("fill %s: %w", journal.BoundText(a.ID, TextBytesMax), errUnreadable)
	}
	p.counted[a.ID] = struct{}{}
	p.filled[a.OrderID] = sum
	return nil
}

// fill tells of an execution, under the activity's id.
func (b *Broker) fill(ctx context.Context, a *activity) error {
	o, err := b.order(ctx, a.OrderID)
	if err != nil {
		return err
	}
	client, err := b.clientOf(ctx, &o)
	if err != nil {
		return err
	}
	x, err := a.execution()
	if err != nil {
		return err
	}
	e := gate.Event{
		Kind: gate.EventFill, ID: a.ID, ClientOrderID: client, BrokerID: a.OrderID, At: x.ExecutedAt,
		Instrument: instrument(a.Symbol, o.AssetClass), Fill: x,
	}
	if e.Side, err = side(a.Side); err != nil {
		return err
	}
	if o.Symbol != a.Symbol {
		return fmt.Errorf("fill %s is of another symbol than its order: %w", journal.BoundText(a.ID, TextBytesMax), errUnreadable)
	}
	b.picture.tell(&e, b.now())
	return nil
}

func (a *activity) execution() (gate.Execution, error) {
	at, err := a.at()
	if err != nil {
		return gate.Execution{}, err
	}
	q, errQ := a.Qty.quantity()
	price, errP := a.Price.price()
	if errQ != nil || errP != nil || !q.Abs().IsPositive() {
		return gate.Execution{}, fmt.Errorf("fill %s: %w", journal.BoundText(a.ID, TextBytesMax), errUnreadable)
	}
	return gate.Execution{ID: a.ID, Quantity: q.Abs(), Price: price, ExecutedAt: at}, nil
}

// otherActivities tells of money that moved without an execution: deposits, dividends,
// fees, interest, and whatever else bears an amount. What moved shares instead, as a split
// does, the reconciliation finds.
func (b *Broker) otherActivities(ctx context.Context) error {
	p := &b.picture
	_, err := b.activities(ctx, "", p.newest.Add(-CashOverlap), func(a *activity) error {
		if a.Type == typeFill || p.passes(a, CashOverlap) || a.NetAmount == "" || a.Status == "canceled" {
			return nil
		}
		amount, err := a.NetAmount.notional()
		if err != nil {
			return fmt.Errorf("activity %s: %w", journal.BoundText(a.ID, TextBytesMax), errUnreadable)
		}
		if amount.IsZero() {
			return nil
		}
		at, err := a.at()
		if err != nil {
			return err
		}
		p.tell(&gate.Event{
			Kind: gate.EventCash, ID: a.ID, Cash: amount, At: at, Reason: journal.BoundText(a.Type+" "+a.Symbol, TextBytesMax),
		}, b.now())
		return nil
	})
	return err
}
