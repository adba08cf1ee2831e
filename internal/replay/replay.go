package replay

import (
	"context"
	"fmt"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// Assumption says what became of an order that was recorded as refused and would pass.
type Assumption string

// Assumptions. The zero value is none of them, and refused.
const (
	AssumeFill Assumption = "fill" // as soon as a recorded quote makes it marketable
	AssumeNone Assumption = "none" // it works, and never fills
)

// Options of a replay.
type Options struct {
	Account string           // whose history; the control chain and other accounts are verified only
	Limits  *limits.Document // the other limits; of the same account and currency
	Text    string           // of the document, for the followed history's record
	Assume  Assumption
	// From and To bound the trade dates that are replayed, both inclusive; zero is no bound.
	// Before From the recorded limits hold, as if the others were put in force at its start.
	From, To market.TradeDate
	// Audit is how the journal is verified. Its Follow is the replay's own.
	Audit audit.Options
}

// OtherAccountError says that the limits are not for the account whose history it is.
type OtherAccountError struct{ Field, Limits, Journal string }

func (e *OtherAccountError) Error() string {
	return fmt.Sprintf("the limits are for %s %s, the journal's is %s", e.Field, e.Limits, e.Journal)
}

// NoAccountError says that the journal holds no such account.
type NoAccountError struct{ Account string }

func (e *NoAccountError) Error() string {
	return fmt.Sprintf("the journal holds no account %s", e.Account)
}

// Run replays a journal. If the journal does not verify, the report is nil and the audit's
// says why.
func Run(ctx context.Context, source audit.Source, o Options) (*Report, *audit.Report, error) {
	if o.Limits == nil || o.Assume != AssumeFill && o.Assume != AssumeNone {
		return nil, nil, fmt.Errorf("a replay without limits, or without an assumption")
	}
	p := newPlay(&o)
	o.Audit.Follow = func(e *journal.Entry, before *account.State) error {
		if e.Account != o.Account {
			return nil
		}
		return p.entry(e, before)
	}
	found, err := audit.Verify(ctx, source, o.Audit)
	if err != nil {
		return nil, found, err
	}
	if len(found.Failed()) > 0 {
		return nil, found, nil
	}
	if !p.known {
		return nil, found, &NoAccountError{o.Account}
	}
	p.close()
	return p.report, found, nil
}

// play is one replay under way.
type play struct {
	o        *Options
	calendar market.Calendar
	digest   string // of the calendar
	doc      *limits.Document
	report   *Report
	prices   prices
	known    bool // the account has an entry
	over     bool // past the last trade date
	due      bool // the entry before is replayed and not yet in the curves
	at       time.Time
	other    *other // the followed history; nil before its first decision
	last     *account.State
}

func newPlay(o *Options) *play {
	p := &play{o: o, calendar: o.Audit.Calendar, digest: o.Audit.Calendar.Digest(), doc: o.Limits}
	p.report = newReport(o)
	return p
}

// entry takes one recorded entry of the account, with the recorded state before it.
func (p *play) entry(e *journal.Entry, before *account.State) error {
	p.known, p.last = true, before
	date := before.TradeDateAt(e.At.Time)
	if p.over {
		return nil
	}
	p.sample(before) // what came before this entry is in both states now
	if p.o.To != 0 && date > p.o.To {
		p.over = true
		return nil
	}
	switch e.Kind {
	case journal.KindGenesis:
		body, err := journal.DecodeBody[journal.Genesis](e)
		if err != nil {
			return err
		}
		if body.Currency != p.doc.Currency {
			return &OtherAccountError{"currency", p.doc.Currency, body.Currency}
		}
	case journal.KindLimits:
		body, err := journal.DecodeBody[journal.Limits](e)
		if err != nil {
			return err
		}
		p.report.era(&body, e.At.Time)
		return nil // the other history keeps its own
	}
	if p.o.From != 0 && date < p.o.From {
		return p.prices.learn(e)
	}
	p.report.date(date)
	if err := p.prices.learn(e); err != nil {
		return err
	}
	if p.other == nil && e.Kind == journal.KindDecision {
		if err := p.begin(e, before); err != nil {
			return err
		}
	}
	p.due, p.at = true, e.At.Time
	return p.follow(e, before, date)
}

// begin copies the account as it stands and puts the other limits in force.
func (p *play) begin(e *journal.Entry, before *account.State) error {
	b, err := before.Snapshot()
	if err != nil {
		return err
	}
	copied, err := account.Restore(b)
	if err != nil {
		return err
	}
	p.other = &other{state: copied, base: before.Seq, fates: map[uint64]fate{}, guesses: map[uint64]*guess{}}
	return p.other.put(e.At.Time, journal.KindLimits, journal.Limits{
		Fingerprint: p.doc.Fingerprint, Text: p.o.Text, Who: "replay",
	}, p.doc.Fingerprint)
}

// rejudged reports whether a decision was made by the rules and the calendar that are
// here to judge it again.
func (p *play) rejudged(body *journal.Decision) bool {
	return body.Engine == risk.Engine && body.Calendar == p.digest
}
