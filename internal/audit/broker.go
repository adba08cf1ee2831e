package audit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
)

// BrokerRecord is what a broker's own record holds of an account.
type BrokerRecord struct {
	Messages   map[string]BrokerMessage   // by client order id; without those that never arrived
	Executions map[string]BrokerExecution // by execution id
}

// BrokerMessage is what a broker made of the messages under one client order id.
type BrokerMessage struct {
	At   time.Time // of the first, market time
	Took bool      // it did what one of them said
}

// BrokerExecution is a trade as the broker booked it.
type BrokerExecution struct {
	Quantity money.Quantity
	Price    money.Price
}

// broker holds an account's entries against the broker's record. A broker's record bears
// witness to the journal: it holds client order ids, and each is derived from the hash of
// the decision that allowed the order.
type broker struct {
	record  *BrokerRecord
	began   time.Time
	sent    map[uint64]string // client order ids of allowed decisions without an outcome, by seq
	decided map[string]bool   // the record's messages that a decision allowed
	missing []missing         // not in the record when it was read, which was before the entries
}

// missing is what an entry says of the broker and the record does not hold.
type missing struct {
	seq          uint64
	order        string // client order id; empty: an execution
	execution    string
	want, before string
}

// missingMax bounds what is looked up a second time: a process that trades meanwhile
// makes a few.
const missingMax = 1024

// ask reads the broker's record of an account, when its first entry is read. What the
// record then holds was decided before, so that the entries must tell of it.
func (v *verifier) ask(ctx context.Context, c *chain) error {
	if v.options.Broker == nil || v.options.IntegrityOnly || c.report.Account == journal.ControlAccount || c.asked {
		return nil
	}
	c.asked = true
	r, err := v.options.Broker(ctx, c.report.Account)
	if err == nil && r != nil {
		c.broker = &broker{record: r, sent: map[uint64]string{}, decided: map[string]bool{}}
	}
	return err
}

// against holds one entry against the record.
func (b *broker) against(e *journal.Entry, hash journal.Hash) (*Failure, error) {
	if b == nil {
		return nil, nil
	}
	switch e.Kind {
	case journal.KindGenesis:
		b.began = e.At.Time
	case journal.KindDecision:
		body, err := journal.DecodeBody[journal.Decision](e)
		if err != nil || body.Verdict != journal.VerdictAllowed {
			return nil, err
		}
		id := journal.ClientOrderID(e.Account, e.Seq, hash)
		b.sent[e.Seq] = id
		if _, known := b.record.Messages[id]; known {
			b.decided[id] = true
		}
	case journal.KindOutcome:
		body, err := journal.DecodeBody[journal.Outcome](e)
		if err != nil {
			return nil, err
		}
		return b.outcome(e, &body), nil
	case journal.KindFill:
		body, err := journal.DecodeBody[journal.Fill](e)
		if err != nil {
			return nil, err
		}
		return b.fill(e, &body), nil
	}
	return nil, nil
}

func (b *broker) outcome(e *journal.Entry, body *journal.Outcome) *Failure {
	id, open := b.sent[body.Decision]
	if !open || body.Result == journal.ResultInDoubt {
		return nil
	}
	delete(b.sent, body.Decision)
	m, known := b.record.Messages[id]
	switch {
	case body.Result == journal.ResultAccepted && !(known && m.Took):
		b.missed(missing{seq: e.Seq, order: id, want: "the broker's record of the order " + id + " that it accepted", before: told(known)})
	case body.Result == journal.ResultNotSent && known:
		return brokerFailure(e.Seq, e.Account, "no order "+id+" at the broker, since it was not sent", "the broker has it")
	}
	return nil
}

func told(known bool) string {
	if known {
		return "the broker did not take it"
	}
	return "the broker knows no such order"
}

func (b *broker) fill(e *journal.Entry, body *journal.Fill) *Failure {
	x, known := b.record.Executions[body.ExecutionID]
	want := fmt.Sprintf("the broker's execution %s of %s at %s", body.ExecutionID, body.Quantity, body.Price)
	switch {
	case !known:
		b.missed(missing{seq: e.Seq, execution: body.ExecutionID, want: want, before: "the broker knows no such execution"})
	case x.Quantity != body.Quantity || x.Price != body.Price:
		return brokerFailure(e.Seq, e.Account, want, fmt.Sprintf("%s at %s", x.Quantity, x.Price))
	}
	return nil
}

func (b *broker) missed(m missing) {
	if len(b.missing) < missingMax {
		b.missing = append(b.missing, m)
	}
}

func brokerFailure(seq uint64, name, want, got string) *Failure {
	return &Failure{Account: name, Seq: seq, Question: Fold, Want: want, Got: got}
}

// settle looks a second time for what was missing, and then for orders that no entry
// allowed. The first failure of a chain stays the first.
func (v *verifier) settle(ctx context.Context) error {
	for name, c := range v.chains {
		if c.broker == nil {
			continue
		}
		f, err := v.settled(ctx, name, c.broker, c.report.Entries)
		if err != nil {
			return err
		}
		if first := c.report.Failure; f != nil && (first == nil || first.Question != Integrity && f.Seq < first.Seq) {
			c.report.Failure = f
		}
	}
	return nil
}

func (v *verifier) settled(ctx context.Context, name string, b *broker, entries uint64) (*Failure, error) {
	if len(b.missing) > 0 {
		now, err := v.options.Broker(ctx, name)
		if err != nil || now == nil {
			return nil, err
		}
		for _, m := range b.missing {
			if _, done := now.Executions[m.execution]; done || m.order != "" && now.Messages[m.order].Took {
				continue
			}
			return brokerFailure(m.seq, name, m.want, m.before), nil
		}
	}
	var unknown []string
	for id, m := range b.record.Messages {
		if !b.decided[id] && journal.HasOrderIDForm(id) && !m.At.Before(b.began) {
			unknown = append(unknown, id)
		}
	}
	if len(unknown) == 0 {
		return nil, nil
	}
	slices.Sort(unknown)
	return brokerFailure(entries, name, "a decision that allowed the broker's order "+unknown[0],
		fmt.Sprintf("none; the broker has %d orders that no entry allowed", len(unknown))), nil
}
