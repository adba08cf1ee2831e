package risk

import (
	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// Engine is the version of the rules. It is written into every decision, and changes
// whenever the same inputs could give another decision.
const Engine = "1"

// Verdict is what a decision comes to. The zero value is denied.
type Verdict uint8

// Verdicts. Neither denied nor error sends anything, but they are different facts: an
// order was judged and refused, or could not be judged.
const (
	Denied Verdict = iota
	Allowed
	Error
)

// String returns the word of the journal.
func (v Verdict) String() string {
	switch v {
	case Denied:
		return journal.VerdictDenied
	case Allowed:
		return journal.VerdictAllowed
	}
	return journal.VerdictError
}

// Codes of integrity refusals: what is refused before the rails, and what no one can
// switch off. MalformedCall, InvalidNumber and ConflictingFields deny, the others are
// errors.
const (
	MalformedCall      = "malformed_call"
	InvalidNumber      = "invalid_number"
	ConflictingFields  = "conflicting_fields"
	LimitsInvalid      = "limits_invalid"
	AccountUnavailable = "account_unavailable"
	InternalFault      = "internal_fault"
)

// Decision is a judged intent. The zero decision denies.
type Decision struct {
	Verdict Verdict
	// Findings are the rails' answers, in the order of rail.All. All are of StatusNone
	// when an integrity refusal came before the rails.
	Findings [rail.Count]rail.Finding
	Passes   int // findings of status pass
	Off      int // and off
	// Integrity is the code of an integrity refusal, empty for none; IntegrityText is one
	// sentence of our own words. The verdict says whether it denies or is an error.
	Integrity     string
	IntegrityText string

	Reducing bool         // as rails.md defines it, or a replace that only lowers a quantity
	Mode     account.Mode // that it was judged by
	Session  market.SessionInfo

	RiskPrice         money.Price
	Notional          money.Notional // of the whole resulting order
	Increment         money.Quantity // that this action adds
	IncrementNotional money.Notional
	Equity            money.Notional // now; with EquityOK only
	EquityOK          bool           // some rail needed it, and all marks were there

	Reservation Reservation // of an allowed new order or replace; else zero but for its bucket
	Effects     []Effect    // what it changes beside its own order
}

// Reservation is the exposure that an allowed intent takes.
type Reservation struct {
	Bucket   string         // journal.BucketOpen or BucketExit: which counters it draws on
	Cost     money.Notional // cash held back for the whole quantity, fees included
	Notional money.Notional // counted by the minute and the day: the increment's
	Price    money.Price    // risk price
	Quantity money.Quantity // of the order; for a replace the new total
	Atomic   bool           // a replace that the broker makes in one step
}

// Effect is a latch or a mode that the decision's entry must be followed by.
type Effect = rail.Effect

// Allowed reports whether the intent may be sent.
func (d *Decision) Allowed() bool { return d != nil && d.Verdict == Allowed }

// Refusing returns the ids of what denies, in order: the code of an integrity denial,
// then rails.
func (d *Decision) Refusing() []string { return d.ids(Denied, rail.Deny) }

// Faults returns the ids of what could not decide, in order: the code of an integrity
// error, then rails.
func (d *Decision) Faults() []string { return d.ids(Error, rail.Fault) }

func (d *Decision) ids(integrity Verdict, status rail.Status) []string {
	var ids []string
	if d.Integrity != "" && verdictOf(d.Integrity) == integrity {
		ids = append(ids, d.Integrity)
	}
	for i := range d.Findings {
		if d.Findings[i].Status == status {
			ids = append(ids, string(d.Findings[i].Rail))
		}
	}
	return ids
}

// verdictOf returns what an integrity refusal comes to.
func verdictOf(code string) Verdict {
	switch code {
	case MalformedCall, InvalidNumber, ConflictingFields:
		return Denied
	}
	return Error
}

// refuse makes d an integrity refusal.
func (d *Decision) refuse(r refusal) {
	d.Verdict, d.Integrity, d.IntegrityText = verdictOf(r.code), r.code, r.text
}

// combine counts the findings and returns what they come to: any deny is denied, else
// any fault, or a finding that nobody made, is an error, else allowed. No findings at
// all are denied.
func combine(findings []rail.Finding) (v Verdict, passes, off int) {
	denies := 0
	for i := range findings {
		switch findings[i].Status {
		case rail.Pass:
			passes++
		case rail.Off:
			off++
		case rail.Deny:
			denies++
		}
	}
	switch {
	case denies > 0 || len(findings) == 0:
		return Denied, passes, off
	case passes+off < len(findings):
		return Error, passes, off
	}
	return Allowed, passes, off
}
