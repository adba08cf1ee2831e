package alpaca

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
)

// StillTries is how often the account is read again because something happened meanwhile.
const StillTries = 4

// NotFoundFor is how long, and NotFoundTimes how often, an order must be missing before
// the broker is believed that it never had it.
const (
	NotFoundFor   = time.Minute
	NotFoundTimes = 3
)

// miss counts how often an order was not found, and since when.
type miss struct {
	since time.Time
	times int
}

var (
	errLooking = errors.New("this is for looking only")
	errMoving  = errors.New("the account did not stand still while it was read")
	errUnsure  = errors.New("the broker does not show the order yet; it may still arrive")
	errPending = errors.New("the broker has not made the change yet")
	errPartial = errors.New("the broker has not listed all fills of the order yet")
)

// Account reads the account between two looks of which the second found nothing new, so
// that it holds what the newest event told, and nothing more.
func (b *Broker) Account(ctx context.Context) (gate.BrokerAccount, error) {
	done, err := b.read(ctx)
	if err != nil {
		return gate.BrokerAccount{}, err
	}
	defer done()
	p := &b.picture
	if !p.begun {
		b.begin(b.o.Began)
	}
	for range StillTries {
		if b.due() {
			if err := b.look(ctx, true); err != nil {
				return gate.BrokerAccount{}, err
			}
		}
		before := p.state()
		seen, err := b.figures(ctx)
		if err != nil {
			return gate.BrokerAccount{}, err
		}
		if err := b.look(ctx, true); err != nil {
			return gate.BrokerAccount{}, err
		}
		if p.state() != before {
			continue
		}
		if err := b.showOrders(ctx, &seen); err != nil {
			return gate.BrokerAccount{}, err
		}
		return seen, nil
	}
	return gate.BrokerAccount{}, errMoving
}

// state tells two looks apart: events, and what is open with how much filled of it.
func (p *picture) state() string {
	ids := make([]string, 0, len(p.open)+1)
	for id, o := range p.open {
		ids = append(ids, id+" "+string(o.FilledQty)+" "+string(o.Qty))
	}
	slices.Sort(ids)
	return fmt.Sprint(len(p.events), p.newest.UnixNano(), ids)
}

// figures reads cash and positions.
func (b *Broker) figures(ctx context.Context) (gate.BrokerAccount, error) {
	var a shownAccount
	if err := b.c.read(ctx, "/v2/account", nil, &a); err != nil {
		return gate.BrokerAccount{}, err
	}
	if err := b.verify(&a); err != nil {
		return gate.BrokerAccount{}, err
	}
	out := gate.BrokerAccount{At: b.o.Clock.Read().Market.UTC(), AccountID: a.Number}
	var errs [3]error
	out.Cash, errs[0] = a.Cash.notional()
	out.BuyingPower, errs[1] = a.BuyingPower.notional()
	if a.LastEquity != "" {
		var equity money.Notional
		equity, errs[2] = a.LastEquity.notional()
		out.PreviousCloseEquity = &equity
	}
	if errors.Join(errs[:]...) != nil {
		return out, fmt.Errorf("account: %w", errUnreadable)
	}
	if a.Blocked || a.NoTrading || a.Suspended || a.Status != "ACTIVE" {
		out.BuyingPower = money.Notional{} // it buys nothing, whatever it is worth
	}
	var held []shownPosition
	if err := b.c.read(ctx, "/v2/positions", nil, &held); err != nil {
		return out, err
	}
	for i := range held {
		p, err := held[i].asPosition()
		if err != nil {
			return out, err
		}
		if !p.Quantity.IsZero() {
			out.Positions = append(out.Positions, p)
		}
	}
	slices.SortFunc(out.Positions, func(x, y journal.Position) int { return strings.Compare(x.Instrument.Symbol, y.Instrument.Symbol) })
	return out, nil
}

// verify holds the account against the one that was meant.
func (b *Broker) verify(a *shownAccount) error {
	switch {
	case a.Number == "" || a.Currency != currency:
		return fmt.Errorf("account in %q: %w", journal.BoundText(a.Currency, 8), errUnreadable)
	case b.o.AccountID != "" && a.Number != b.o.AccountID:
		return fmt.Errorf("the keys are of account %s, and this is for %s", journal.BoundText(a.Number, 32), b.o.AccountID)
	case !strings.HasPrefix(a.Number, paperPrefix):
		return fmt.Errorf("account %s is not a paper account", journal.BoundText(a.Number, 32))
	}
	b.mu.Lock()
	b.shown = b.o.AccountID != ""
	b.mu.Unlock()
	return nil
}

// verified asks for the account's number, unless the broker has shown it. It fails for a
// broker that was made to look only.
func (b *Broker) verified(ctx context.Context) error {
	b.mu.Lock()
	shown := b.shown
	b.mu.Unlock()
	if shown {
		return nil
	}
	if b.o.AccountID == "" {
		return errLooking
	}
	var a shownAccount
	if err := b.c.read(ctx, "/v2/account", nil, &a); err != nil {
		return err
	}
	return b.verify(&a)
}

