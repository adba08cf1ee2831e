package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
)

// Adopt tells a reconciliation to take the broker's positions and cash for the truth.
// Only an operator does, with a reason.
type Adopt struct {
	Who    string
	Reason string
}

// Reconciliation is what one reconciliation found.
type Reconciliation struct {
	AsOf        time.Time
	Differences []journal.Difference
	Adopted     []string
	Resolved    []journal.Resolution // orders in doubt that the broker settled
	StillDoubt  []string             // order ids that stay in doubt
	External    int                  // open orders that did not come through the gate
}

// Reconcile asks the broker for everything and compares. Orders in doubt are looked up
// by client order id; what happened outside the gate is booked; what differs stands in
// the journal and stops new risk in that instrument until it is gone or adopted.
func (g *Gate) Reconcile(ctx context.Context, adopt *Adopt) (out Reconciliation, err error) {
	defer g.recovered(ctx, func() { err = errors.New("a fault inside the gate") })
	if g.cfg.Store == nil || g.cfg.Broker == nil {
		return out, ErrNotTrading
	}
	g.reconciling.Lock()
	defer g.reconciling.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.catchUp(ctx); err != nil {
		return out, err
	}
	if err := g.takeEvents(ctx); err != nil {
		return out, err
	}
	if err := g.resolveDoubts(ctx, &out); err != nil {
		return out, err
	}
	for try := range StillPictureTries {
		seen, err := g.stillPicture(ctx)
		if err != nil {
			return out, err
		}
		err = g.compare(ctx, &seen, adopt, &out, try == StillPictureTries-1)
		if errors.Is(err, errMoved) {
			continue
		}
		if err != nil {
			return out, err
		}
		break
	}
	g.startPending = false
	return out, nil
}

// errMoved says that the journal went on after the broker's account was read: what differs
// may be no more than that.
var errMoved = errors.New("the journal went on")

// StillPictureTries is how often the broker's account is read again because something
// happened at the broker meanwhile.
const StillPictureTries = 20

// stillPicture reads the broker's account at an instant at which nothing else happened
// there, so that events of other processes are not taken for differences. After the last
// try the picture is compared as it is: what differs then stops new risk until the next.
func (g *Gate) stillPicture(ctx context.Context) (seen BrokerAccount, err error) {
	for try := range StillPictureTries {
		before := g.cursor
		g.unlocked(ctx, func(ctx context.Context) { seen, err = g.cfg.Broker.Account(ctx) })
		if err != nil {
			return seen, brokerUnread(err)
		}
		if err := g.catchUp(ctx); err != nil {
			return seen, err
		}
		if err := g.takeEvents(ctx); err != nil {
			return seen, err
		}
		if g.cursor == before {
			break
		}
		if err := pause(ctx, try); err != nil {
			return seen, err
		}
	}
	return seen, nil
}

// unlocked lets other calls be judged while the broker is asked, for ReplyWithin at the
// most. The caller holds mu, and holds it again afterwards.
func (g *Gate) unlocked(ctx context.Context, ask func(ctx context.Context)) {
	ctx, cancel := context.WithTimeout(ctx, ReplyWithin)
	defer cancel()
	g.mu.Unlock()
	defer g.mu.Lock()
	ask(ctx)
}

// resolveDoubts looks up every order of ours whose end is not known.
func (g *Gate) resolveDoubts(ctx context.Context, out *Reconciliation) error {
	now := g.now().at
	for _, o := range slices.Clone(g.state.Orders) {
		if !o.InDoubt(now) {
			continue
		}
		var standing Standing
		var err error
		client, id, brokerID, external := o.ClientOrderID, o.ID, o.BrokerID, o.External
		g.unlocked(ctx, func(ctx context.Context) {
			if external {
				standing, err = g.shown(ctx, brokerID)
			} else {
				standing, err = g.cfg.Broker.Find(ctx, client)
			}
		})
		if err != nil {
			out.StillDoubt = append(out.StillDoubt, id)
			continue
		}
		if external && !standing.Known {
			continue // it has ended, which the comparison finds out
		}
		if err := g.resolveFound(ctx, id, &standing, out); err != nil {
			return err
		}
	}
	return nil
}

// shown is what the broker shows of an open order that did not come through the gate: it
// has no client order id of ours to ask by.
func (g *Gate) shown(ctx context.Context, brokerID string) (Standing, error) {
	seen, err := g.cfg.Broker.Account(ctx)
	for i := range seen.Orders {
		if o := &seen.Orders[i]; o.BrokerID == brokerID {
			return Standing{Known: true, Open: true, BrokerID: brokerID, Order: *o}, err
		}
	}
	return Standing{}, err
}

