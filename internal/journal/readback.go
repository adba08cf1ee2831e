package journal

import (
	"slices"
	"time"

	"github.com/broker-rails/broker-rails/internal/order"
)

// readBack returns a pointer to what reading the body's own bytes would give, without
// reading them; nil for kinds and values of which that is not known, which are then read
// from their bytes. The body is one that was written without an error. What the result
// points to may be shared with the body: neither is to be changed.
func readBack(body any) any {
	switch v := body.(type) {
	case Decision:
		return v.readBack()
	case *Decision:
		return v.readBack()
	case Outcome:
		return &v
	case Fill:
		v.ExecutedAt = v.ExecutedAt.readBack()
		return &v
	case Refusal:
		return &v
	}
	return nil
}

// readBack is an instant as its text gives it: no zone, no monotonic reading.
func (t Time) readBack() Time {
	if t.IsZero() {
		return Time{}
	}
	return At(t.Time)
}

func plain(t time.Time) bool { return t == Time{t}.readBack().Time }

// readBack returns an untyped nil for a decision with a word that has no text of its own.
func (given *Decision) readBack() any {
	d := new(Decision)
	*d = *given
	in := &d.Intent
	if in.Side > order.Sell || in.Type > order.StopLimit || in.TimeInForce > order.GTD || d.Instrument.Class > order.Forex {
		return nil
	}
	in.ExpireAt = Time{in.ExpireAt}.readBack().Time
	d.Clock.Wall, d.ReplyBy = d.Clock.Wall.readBack(), d.ReplyBy.readBack()
	if f := d.Broker; f != nil && !plain(f.At.Time) {
		copied := *f
		copied.At = f.At.readBack()
		d.Broker = &copied
	}
	d.Quote = d.Quote.readBack()
	for i := range d.Marks {
		if !plain(d.Marks[i].At.Time) {
			d.Marks = slices.Clone(d.Marks)
			for j := range d.Marks {
				d.Marks[j].At = d.Marks[j].At.readBack()
			}
			break
		}
	}
	return d
}

func (q *Quote) readBack() *Quote {
	if q == nil || plain(q.At.Time) && (q.LastValid == nil || plain(q.LastValid.At.Time)) {
		return q
	}
	copied := *q
	copied.At = q.At.readBack()
	if q.LastValid != nil {
		last := *q.LastValid
		last.At = last.At.readBack()
		copied.LastValid = &last
	}
	return &copied
}
