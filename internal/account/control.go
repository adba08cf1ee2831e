package account

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
)

// Control is the fold of the control chain, which binds all accounts. NewControl is an
// empty chain and binds nothing; the zero Control is no chain at all: halted.
type Control struct {
	Seq    uint64
	Head   journal.Hash
	At     time.Time
	Mode   Mode
	By     string
	Reason string
	ModeAt time.Time
}

// NewControl returns the fold of an empty control chain.
func NewControl() *Control { return &Control{Mode: Active} }

// Apply reads one entry's stored bytes, whose hash is h, and folds it. A refused entry
// changes nothing. Errors are *ApplyError.
func (c *Control) Apply(b []byte, h journal.Hash) error {
	e, err := journal.Envelope(b)
	if err != nil {
		return c.refuse("", err)
	}
	return c.ApplyEntry(&e, h)
}

// ApplyEntry is Apply for an entry that was taken apart already.
func (c *Control) ApplyEntry(e *journal.Entry, h journal.Hash) error {
	switch {
	case e.Account != journal.ControlAccount:
		return c.refuse(e.Kind, broken("entry is not of the control chain"))
	case e.Seq != c.Seq+1:
		return c.refuse(e.Kind, broken("seq does not follow"))
	case e.Prev != c.Head:
		return c.refuse(e.Kind, broken("prev is not the chain's head"))
	case e.At.Before(c.At):
		return c.refuse(e.Kind, broken("time is before the newest entry's"))
	}
	next := *c
	switch e.Kind {
	case journal.KindMode:
		body, err := journal.DecodeBody[journal.Mode](e)
		if err != nil {
			return c.refuse(e.Kind, err)
		}
		m, err := checkMode(&body, c.Mode)
		if err != nil {
			return c.refuse(e.Kind, err)
		}
		next.Mode, next.By, next.Reason, next.ModeAt = m, body.By, body.Reason, e.At.Time
	case journal.KindRecovery:
		if _, err := journal.DecodeBody[journal.Recovery](e); err != nil {
			return c.refuse(e.Kind, err)
		}
	default:
		return c.refuse(e.Kind, broken("kind does not belong on the control chain"))
	}
	next.Seq, next.Head, next.At = e.Seq, h, e.At.Time
	*c = next
	return nil
}

func (c *Control) refuse(kind journal.Kind, cause error) error {
	return &ApplyError{Account: journal.ControlAccount, Seq: c.Seq + 1, Kind: kind, Cause: cause}
}
