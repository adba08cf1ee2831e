package paper

import (
	"context"
	"slices"
)

// News is what a ledger took in after a message and an execution that a reader knows,
// so that whoever looks often need not read a long ledger whole.
type News struct {
	Messages   []Message   // after the message's number
	Executions []Execution // after the execution's number
	Orders     []Order     // all that are live, then those that the above are of
}

// After returns what came after these numbers, zero for all of it, on one state of the
// ledger.
func (l *Ledger) After(ctx context.Context, message, execution int64) (out News, err error) {
	err = l.store.view(ctx, func(r rows) error {
		if out.Messages, err = r.messagesAfter(message); err != nil {
			return err
		}
		if out.Executions, err = r.executionsAfter(execution); err != nil {
			return err
		}
		if out.Orders, err = r.orders(true); err != nil {
			return err
		}
		for _, m := range out.Messages {
			if err := out.add(r, m.BrokerID); err != nil {
				return err
			}
		}
		for _, x := range out.Executions {
			if err := out.add(r, x.BrokerID); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// add takes an order in that is not there yet.
func (n *News) add(r rows, brokerID string) error {
	if slices.ContainsFunc(n.Orders, func(o Order) bool { return o.BrokerID == brokerID }) {
		return nil
	}
	o, ok, err := r.orderBy(byBrokerID, brokerID)
	if ok {
		n.Orders = append(n.Orders, o)
	}
	return err
}

func (u unlocked) messagesAfter(n int64) ([]Message, error) {
	return slices.Clone(u.m.log[min(max(n, 0), int64(len(u.m.log))):]), nil
}

func (u unlocked) executionsAfter(n int64) ([]Execution, error) {
	from, _ := slices.BinarySearchFunc(u.m.done, n+1, func(x Execution, n int64) int { return int(x.N - n) })
	return slices.Clone(u.m.done[from:]), nil
}

func (t table) messagesAfter(n int64) ([]Message, error) { return t.messagesWhere("WHERE n > ? ", n) }

func (t table) executionsAfter(n int64) ([]Execution, error) {
	return t.executionsWhere("WHERE n > ? ", n)
}
