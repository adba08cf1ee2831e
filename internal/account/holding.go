package account

import (
	"slices"
	"sort"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// Holding returns the instrument's holding; nil if it is flat without open orders. The
// pointer is good until the next Apply.
func (s *State) Holding(symbol string) *Holding {
	if i, found := s.findHolding(symbol); found {
		return &s.Holdings[i]
	}
	return nil
}

func (s *State) findHolding(symbol string) (int, bool) {
	i := sort.Search(len(s.Holdings), func(i int) bool { return s.Holdings[i].Instrument.Symbol >= symbol })
	return i, i < len(s.Holdings) && s.Holdings[i].Instrument.Symbol == symbol
}

// openWith returns what can still fill on each side once the order o has the given
// group and remaining quantity; remaining zero is an order that is gone. It is false
// if a sum is out of range.
func (h *Holding) openWith(o *Order, group string, remaining money.Quantity) (buy, sell money.Quantity, ok bool) {
	buy, sell = h.OpenBuy, h.OpenSell
	if o.Group == "" && group == "" {
		side := &buy
		if o.Side == order.Sell {
			side = &sell
		}
		if slices.Contains(h.Orders, o) {
			if *side, ok = side.Sub(o.Remaining()); !ok {
				return buy, sell, false
			}
		}
		*side, ok = side.Add(remaining)
		return buy, sell, ok
	}
	legs := make([]leg, 0, len(h.Orders)+1)
	for _, other := range h.Orders {
		if other != o {
			legs = append(legs, leg{other.Side, other.Group, other.Remaining()})
		}
	}
	legs = append(legs, leg{o.Side, group, remaining})
	buy, okBuy := sumLegs(legs, order.Buy)
	sell, okSell := sumLegs(legs, order.Sell)
	return buy, sell, okBuy && okSell
}

type leg struct {
	side      order.Side
	group     string
	remaining money.Quantity
}

// sumLegs adds one side's legs. Of legs that the broker links, one canceling the
// other, only the largest counts.
func sumLegs(legs []leg, side order.Side) (sum money.Quantity, ok bool) {
	for i, l := range legs {
		if l.side != side {
			continue
		}
		if l.group != "" {
			if slices.ContainsFunc(legs[:i], func(o leg) bool { return o.side == side && o.group == l.group }) {
				continue
			}
			for _, o := range legs[i+1:] {
				if o.side == side && o.group == l.group {
					l.remaining = money.MaxQuantity(l.remaining, o.remaining)
				}
			}
		}
		if sum, ok = sum.Add(l.remaining); !ok {
			return sum, false
		}
	}
	return sum, true
}

// holdingFor returns the instrument's holding, made if it is not there. What it earned
// on this trade date before it last went flat is taken up again.
func (s *State) holdingFor(in order.Instrument) *Holding {
	i, found := s.findHolding(in.Symbol)
	if !found {
		s.Holdings = slices.Insert(s.Holdings, i, Holding{Instrument: in})
		if j := s.side.findRealized(in.Symbol); j >= 0 {
			s.Holdings[i].Realized = s.side.realized[j].profit
			s.side.realized = slices.Delete(s.side.realized, j, j+1)
		}
	}
	return &s.Holdings[i]
}

// dropIfEmpty takes a holding out that is flat and has no open orders.
func (s *State) dropIfEmpty(symbol string) {
	i, found := s.findHolding(symbol)
	if !found || !s.Holdings[i].Position.IsZero() || len(s.Holdings[i].Orders) > 0 {
		return
	}
	if profit := s.Holdings[i].Realized; !profit.IsZero() {
		s.side.realized = append(s.side.realized, symbolProfit{symbol, profit})
	}
	s.Holdings = slices.Delete(s.Holdings, i, i+1)
}

func (c *sidecar) findRealized(symbol string) int {
	return slices.IndexFunc(c.realized, func(p symbolProfit) bool { return p.symbol == symbol })
}
