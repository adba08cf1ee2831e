package risk

import (
	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// Decide judges one request by the account's state and the limits in force. It changes
// none of its arguments and keeps none; the same arguments give the same decision, on
// every machine and in every year. Absent arguments, and a request that cannot be an
// order, are refused before the rails; else every rail runs. It does not recover: a
// panic is the caller's to turn into a refusal.
func Decide(s *account.State, doc *limits.Document, req *rail.Request, cal market.Calendar) (d Decision) {
	if r := checkInputs(s, doc, req, cal); r.found() {
		d.refuse(r)
		return d
	}
	session := market.Session(req.Now, cal)
	f := rail.Facts{
		Request: req, State: s, Limits: doc, Intent: &req.Intent, Instrument: req.Instrument,
		Session: session, Calendar: cal, Mode: account.Effective(s.Mode, req.ControlMode),
	}
	d.Mode, d.Session = f.Mode, session
	if req.Intent.Action != order.ActionNew {
		f.Target = s.Order(req.Intent.Target)
		if r := checkTarget(&req.Intent, f.Target); r.found() {
			d.refuse(r)
			return d
		}
		merged := resulting(req.Intent, f.Target)
		f.Intent = &merged
	}
	// From here on f holds pointers to this frame: a function that stored what f points
	// to would move it to the heap.
	symbol := f.Intent.Symbol
	if req.InstrumentKnown && rail.FoldsTo(symbol, req.Instrument.Symbol) {
		symbol = req.Instrument.Symbol
	}
	figures := doc.For(symbol)
	f.Figures, f.Holding = &figures, s.Holding(symbol)
	if req.Intent.Action == order.ActionCancel {
		decideCancel(&f, &d)
		return d
	}
	if r := checkTerms(f.Intent, f.Target); r.found() {
		d.refuse(r)
		return d
	}
	decideOrder(&f, req, &d)
	return d
}

// decideOrder judges a new order or a replace.
func decideOrder(f *rail.Facts, req *rail.Request, d *Decision) {
	var c change
	if !positionFacts(f, &c) {
		d.refuse(refusal{InternalFault, "With what is open the quantity is out of range."})
		return
	}
	dates := tradeDatesOf(f)
	quoteFacts(f, req, &dates)
	priceFacts(f, &c)
	cost := costFacts(f, &c)
	exposureFacts(f, &dates)

	rail.Run(f, &d.Findings)
	d.Verdict, d.Passes, d.Off = combine(d.Findings[:])
	exits := f.Reducing || f.LowersOnly
	d.Reducing = exits
	d.RiskPrice, d.Notional = f.RiskPrice, f.Notional
	d.Increment, d.IncrementNotional = f.Increment, f.IncrementNotional
	d.Equity, d.EquityOK = f.Equity, f.EquityOK
	switch {
	case req.LimitsInvalid && !exits:
		d.soften(refusal{LimitsInvalid, "The newest limits are not valid; until they are only reducing orders pass."})
	case d.Verdict == Allowed && !(f.NotionalOK && f.CostOK):
		d.soften(refusal{InternalFault, "The order cannot be valued."})
	}
	d.Reservation.Bucket = bucketOf(exits)
	if d.Verdict == Allowed {
		d.Reservation = Reservation{
			Bucket: bucketOf(exits), Cost: cost, Notional: f.IncrementNotional, Price: f.RiskPrice,
			Quantity: f.Intent.Quantity, Atomic: f.Target != nil && req.AtomicReplace,
		}
	}
	d.Effects = rail.Effects(f, d.Verdict == Denied)
}

// soften records an integrity error beside the rails' findings. A denial stands.
func (d *Decision) soften(r refusal) {
	d.Integrity, d.IntegrityText = r.code, r.text
	if d.Verdict == Allowed {
		d.Verdict = Error
	}
}

// decideCancel judges a cancel: only its bucket of messages can refuse it, also while
// the account is halted.
func decideCancel(f *rail.Facts, d *Decision) {
	rail.RunCancel(f, &d.Findings)
	d.Verdict, d.Passes, d.Off = combine(d.Findings[:])
	d.Reservation.Bucket = journal.BucketExit
	d.Effects = rail.Effects(f, d.Verdict == Denied)
}

func bucketOf(exits bool) string {
	if exits {
		return journal.BucketExit
	}
	return journal.BucketOpen
}
