// Package record turns a judged request into the journal's decision, and back. The
// gate writes with it and the audit reads with it, so that what was judged is what
// is judged again. It is pure.
package record

import (
	"fmt"
	"slices"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// Flags of a request, as written into a decision. Each is a yes-or-no input of
// risk.Decide; absent means no.
const (
	flagInstrumentAsked = "instrument_asked"
	flagInstrumentKnown = "instrument_known"
	flagLimitsInvalid   = "limits_invalid"
	flagStartPending    = "start_pending"
	flagPaperBroker     = "paper_broker"
	flagAtomicReplace   = journal.FlagAtomicReplace // which the fold reads too
	flagControlHalted   = "control_halted"
	flagControlReduce   = "control_reduce_only"
)

// Origin is where a call came from, and the circumstances that the request itself
// does not hold.
type Origin struct {
	Door      string
	Agent     string
	CallID    string
	Note      string
	RawDigest string
	Clock     journal.Clock
	Calendar  string // digest
	Control   uint64 // seq of the control chain that was read
	State     string // digest of the account before, hex
}

// Decision writes down a judged request. ReplyBy is left to the caller.
func Decision(req *rail.Request, d *risk.Decision, o Origin) journal.Decision {
	body := journal.Decision{
		Agent: o.Agent, CallID: o.CallID, Calendar: o.Calendar, Clock: o.Clock, Control: o.Control,
		Door: o.Door, Engine: risk.Engine, Flags: flagsOf(req), Instrument: req.Instrument, Intent: req.Intent,
		Fees: req.Fees, Marks: marksOf(req.Marks), Mode: d.Mode.String(), Note: o.Note, Off: d.Off, Passes: d.Passes,
		Quote: quoteOf(req), RawDigest: o.RawDigest, Reducing: d.Reducing, StateDigest: o.State, Verdict: d.Verdict.String(),
	}
	if req.Broker.Present {
		body.Broker = &journal.BrokerFigures{
			At: journal.Time{Time: req.Broker.At}, BuyingPower: req.Broker.BuyingPower, Cash: req.Broker.Cash,
		}
	}
	if d.EquityOK {
		equity := d.Equity
		body.Equity = &equity
	}
	body.Findings = FindingsOf(d)
	for _, e := range d.Effects {
		body.Effects = append(body.Effects, journal.Effect{Kind: e.Kind.String(), Rail: string(e.Rail)})
	}
	if d.Allowed() {
		body.Reservation = reservationOf(d)
	}
	return body
}

// FindingsOf returns the findings other than pass and off, integrity refusals first,
// as they are written.
func FindingsOf(d *risk.Decision) []journal.Finding {
	var out []journal.Finding
	if d.Integrity != "" {
		status := "deny"
		if d.Verdict == risk.Error {
			status = "fault"
		}
		out = append(out, journal.Finding{Rail: d.Integrity, Status: status, Text: d.IntegrityText})
	}
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Status == rail.Pass || f.Status == rail.Off || f.Status == rail.StatusNone {
			continue
		}
		out = append(out, journal.Finding{
			Limit: f.Limit, Observed: f.Observed, Passes: f.Passes, Rail: string(f.Rail), Status: f.Status.String(), Text: f.Text,
		})
	}
	return out
}

func reservationOf(d *risk.Decision) *journal.Reservation {
	r := d.Reservation
	return &journal.Reservation{Bucket: r.Bucket, Cost: r.Cost, Notional: r.Notional, Price: r.Price, Quantity: r.Quantity}
}

func flagsOf(req *rail.Request) []string {
	var flags []string
	add := func(on bool, name string) {
		if on {
			flags = append(flags, name)
		}
	}
	add(req.AtomicReplace, flagAtomicReplace)
	add(req.ControlMode == account.Halted, flagControlHalted)
	add(req.ControlMode == account.ReduceOnly, flagControlReduce)
	add(req.InstrumentAsked, flagInstrumentAsked)
	add(req.InstrumentKnown, flagInstrumentKnown)
	add(req.LimitsInvalid, flagLimitsInvalid)
	add(req.PaperBroker, flagPaperBroker)
	add(req.StartPending, flagStartPending)
	slices.Sort(flags)
	return flags
}

