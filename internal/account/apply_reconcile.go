package account

import (
	"slices"
	"sort"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// reconcilePrefix begins the execution id of a fill that a resolution tells of.
const reconcilePrefix = "reconcile/"

func (st *step) reconcile() error {
	body, err := journal.DecodeBody[journal.Reconcile](st.entry)
	if err != nil {
		return err
	}
	r := &body
	bySymbol := func(a, b journal.Difference) bool { return a.Symbol >= b.Symbol }
	switch {
	case r.AsOf.After(st.at):
		return broken("reconciliation of a time to come")
	case r.Order != nil && len(r.Adopted) > 0:
		return broken("an order resolved and positions adopted in one entry")
	case hasPair(r.Differences, bySymbol):
		return broken("differences are not in order")
	case hasPair(r.Positions, func(a, b journal.Holding) bool { return a.Symbol >= b.Symbol }):
		return broken("positions are not in order")
	}
	finish := func() {}
	if r.Order != nil {
		if finish, err = st.resolve(r.Order); err != nil {
			return err
		}
	}
	adopted, err := st.planAdoption(r)
	if err != nil {
		return err
	}
	if !st.commit() {
		return nil
	}
	finish()
	st.adopt(adopted)
	if slices.Contains(r.Adopted, "") {
		st.state.Cash = r.Cash
	}
	if r.Whole {
		st.state.Reconciled = Reconciled{At: r.AsOf.Time, Differences: r.Differences}
	}
	return nil
}

func hasPair[T any](list []T, bad func(a, b T) bool) bool {
	for i := 1; i < len(list); i++ {
		if bad(list[i-1], list[i]) {
			return true
		}
	}
	return false
}

// adoption sets one position to the broker's.
type adoption struct {
	instrument order.Instrument
	position   money.Quantity
	cost       money.Price
}

// planAdoption checks the positions to adopt. A symbol that the broker does not show is
// flat there. The cost stays while the position keeps its direction, unless one is given.
func (st *step) planAdoption(r *journal.Reconcile) ([]adoption, error) {
	var plan []adoption
	for _, symbol := range r.Adopted {
		if symbol == "" {
			continue
		}
		var a adoption
		h := st.state.Holding(symbol)
		if h != nil {
			a.instrument = h.Instrument
		}
		i := sort.Search(len(r.Positions), func(i int) bool { return r.Positions[i].Symbol >= symbol })
		if i < len(r.Positions) && r.Positions[i].Symbol == symbol {
			p := &r.Positions[i]
			a.position, a.cost = p.Quantity, p.Cost
			if h == nil && p.Instrument != nil {
				a.instrument = *p.Instrument
			}
			if a.cost.IsZero() && h != nil && h.Position.Sign() == p.Quantity.Sign() {
				a.cost = h.Cost
			}
		}
		switch {
		case a.position.IsZero() && h == nil:
			continue
		case a.instrument.Symbol != symbol || !a.instrument.Multiplier.IsPositive():
			return nil, broken("position adopted without its instrument")
		case a.cost.IsNegative():
			return nil, broken("position adopted with a negative cost")
		case a.position.IsZero():
			a.cost = money.Price{}
		}
		plan = append(plan, a)
	}
	return plan, nil
}

func (st *step) adopt(plan []adoption) {
	s := st.state
	for i := range plan {
		a := &plan[i]
		h := s.holdingFor(a.instrument)
		if a.position.Sign() != h.Position.Sign() {
			h.OpenedInCycle = false
		}
		h.Position, h.Cost = a.position, a.cost
		s.dropIfEmpty(a.instrument.Symbol)
	}
}

// resolve settles one order in doubt: the order itself, else a replace of it, else a
// cancel. What it finds out is final for what was in doubt and for nothing else.
func (st *step) resolve(r *journal.Resolution) (func(), error) {
	s := st.state
	o := s.Order(r.OrderID)
	if r.Result == journal.ResolvedFilled {
		return st.resolveFilled(r)
	}
	if r.Result != journal.ResolvedPlaced && r.Result != journal.ResolvedNotPlaced {
		return nil, broken("resolution is not known")
	}
	if o == nil {
		if s.endedOrder(r.OrderID) == nil {
			return nil, ErrUnknownOrder
		}
		return func() {}, nil
	}
	placed := r.Result == journal.ResolvedPlaced
	next, ended := *o, ""
	if !placed {
		ended = r.Result
	}
	switch {
	case o.Stage != Working:
		next.Stage = Working
	case o.Pending != nil && placed:
		next.takePending()
	case o.Pending != nil:
		next.Pending, ended = nil, ""
	case o.Canceling != nil && placed:
		next.Canceling = nil
	}
	if placed && r.BrokerID != "" {
		next.BrokerID = r.BrokerID
	}
	c, err := s.planChange(o, next, ended)
	if err != nil {
		return nil, err
	}
	return func() {
		st.make(&c)
		s.dropIfEmpty(next.Symbol)
	}, nil
}

// resolveFilled books what a person or a look-up found to be filled, once for an order.
// If something is left to fill, the order counts as working until its end is proved.
func (st *step) resolveFilled(r *journal.Resolution) (func(), error) {
	id := reconcilePrefix + r.OrderID
	key := keyOf(executionKind, id)
	if st.state.ids.has(key) {
		return nil, broken("order was resolved as filled before")
	}
	p, err := st.planFill(&journal.Fill{ExecutionID: id, OrderID: r.OrderID, Price: r.Price, Quantity: r.Quantity})
	if err != nil {
		return nil, err
	}
	if p.open && r.BrokerID != "" {
		p.change.next.BrokerID = r.BrokerID
	}
	return func() {
		st.makeFill(&p)
		st.state.ids.addSeen(key, st.date)
	}, nil
}