func (s *shownPosition) asPosition() (journal.Position, error) {
	q, err := s.Qty.quantity()
	cost, errC := s.Average.price()
	if err != nil || errC != nil || s.Symbol == "" {
		return journal.Position{}, fmt.Errorf("position: %w", errUnreadable)
	}
	if s.Side == "short" && q.IsPositive() {
		q = q.Neg()
	}
	return journal.Position{Instrument: instrument(s.Symbol, s.AssetClass), Quantity: q, Cost: cost.Abs()}, nil
}

// showOrders adds the open orders of the newest look.
func (b *Broker) showOrders(ctx context.Context, seen *gate.BrokerAccount) error {
	for _, o := range b.picture.open {
		if o.Status == "" || o.over() {
			continue // its end is not told yet
		}
		client, err := b.clientOf(ctx, &o)
		if err != nil {
			return err
		}
		shown, err := o.asBroker(client)
		if err != nil {
			return err
		}
		seen.Orders = append(seen.Orders, shown)
	}
	slices.SortFunc(seen.Orders, func(x, y journal.BrokerOrder) int { return strings.Compare(x.BrokerID, y.BrokerID) })
	return nil
}

// Find looks an order up by the id that the gate derived, and follows its replacements to
// the newest. It is an error while the broker may still change its answer.
func (b *Broker) Find(ctx context.Context, clientOrderID string) (gate.Standing, error) {
	done, err := b.read(ctx)
	if err != nil {
		return gate.Standing{}, err
	}
	defer done()
	var o shownOrder
	err = b.c.read(ctx, "/v2/orders:by_client_order_id", query("client_order_id", clientOrderID), &o)
	if notFound(err) {
		return b.notThere(clientOrderID)
	}
	if err != nil {
		return gate.Standing{}, err
	}
	if o.ClientOrderID != clientOrderID || o.ID == "" {
		return gate.Standing{}, fmt.Errorf("another order was shown: %w", errUnreadable)
	}
	b.mu.Lock()
	delete(b.missing, clientOrderID)
	b.mu.Unlock()
	return b.standing(ctx, &o)
}

// missingMax bounds how many orders are waited for at once; more are not believed missing.
const missingMax = 10_000

// notThere believes the broker once it has said so often and long enough.
func (b *Broker) notThere(id string) (gate.Standing, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m, waiting := b.missing[id]
	if !waiting {
		if len(b.missing) >= missingMax {
			return gate.Standing{}, errUnsure
		}
		m.since = time.Now()
	}
	m.times++
	b.missing[id] = m
	if m.times < NotFoundTimes || time.Since(m.since) < b.o.NotFoundFor {
		return gate.Standing{}, errUnsure
	}
	return gate.Standing{}, nil
}

// standing is what became of an order and of those that replaced it at the gate's wish.
func (b *Broker) standing(ctx context.Context, first *shownOrder) (gate.Standing, error) {
	chain, err := b.chain(ctx, first)
	if err != nil {
		return gate.Standing{}, err
	}
	last := &chain[len(chain)-1]
	if last.settling() {
		return gate.Standing{}, errPending
	}
	out := gate.Standing{Known: true, Open: !last.over(), BrokerID: last.ID, Ended: last.ended()}
	if last.Status == statusReplaced { // by somebody else, whose order is another
		out.Ended = journal.ResultCanceled
	}
	if out.Order, err = last.asBroker(first.ClientOrderID); err != nil {
		return gate.Standing{}, err
	}
	ours, want := map[string]bool{}, last.FilledQty
	for i := range chain {
		ours[chain[i].ID] = true
	}
	var sum money.Quantity
	_, err = b.activities(ctx, typeFill, first.SubmittedAt.Add(-Overlap), func(a *activity) error {
		if !ours[a.OrderID] {
			return nil
		}
		x, err := a.execution()
		if err != nil {
			return err
		}
		var ok bool
		if sum, ok = sum.Add(x.Quantity); !ok {
			return errUnreadable
		}
		out.Fills = append(out.Fills, x)
		return nil
	})
	if err != nil {
		return gate.Standing{}, err
	}
	if total, err := last.filled(); err != nil || sum.Cmp(total) < 0 {
		return gate.Standing{}, errors.Join(fmt.Errorf("%s of %s filled: %w", sum, want, errPartial), err)
	}
	return out, nil
}

// chain follows the replacements that the gate asked for.
func (b *Broker) chain(ctx context.Context, first *shownOrder) ([]shownOrder, error) {
	chain := []shownOrder{*first}
	for range replacesMax {
		last := &chain[len(chain)-1]
		if last.Status != statusReplaced || last.ReplacedBy == "" {
			return chain, nil
		}
		var next shownOrder
		if err := b.c.read(ctx, "/v2/orders/"+last.ReplacedBy, nil, &next); err != nil {
			return nil, err
		}
		if !journal.HasOrderIDForm(next.ClientOrderID) {
			return chain, nil
		}
		chain = append(chain, next)
	}
	return nil, errTooMany
}
