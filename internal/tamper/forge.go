package tamper

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/record"
	"github.com/broker-rails/broker-rails/internal/risk"
)

const (
	deniedText  = `"verdict":"denied"`
	allowedText = `"verdict":"allowed"`
)

// flipped is the book with one row's verdict turned from denied to allowed, and nothing
// else: the hash beside it stays.
func (b book) flipped(at int) book {
	out := slices.Clone(b)
	end := bytes.LastIndex(b[at].Bytes, []byte(deniedText))
	out[at].Bytes = slices.Concat(b[at].Bytes[:end], []byte(allowedText), b[at].Bytes[end+len(deniedText):])
	return out
}

// lie changes what a decision's entry says before it is written anew. It returns what it
// now claims.
type lie func(f *forger, e *journal.Entry, body *journal.Decision) (claim string, err error)

// forger writes a history anew with all that follows from it: the states before each
// decision, the judgements, the chain. It is what someone can do who has the product.
type forger struct {
	calendar market.Calendar
	states   map[string]*account.State
	docs     map[string]*limits.Document
	control  *account.Control
}

// rewritten is the book with a lie at one row, and everything after it derived again, so
// that it folds and every verdict comes out.
func (b book) rewritten(calendar market.Calendar, at int, tell lie) (out book, claim string, err error) {
	f := &forger{calendar: calendar, states: map[string]*account.State{}, docs: map[string]*limits.Document{}, control: account.NewControl()}
	out = slices.Clone(b)
	for i := range out {
		row := &out[i]
		said := ""
		if row.Account == journal.ControlAccount {
			err = f.control.Apply(row.Bytes, row.Hash)
		} else {
			var now lie
			if i == at {
				now = tell
			}
			row.Bytes, row.Hash, said, err = f.entry(row.Account, row.Bytes, now)
		}
		if err != nil {
			return nil, "", fmt.Errorf("entry %s/%d: %w", row.Account, row.Seq, err)
		}
		if said != "" {
			claim = said
		}
	}
	return out, claim, nil
}

func (f *forger) entry(name string, text []byte, tell lie) (b []byte, h journal.Hash, claim string, err error) {
	s := f.states[name]
	if s == nil {
		s = account.New(name)
		f.states[name] = s
	}
	e, err := journal.Decode(text)
	if err != nil {
		return nil, h, "", err
	}
	e.Prev = s.Head
	if e.Kind == journal.KindDecision {
		body, err := journal.DecodeBody[journal.Decision](&e)
		if err != nil {
			return nil, h, "", err
		}
		if tell != nil {
			if claim, err = tell(f, &e, &body); err != nil {
				return nil, h, "", err
			}
		}
		before := s.Digest()
		body.StateDigest = hex.EncodeToString(before[:])
		if e.Body, err = journal.EncodeBody(body); err != nil {
			return nil, h, "", err
		}
	}
	if b, err = journal.Encode(&e); err != nil {
		return nil, h, "", err
	}
	h = journal.HashOf(b)
	if err := s.Apply(b, h); err != nil {
		return nil, h, "", err
	}
	if e.Kind == journal.KindLimits {
		f.docs[name], err = limits.Load("limits", []byte(s.LimitsText))
	}
	return b, h, claim, err
}

// otherAgent says that someone else asked for the order: no rail looks at who.
func otherAgent(_ *forger, _ *journal.Entry, body *journal.Decision) (string, error) {
	was := body.Agent
	body.Agent = "someone-else"
	return fmt.Sprintf("%s asked for the order, not %s", quoted(body.Agent), quoted(was)), nil
}

func quoted(text string) string {
	if text == "" {
		return "nobody"
	}
	return text
}

// smallerOrder says that a refused order asked for less, and judges it again as the gate
// would have. Where it would have passed, the entry names another agent instead.
func smallerOrder(f *forger, e *journal.Entry, body *journal.Decision) (string, error) {
	for _, units := range []int64{2, 5, 11, 20, 50, 101, 200, 500, 1000} {
		less := money.QuantityFromInt(units)
		if less.Cmp(body.Intent.Quantity) >= 0 {
			break
		}
		again := *body
		again.Intent.Quantity = less
		req, err := record.Request(e, &again)
		if err != nil {
			return "", err
		}
		d := risk.Decide(f.states[e.Account], f.docs[e.Account], &req, f.calendar)
		if d.Verdict != risk.Denied {
			continue
		}
		was := body.Intent.Quantity
		*body = judged(&req, &d, &again)
		return fmt.Sprintf("the order was for %s, not for %s", less, was), nil
	}
	return otherAgent(f, e, body)
}

// judged is a decision as the gate writes it, under the circumstances of another.
func judged(req *rail.Request, d *risk.Decision, as *journal.Decision) journal.Decision {
	return record.Decision(req, d, record.Origin{
		Door: as.Door, Agent: as.Agent, CallID: as.CallID, Note: as.Note, RawDigest: as.RawDigest,
		Clock: as.Clock, Calendar: as.Calendar, Control: as.Control,
	})
}