// resolveFound journals what the broker says of one order in doubt.
func (g *Gate) resolveFound(ctx context.Context, id string, s *Standing, out *Reconciliation) error {
	now := g.now().at
	_, err := g.commit(ctx, func() ([]draft, time.Time, error) {
		o := g.state.Order(id)
		if o == nil || !o.InDoubt(now) {
			return nil, now, nil
		}
		r := journal.Resolution{OrderID: id, BrokerID: s.BrokerID, Result: "not_placed", Reason: "looked up at the broker"}
		// Of a replace in doubt it is asked whether the order has the new terms: that the
		// order is known proves nothing about them.
		if s.Known && (o.Pending == nil || o.Stage != account.Working || s.shows(&o.Pending.Terms)) {
			r.Result = "placed"
		}
		// Away from the paper broker what is not found may still be on its way; after a step of
		// the clocks it may be so anywhere, since they do not tell how long ago it was sent.
		at := g.now().at
		if r.Result == "not_placed" && (!g.cfg.Paper && at.Before(replyBy(o)) || !g.steps.steady()) {
			out.StillDoubt = append(out.StillDoubt, id)
			return nil, now, nil
		}
		out.Resolved = append(out.Resolved, r)
		drafts := []draft{{journal.KindReconcile, journal.Reconcile{AsOf: journal.Time{Time: at}, Order: &r, Cash: g.state.Cash, Who: "gate"}}}
		if !s.Known {
			return drafts, at, nil
		}
		return append(drafts, g.standingDrafts(o, s)...), at, nil
	})
	return err
}

// replyBy is when the newest message about the order's exposure may no longer arrive.
func replyBy(o *account.Order) time.Time {
	if o.Pending != nil && o.Pending.ReplyBy.After(o.ReplyBy) {
		return o.Pending.ReplyBy
	}
	return o.ReplyBy
}

// shows reports whether the broker's order has these terms.
func (s *Standing) shows(t *account.Terms) bool {
	return s.Order.Quantity == t.Quantity && s.Order.LimitPrice == t.LimitPrice && s.Order.StopPrice == t.StopPrice
}

// standingDrafts brings an order of ours to what the broker shows of it.
func (g *Gate) standingDrafts(o *account.Order, s *Standing) []draft {
	var drafts []draft
	filled := o.Filled
	for i := range s.Fills {
		if !g.state.SeenExecution(s.Fills[i].ID) {
			drafts = append(drafts, draft{journal.KindFill, fillBody(o.ID, &s.Fills[i], "")})
			filled, _ = filled.Add(s.Fills[i].Quantity) // a sum out of range does not fold either
		}
	}
	// A replace that took effect may have raised the total; the fold learns of it just now.
	if !s.Open && s.Ended != "" && filled.Cmp(money.MaxQuantity(o.Quantity, s.Order.Quantity)) < 0 {
		drafts = append(drafts, draft{journal.KindOutcome, journal.Outcome{
			BrokerID: s.BrokerID, Decision: o.Seq, OrderID: o.ID, Result: endResult(s.Ended),
		}})
	} else if c := o.Canceling; c != nil && s.Open {
		drafts = append(drafts, draft{journal.KindOutcome, journal.Outcome{Decision: c.Seq, OrderID: o.ID, Result: journal.ResultRejected}})
	}
	return drafts
}

// compare journals a whole reconciliation: differences that stay, or what was adopted.
// A picture that is older than the state is not compared, unless it is the last.
func (g *Gate) compare(ctx context.Context, seen *BrokerAccount, adopt *Adopt, out *Reconciliation, last bool) error {
	pictured := g.state.Seq
	_, err := g.commit(ctx, func() ([]draft, time.Time, error) {
		at := g.now().at
		out.External = 0
		drafts := g.foreignOrders(seen, out)
		body := journal.Reconcile{AsOf: journal.Time{Time: at}, Cash: seen.Cash, Whole: true, Who: "gate"}
		out.Differences, out.Adopted = g.differences(seen), nil
		moved := g.state.Seq != pictured
		if moved && !last && (adopt != nil || len(drafts) > 0 || len(out.Differences) > 0) {
			return nil, at, errMoved
		}
		if adopt != nil {
			body.Who, body.Reason = adopt.Who, journal.BoundText(adopt.Reason, ReasonBytesMax)
			for _, d := range out.Differences {
				out.Adopted = append(out.Adopted, d.Symbol)
			}
			body.Adopted, out.Differences = out.Adopted, nil
			for _, p := range seen.Positions {
				in := p.Instrument
				body.Positions = append(body.Positions, journal.Holding{Cost: p.Cost, Instrument: &in, Quantity: p.Quantity, Symbol: in.Symbol})
			}
		}
		body.Differences = out.Differences
		out.AsOf = at
		if g.quietReconcile(&body, drafts, at) {
			return nil, at, nil
		}
		return append(drafts, draft{journal.KindReconcile, body}), at, nil
	})
	return err
}

