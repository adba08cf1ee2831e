package journal

import (
	"fmt"
	"strconv"
)

// Problems that a chain's check names.
const (
	ProblemEntry   = "entry cannot be read"
	ProblemAccount = "entry is of another account"
	ProblemSeq     = "seq does not follow"
	ProblemPrev    = "prev is not the hash of the entry before"
	ProblemTime    = "time is before the entry before"
	ProblemHash    = "stored hash is not the hash of the bytes"
)

// ChainError names the first entry of an account that fails.
type ChainError struct {
	Account string
	Seq     uint64 // the place in the chain, from 1
	Want    string // what a chain without the fault has there
	Got     string
	Problem string // one of the constants above
	Cause   error  // of ProblemEntry
}

func (e *ChainError) Error() string {
	text := fmt.Sprintf("%s/%d: %s", e.Account, e.Seq, e.Problem)
	if e.Want != "" {
		text += ": want " + e.Want + ", got " + e.Got
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

func (e *ChainError) Unwrap() error { return e.Cause }

// Chain checks the entries of any number of accounts as they are read, each account's
// from its first entry on. Its memory grows with accounts, not with entries. The zero
// value is ready.
type Chain struct {
	heads map[string]*link
}

type link struct {
	seq    uint64
	hash   Hash
	at     Time
	limits string // as the newest entry says
	fault  *ChainError
}

// Next checks the account's next entry wholly: its form, and that it follows. It
// returns a *ChainError for the first entry that fails and the same one ever after,
// since nothing behind a broken link is proved.
func (c *Chain) Next(account string, b []byte) error {
	_, err := c.next(account, b, nil)
	return err
}

// NextStored is Next for bytes that a store keeps with their hash. It also returns the
// entry, as Inspect reads it; its Body shares memory with b.
func (c *Chain) NextStored(account string, b []byte, stored Hash) (Entry, error) {
	return c.next(account, b, &stored)
}

func (c *Chain) next(account string, b []byte, stored *Hash) (Entry, error) {
	if c.heads == nil {
		c.heads = make(map[string]*link)
	}
	at := c.heads[account]
	if at == nil {
		at = new(link)
		c.heads[account] = at
	}
	if at.fault != nil {
		return Entry{}, at.fault
	}
	h := HashOf(b)
	e, err := inspect(b, account, at.limits)
	if fault := at.check(account, &e, err, h, stored); fault != nil {
		at.fault = fault
		return Entry{}, fault
	}
	at.seq, at.hash, at.at, at.limits = e.Seq, h, e.At, e.Limits
	return e, nil
}

func (l *link) check(account string, e *Entry, err error, h Hash, stored *Hash) *ChainError {
	fail := func(problem, want, got string) *ChainError {
		return &ChainError{Account: account, Seq: l.seq + 1, Problem: problem, Want: want, Got: got}
	}
	switch {
	case stored != nil && *stored != h:
		return fail(ProblemHash, stored.String(), h.String())
	case err != nil:
		fault := fail(ProblemEntry, "", "")
		fault.Cause = err
		return fault
	case e.Account != account:
		return fail(ProblemAccount, account, e.Account)
	case e.Seq != l.seq+1:
		return fail(ProblemSeq, strconv.FormatUint(l.seq+1, 10), strconv.FormatUint(e.Seq, 10))
	case e.Prev != l.hash:
		return fail(ProblemPrev, l.hash.String(), e.Prev.String())
	case l.seq > 0 && e.At.Before(l.at.Time):
		return fail(ProblemTime, "not before "+l.at.String(), e.At.String())
	}
	return nil
}

// Head returns the newest entry of an account that passed; seq 0 before the first.
func (c *Chain) Head(account string) (seq uint64, h Hash) {
	if l := c.heads[account]; l != nil {
		return l.seq, l.hash
	}
	return 0, Hash{}
}
