package audit_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
)

// recordOf is the paper broker's record as an audit takes it.
func recordOf(t testing.TB, p *paper.Broker) *audit.BrokerRecord {
	t.Helper()
	messages, err := p.Ledger().Messages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done, err := p.Ledger().Executions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := &audit.BrokerRecord{Messages: map[string]audit.BrokerMessage{}, Executions: map[string]audit.BrokerExecution{}}
	for _, m := range messages {
		r.Messages[m.ClientOrderID] = audit.BrokerMessage{At: m.DecidedAt, Took: m.Effect == paper.EffectTook}
	}
	for _, x := range done {
		r.Executions[x.ID] = audit.BrokerExecution{Quantity: x.Quantity, Price: x.Price}
	}
	return r
}

// The broker's record and the journal must tell the same orders and executions.
func TestTheBrokersRecordBearsWitness(t *testing.T) {
	d := newDesk(t, "")
	var allowed [2]string
	for i, quantity := range []string{"10", "3"} {
		j := d.order(quantity, "200.00")
		if !j.Allowed() {
			t.Fatal(j.Decision.Refusing())
		}
		allowed[i] = j.ClientOrderID
		if _, err := d.paper.FillOrder(t.Context(), j.ClientOrderID, money.MustQuantity(quantity), money.MustPrice("199.99"), ""); err != nil {
			t.Fatal(err)
		}
		d.must(d.gate.Tick(t.Context()))
	}
	d.order("5000", "200.00")
	items := d.items()
	_, accepted := place(t, items, "paper", journal.KindOutcome, 0)
	_, filled := place(t, items, "paper", journal.KindFill, 1)
	end := decoded(t, items[len(items)-1]).Seq
	const strange = "br-aaaaaaaaaaaaaaaaaaaaaaaa"
	for name, c := range map[string]struct {
		change func(r *audit.BrokerRecord)
		again  func(r *audit.BrokerRecord) // what the second look finds
		seq    uint64                      // 0: it agrees
	}{
		"as it is":                  {change: func(*audit.BrokerRecord) {}},
		"an order is not there":     {change: func(r *audit.BrokerRecord) { delete(r.Messages, allowed[0]) }, seq: accepted},
		"an order was not taken":    {change: func(r *audit.BrokerRecord) { r.Messages[allowed[0]] = audit.BrokerMessage{At: d.clock.Read().Market} }, seq: accepted},
		"an execution is not there": {change: func(r *audit.BrokerRecord) { clear(r.Executions); r.Executions["other"] = audit.BrokerExecution{} }, seq: 0},
		"another price": {change: func(r *audit.BrokerRecord) {
			for id, x := range r.Executions {
				if x.Quantity == money.MustQuantity("3") {
					x.Price = money.MustPrice("1")
					r.Executions[id] = x
				}
			}
		}, seq: filled},
		"an order of nobody": {change: func(r *audit.BrokerRecord) {
			r.Messages[strange] = audit.BrokerMessage{At: d.clock.Read().Market, Took: true}
		}, seq: end},
		"an order of before": {change: func(r *audit.BrokerRecord) {
			r.Messages[strange] = audit.BrokerMessage{At: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
		}},
		"a person's own order": {change: func(r *audit.BrokerRecord) {
			r.Messages["mine"] = audit.BrokerMessage{At: d.clock.Read().Market, Took: true}
		}},
		"an order came meanwhile": {change: func(r *audit.BrokerRecord) { delete(r.Messages, allowed[1]) }, again: func(*audit.BrokerRecord) {}},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := recordOf(t, d.paper), recordOf(t, d.paper)
			c.change(first)
			if c.again == nil {
				c.again = c.change
			}
			c.again(second)
			looks := []*audit.BrokerRecord{first, second}
			r, err := audit.Verify(t.Context(), sourceOf(items), audit.Options{
				Calendar: market.XNYS(),
				Broker: func(_ context.Context, name string) (*audit.BrokerRecord, error) {
					if name != "paper" {
						t.Errorf("asked for %q", name)
					}
					now := looks[0]
					looks = looks[1:]
					return now, nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case name == "an execution is not there":
				if f := reportOf(t, r, "paper").Failure; f == nil || !strings.Contains(f.Got, "no such execution") {
					t.Errorf("found %v", f)
				}
			case c.seq == 0:
				if f := reportOf(t, r, "paper").Failure; f != nil {
					t.Errorf("found %v", f)
				}
			default:
				wantFailure(t, r, "paper", c.seq, audit.Fold)
			}
		})
	}
}

// Whoever rewrites a decision gives its order another client order id, which the broker
// has never seen.
func TestARewrittenOrderIsNotTheBrokers(t *testing.T) {
	d := newDesk(t, "")
	if j := d.order("10", "200.00"); !j.Allowed() {
		t.Fatal(j.Decision.Refusing())
	}
	items := d.items()
	at, _ := place(t, items, "paper", journal.KindDecision, 0)
	_, accepted := place(t, items, "paper", journal.KindOutcome, 0)
	forged := rewritten(t, items, at, swap(`"agent":"agent"`, `"agent":"other"`))
	if r := verify(t, forged); len(r.Failed()) != 0 {
		t.Fatalf("without the broker's record: %v", r.Failed()[0])
	}
	r, err := audit.Verify(t.Context(), sourceOf(forged), audit.Options{
		Calendar: market.XNYS(),
		Broker:   func(context.Context, string) (*audit.BrokerRecord, error) { return recordOf(t, d.paper), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	f := reportOf(t, r, "paper").Failure
	if f == nil || f.Question != audit.Fold || f.Seq > accepted {
		t.Errorf("found %v", f)
	}
}