// ReconcileQuietFor is how long an unchanged, matching reconciliation of the paper
// broker needs no new entry.
const ReconcileQuietFor = 10 * time.Minute

func (g *Gate) quietReconcile(body *journal.Reconcile, drafts []draft, at time.Time) bool {
	r := &g.state.Reconciled
	return g.cfg.Paper && len(drafts) == 0 && len(body.Differences) == 0 && len(body.Adopted) == 0 && len(r.Differences) == 0 &&
		!r.At.IsZero() && at.Sub(r.At) < ReconcileQuietFor && !g.anyDoubt(at)
}

func (g *Gate) anyDoubt(now time.Time) bool {
	return slices.ContainsFunc(g.state.Orders, func(o *account.Order) bool { return o.InDoubt(now) })
}

// foreignOrders books open orders at the broker that did not come through the gate, and
// ends external ones that are gone.
func (g *Gate) foreignOrders(seen *BrokerAccount, out *Reconciliation) []draft {
	var drafts []draft
	halted := false
	open := make(map[string]bool, len(seen.Orders))
	for i := range seen.Orders {
		o := &seen.Orders[i]
		open["ext/"+o.BrokerID] = true
		if _, _, ours := g.ours(o.ClientOrderID); ours {
			continue
		}
		out.External++
		if g.state.Order("ext/"+o.BrokerID) != nil {
			continue
		}
		id := "order/" + o.BrokerID
		if !g.state.SeenEvent(id) {
			if !halted && forgotten(g.state, o.ClientOrderID, o.BrokerID) {
				halted = true
				drafts = append(drafts, g.forgottenDrafts()...)
			}
			drafts = append(drafts, draft{journal.KindExternal, journal.External{ID: id, Order: o}})
		}
	}
	for _, o := range g.state.Orders {
		if o.External && !open[o.ID] {
			drafts = append(drafts, draft{journal.KindExternal, journal.External{
				ID: "ended/" + o.BrokerID, Ended: &journal.ExternalEnd{BrokerID: o.BrokerID, Result: journal.ResultCanceled},
			}})
		}
	}
	return drafts
}

// differences compares positions and cash exactly, sorted by symbol; cash is the empty
// symbol.
func (g *Gate) differences(seen *BrokerAccount) []journal.Difference {
	ledger, broker := map[string]money.Quantity{}, map[string]money.Quantity{}
	symbols := map[string]bool{}
	for i := range g.state.Holdings {
		h := &g.state.Holdings[i]
		if !h.Position.IsZero() {
			ledger[h.Instrument.Symbol], symbols[h.Instrument.Symbol] = h.Position, true
		}
	}
	for _, p := range seen.Positions {
		broker[p.Instrument.Symbol], symbols[p.Instrument.Symbol] = p.Quantity, true
	}
	var out []journal.Difference
	if g.state.Cash != seen.Cash {
		out = append(out, journal.Difference{Broker: inUnits(seen.Cash), Ledger: inUnits(g.state.Cash)})
	}
	for symbol := range symbols {
		if ledger[symbol] != broker[symbol] {
			out = append(out, journal.Difference{Broker: broker[symbol], Ledger: ledger[symbol], Symbol: symbol})
		}
	}
	slices.SortFunc(out, func(a, b journal.Difference) int { return strings.Compare(a.Symbol, b.Symbol) })
	return out
}

// inUnits writes cash as units of currency, since a difference holds quantities.
func inUnits(n money.Notional) money.Quantity {
	q, err := money.ParseQuantity(n.String())
	if err != nil {
		return money.Quantity{} // out of range for a difference: the entry's Cash tells it
	}
	return q
}

// ResolveByHand records an operator's finding about one order in doubt: placed,
// not_placed, or filled with a quantity and price.
func (g *Gate) ResolveByHand(ctx context.Context, who string, r journal.Resolution) error {
	if r.Reason == "" || who == "" {
		return errors.New("a finding needs a reason, and who found it")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.catchUp(ctx); err != nil {
		return err
	}
	r.Reason = journal.BoundText(r.Reason, ReasonBytesMax)
	_, err := g.commit(ctx, func() ([]draft, time.Time, error) {
		at := g.now().at
		o := g.state.Order(r.OrderID)
		switch {
		case o == nil:
			return nil, at, fmt.Errorf("order %s is not open", r.OrderID)
		case !o.InDoubt(at):
			return nil, at, fmt.Errorf("order %s is not in doubt", r.OrderID)
		}
		return []draft{{journal.KindReconcile, journal.Reconcile{
			AsOf: journal.Time{Time: at}, Cash: g.state.Cash, Order: &r, Who: who,
		}}}, at, nil
	})
	return err
}
