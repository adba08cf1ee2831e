package sim

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// Hours of a trade date that figures are kept by: from 09:00 to 16:00 in New York, and
// all that is later.
const (
	firstHour = 9
	hours     = 8
)

// Figures are what became of calls. Denied, errors and orders are three things, and
// nothing is counted as two of them.
type Figures struct {
	Calls    int `json:"calls"`
	Orders   int `json:"orders"` // new ones that went to the broker
	Replaces int `json:"replaces"`
	Cancels  int `json:"cancels"`
	Fills    int `json:"fills"`
	Denied   int `json:"denied"`
	Errors   int `json:"errors"`   // could not be judged
	Replayed int `json:"replayed"` // the same order under the same id: told again, not sent
	Rejected int `json:"rejected"` // by the broker
	InDoubt  int `json:"in_doubt"`
	NotSent  int `json:"not_sent"`
}

// counter counts what the agent was told, and what the broker recorded.
type counter struct {
	Figures
	message, execution int64 // newest that were seen
	date               Figures
	rails              map[string]*[hours]int
	orders             [hours]int
}

func newCounter() *counter { return &counter{rails: map[string]*[hours]int{}} }

func hourOf(at time.Time) int {
	return min(max(int(market.NewYork(at).SinceMidnight.Hours())-firstHour, 0), hours-1)
}

// each changes the figures of the whole session and of the trade date.
func (c *counter) each(add func(f *Figures)) {
	add(&c.Figures)
	add(&c.date)
}

// judged counts a judgement, and returns what refuses.
func (c *counter) judged(j *gate.Judgement, at time.Time) (refusing []string) {
	c.each(func(f *Figures) { f.Calls++ })
	switch {
	case j.Replayed != nil:
		c.each(func(f *Figures) { f.Replayed++ })
	case j.Fault != "" || j.Decision.Verdict == risk.Error:
		c.each(func(f *Figures) { f.Errors++ })
	case !j.Allowed():
		c.each(func(f *Figures) { f.Denied++ })
		refusing = j.Decision.Refusing()
		for _, id := range refusing {
			if c.rails[id] == nil {
				c.rails[id] = new([hours]int)
			}
			c.rails[id][hourOf(at)]++
		}
	}
	return refusing
}

func (c *counter) outcome(o gate.Outcome) {
	c.each(func(f *Figures) {
		switch o.Result {
		case journal.ResultRejected:
			f.Rejected++
		case journal.ResultInDoubt:
			f.InDoubt++
		case journal.ResultNotSent:
			f.NotSent++
		}
	})
}

// record counts what the broker recorded.
func (c *counter) record(l *Look) {
	for i := range l.Messages {
		m := &l.Messages[i]
		c.message = m.N
		if m.Action == order.ActionNew {
			c.orders[hourOf(m.At)]++
		}
		c.each(func(f *Figures) {
			switch m.Action {
			case order.ActionNew:
				f.Orders++
			case order.ActionReplace:
				f.Replaces++
			case order.ActionCancel:
				f.Cancels++
			}
		})
	}
	for i := range l.Executions {
		c.execution = l.Executions[i].N
		c.each(func(f *Figures) { f.Fills++ })
	}
}

// faultKinds are the scripted faults that a session injects. Those that take wall time
// are not among them.
var faultKinds = [...]paper.FaultKind{
	paper.FaultReject, paper.FaultTimeout, paper.FaultTimeoutAfter, paper.FaultPartial, paper.FaultDuplicateFill, paper.FaultLateFill,
}