func marksOf(marks []rail.Mark) []journal.Mark {
	out := make([]journal.Mark, 0, len(marks))
	for _, m := range marks {
		out = append(out, journal.Mark{Ask: m.Ask, At: journal.Time{Time: m.At}, Bid: m.Bid, Symbol: m.Symbol})
	}
	return out
}

func quoteOf(req *rail.Request) *journal.Quote {
	q := req.Quote
	if !q.Present && !req.LastValid.Present {
		return nil
	}
	// Without a quote the halt is what the last valid one told.
	halted := q.Halted || !q.Present && req.LastValid.Halted
	out := &journal.Quote{
		Absent: !q.Present, At: journal.Time{Time: q.At}, Currency: q.Currency, Feed: q.Feed, Halted: halted,
		Ask: side(q.Ask, q.HasAsk), Bid: side(q.Bid, q.HasBid), Last: side(q.Last, q.HasLast),
	}
	if l := req.LastValid; l.Present {
		out.LastValid = &journal.Mark{Ask: l.Ask, At: journal.Time{Time: l.At}, Bid: l.Bid, Symbol: l.Symbol}
	}
	return out
}

func side(p money.Price, has bool) *money.Price {
	if !has {
		return nil
	}
	return &p
}

// Request reads the request of a decision back, as it was judged. Of the last valid quote
// only symbol, prices and time are kept, and without a quote its halt: the gate hands on
// none in another currency.
func Request(e *journal.Entry, body *journal.Decision) (rail.Request, error) {
	req := rail.Request{
		Intent: body.Intent, Now: e.At.Time, Instrument: body.Instrument, ClockSuspect: body.Clock.Suspect,
		Fees: body.Fees, ControlMode: account.Active,
	}
	for _, flag := range body.Flags {
		switch flag {
		case flagAtomicReplace:
			req.AtomicReplace = true
		case flagControlHalted:
			req.ControlMode = account.Halted
		case flagControlReduce:
			req.ControlMode = account.ReduceOnly
		case flagInstrumentAsked:
			req.InstrumentAsked = true
		case flagInstrumentKnown:
			req.InstrumentKnown = true
		case flagLimitsInvalid:
			req.LimitsInvalid = true
		case flagPaperBroker:
			req.PaperBroker = true
		case flagStartPending:
			req.StartPending = true
		default:
			return rail.Request{}, fmt.Errorf("decision %s/%d: unknown flag", e.Account, e.Seq)
		}
	}
	if b := body.Broker; b != nil {
		req.Broker = rail.BrokerFigures{Present: true, Cash: b.Cash, BuyingPower: b.BuyingPower, At: b.At.Time}
	}
	for _, m := range body.Marks {
		req.Marks = append(req.Marks, rail.Mark{Symbol: m.Symbol, Bid: m.Bid, Ask: m.Ask, At: m.At.Time})
	}
	if q := body.Quote; q != nil {
		readQuote(&req, q)
	}
	return req, nil
}

// quotedSymbol is the symbol of a decision's quote, which the entry does not repeat.
func quotedSymbol(req *rail.Request) string {
	if req.Instrument.Symbol != "" {
		return req.Instrument.Symbol
	}
	return req.Intent.Symbol
}

func readQuote(req *rail.Request, q *journal.Quote) {
	if !q.Absent {
		quote := market.Quote{
			Symbol: quotedSymbol(req), At: q.At.Time, Currency: q.Currency, Feed: q.Feed, Halted: q.Halted, Present: true,
		}
		if q.Bid != nil {
			quote.Bid, quote.HasBid = *q.Bid, true
		}
		if q.Ask != nil {
			quote.Ask, quote.HasAsk = *q.Ask, true
		}
		if q.Last != nil {
			quote.Last, quote.HasLast = *q.Last, true
		}
		req.Quote = quote
	}
	if l := q.LastValid; l != nil {
		req.LastValid = market.Quote{
			Symbol: l.Symbol, Bid: l.Bid, Ask: l.Ask, At: l.At.Time, Present: true, HasBid: true, HasAsk: true,
			Halted: q.Absent && q.Halted,
		}
	}
}
