package audit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/record"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// Item is one entry as a journal holds it. Seq and Stored are the place and the hash that
// the store keeps beside the bytes; both zero where it keeps none.
type Item struct {
	Account string
	Seq     uint64
	Bytes   []byte
	Stored  journal.Hash
	// Damage says why the store could not hand over the entry whole; Bytes is nil then.
	Damage string
}

// Source calls each with every entry of a journal in commit order.
type Source func(ctx context.Context, each func(Item) error) error

// Question is what a failure answers with no.
type Question string

// Questions.
const (
	Integrity Question = "integrity" // intact and in order
	Fold      Question = "fold"      // the entries fold
	Verdict   Question = "verdict"   // risk.Decide gives the recorded verdict again
)

// Failure is the first entry of an account that fails, and what was expected.
type Failure struct {
	Account  string
	Seq      uint64
	Question Question
	Want     string
	Got      string
}

func (f *Failure) Error() string {
	return fmt.Sprintf("%s: entry %s/%d: want %s, got %s", f.Question, f.Account, f.Seq, f.Want, f.Got)
}

// AccountReport is what was found about one chain.
type AccountReport struct {
	Account      string
	Entries      uint64
	Head         journal.Hash
	Decisions    int
	Allowed      int
	Denied       int
	Errors       int
	Rederived    int
	NotRederived int // judged by an older engine or another calendar
	Refusals     int
	Orders       int // new orders that a broker accepted
	Rejected     int
	Fills        int
	DeniedBy     map[string]int // by rail, findings of denied decisions
	Failure      *Failure
	State        *account.State // the fold; nil after an integrity failure
}

// Report is what was found about a journal.
type Report struct {
	Entries  uint64
	Accounts []*AccountReport // sorted by name, the control chain first
}

// Failed returns the first failure of each account that has one.
func (r *Report) Failed() []*Failure {
	var out []*Failure
	for _, a := range r.Accounts {
		if a.Failure != nil {
			out = append(out, a.Failure)
		}
	}
	return out
}

// Options of a verification.
type Options struct {
	Calendar market.Calendar
	// Progress is called now and then with the count of entries read; nil is fine.
	Progress func(entries uint64)
	// Heads are entries that someone else vouches for: a chain that ends before one of
	// them, or has another entry in its place, is not intact.
	Heads []Head
	// Ends tells the newest entry of each chain as the store keeps it; nil where it keeps
	// none. It is asked before and after the entries are read, since others may append.
	Ends func(ctx context.Context) ([]Head, error)
	// Snapshots are the folded states that a start would go on from.
	Snapshots []Snapshot
	// Follow, if it is not nil, is shown each entry of an account that was found intact and,
	// if it is a decision, derived again: with the state before it, which it may only read.
	// It ends the verification by an error. Nothing is shown behind an account's failure.
	Follow func(e *journal.Entry, before *account.State) error
	// Broker reads the broker's own record of an account; nil, also from the function, where
	// none can be had. It is asked when the account's first entry is read, and once more at
	// the end for what was not in it then. Its memory grows with the record.
	Broker func(ctx context.Context, account string) (*BrokerRecord, error)
	// IntegrityOnly asks the first question alone: nothing is folded, counted or judged,
	// no report has a State, and memory does not grow with the journal at all.
	IntegrityOnly bool
}

// Snapshot is the state that a store keeps of an account after Seq.
type Snapshot struct {
	Account string
	Seq     uint64
	State   []byte
}

// Head is an entry as it was known once, by a printed line or another's copy.
type Head struct {
	Account string
	Seq     uint64
	Hash    journal.Hash
}

// ChainsMax is how many accounts one journal may hold: each takes some memory.
const ChainsMax = 10_000

// ErrChains says that a journal has more than ChainsMax chains.
var ErrChains = fmt.Errorf("the journal has more than %d accounts", ChainsMax)

// ProgressEvery is how many entries pass between two calls of Progress.
const ProgressEvery = 5_000

// Verify reads a journal once and reports. The error tells that the source could not be
// read; what is wrong with the entries stands in the report.
func Verify(ctx context.Context, source Source, o Options) (*Report, error) {
	v := verifier{options: o, chains: map[string]*chain{}, control: account.NewControl()}
	before, err := v.ends(ctx)
	if err != nil {
		return &v.report, err
	}
	v.options.Heads = slices.Concat(o.Heads, before)
	for _, h := range v.options.Heads {
		v.chain(h.Account).known = append(v.chain(h.Account).known, h)
	}
	err = source(ctx, func(i Item) error {
		v.report.Entries++
		if o.Progress != nil && v.report.Entries%ProgressEvery == 0 {
			o.Progress(v.report.Entries)
		}
		c := v.last // most entries are of the account of the one before
		if c == nil || c.report.Account != i.Account {
			if v.chains[i.Account] == nil && len(v.chains) >= ChainsMax {
				return ErrChains
			}
			c = v.chain(i.Account)
			v.last = c
			if err := v.ask(ctx, c); err != nil {
				return err
			}
		}
		v.take(c, i)
		return cmp.Or(v.stopped, ctx.Err())
	})
	if err == nil {
		v.missed()
		err = v.unended(ctx)
	}
	if err == nil {
		err = v.settle(ctx)
	}
	for _, c := range v.chains {
		c.report.Head = c.head
		if !o.IntegrityOnly {
			c.report.State = c.state
		}
		v.report.Accounts = append(v.report.Accounts, c.report)
	}
	slices.SortFunc(v.report.Accounts, func(a, b *AccountReport) int { return compareNames(a.Account, b.Account) })
	return &v.report, err
}

func compareNames(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == journal.ControlAccount:
		return -1
	case b == journal.ControlAccount:
		return 1
	case a < b:
		return -1
	}
	return 1
}

type verifier struct {
	options Options
	report  Report
	chains  map[string]*chain
	last    *chain // the newest entry's
	control *account.Control
	links   journal.Chain
	stopped error // what Follow ended it by
}

// chain is one account's verification. After its first failure it only counts.
type chain struct {
	report *AccountReport
	state  *account.State
	doc    *limits.Document
	head   journal.Hash
	known  []Head // what someone else, or the store, vouches for
	broker *broker
	asked  bool // for the broker's record
}

func (v *verifier) chain(name string) *chain {
	c := v.chains[name]
	if c == nil {
		c = &chain{report: &AccountReport{Account: name, DeniedBy: map[string]int{}}}
		if name != journal.ControlAccount {
			c.state = account.New(name)
		}
		v.chains[name] = c
	}
	return c
}

// missed fails the chains that end before a head that is known of them.
func (v *verifier) missed() {
	for _, h := range v.options.Heads {
		c := v.chain(h.Account)
		if c.report.Failure == nil && c.report.Entries < h.Seq {
			c.state = nil
			c.report.Failure = &Failure{
				Account: h.Account, Seq: c.report.Entries + 1, Question: Integrity,
				Want: fmt.Sprintf("a chain to %d %s", h.Seq, h.Hash), Got: fmt.Sprintf("its end after %d", c.report.Entries),
			}
		}
	}
}

func (v *verifier) ends(ctx context.Context) ([]Head, error) {
	if v.options.Ends == nil {
		return nil, nil
	}
	return v.options.Ends(ctx)
}

// unended fails the chains that go on past the end that the store keeps of them: what a
// process appends next would stand on another entry.
func (v *verifier) unended(ctx context.Context) error {
	after, err := v.ends(ctx)
	if err != nil || v.options.Ends == nil {
		return err
	}
	kept := map[string]Head{}
	for _, h := range after {
		kept[h.Account] = h
	}
	for name, c := range v.chains {
		h := kept[name]
		if c.report.Failure != nil || h.Seq > c.report.Entries || h.Seq == c.report.Entries && h.Hash == c.head {
			continue
		}
		got := "none"
		if h.Seq > 0 {
			got = fmt.Sprintf("%d %s", h.Seq, h.Hash)
		}
		c.state = nil
		c.report.Failure = &Failure{
			Account: name, Seq: c.report.Entries, Question: Integrity,
			Want: fmt.Sprintf("the store's head at %d %s", c.report.Entries, c.head), Got: got,
		}
	}
	return nil
}

func (v *verifier) take(c *chain, i Item) {
	c.report.Entries++
	if c.report.Failure != nil {
		return
	}
	e, failure := v.link(c, i)
	if failure == nil && v.options.IntegrityOnly {
		return
	}
	if failure == nil {
		failure = v.fold(c, &e, i)
	}
	if failure == nil {
		failure = v.kept(c, &e)
	}
	if failure == nil {
		var err error
		if failure, err = c.broker.against(&e, c.head); err != nil {
			failure = foldFailure(&e, err)
		}
	}
	if failure != nil {
		c.report.Failure = failure
		if failure.Question != Verdict {
			c.state = nil
		}
	}
}

// link checks that the entry is intact and follows the one before.
func (v *verifier) link(c *chain, i Item) (journal.Entry, *Failure) {
	if i.Damage != "" {
		return journal.Entry{}, &Failure{
			Account: i.Account, Seq: c.report.Entries, Question: Integrity,
			Want: "an intact entry that follows the one before", Got: i.Damage,
		}
	}
	stored := i.Stored
	if i.Seq == 0 && stored.IsZero() {
		stored = journal.HashOf(i.Bytes)
	}
	e, err := v.links.NextStored(i.Account, i.Bytes, stored)
	if err != nil {
		return e, &Failure{
			Account: i.Account, Seq: c.report.Entries, Question: Integrity,
			Want: "an intact entry that follows the one before", Got: err.Error(),
		}
	}
	if i.Seq != 0 && i.Seq != e.Seq {
		return e, &Failure{
			Account: i.Account, Seq: e.Seq, Question: Integrity,
			Want: "an entry at its own place", Got: fmt.Sprintf("it stands at %d", i.Seq),
		}
	}
	c.head = stored // as the chain has found
	for _, h := range c.known {
		if h.Seq == e.Seq && h.Hash != c.head {
			return e, &Failure{
				Account: e.Account, Seq: e.Seq, Question: Integrity, Want: h.Hash.String(), Got: c.head.String(),
			}
		}
	}
	return e, nil
}

// fold re-derives a decision, then applies the entry.
func (v *verifier) fold(c *chain, e *journal.Entry, i Item) *Failure {
	if i.Account == journal.ControlAccount {
		if err := v.control.Apply(i.Bytes, c.head); err != nil {
			return foldFailure(e, err)
		}
		return nil
	}
	var failure *Failure
	if e.Kind == journal.KindDecision {
		failure = v.rederive(c, e)
	}
	if err := c.count(e); err != nil {
		return foldFailure(e, err)
	}
	if failure == nil && v.options.Follow != nil {
		v.stopped = v.options.Follow(e, c.state)
	}
	if err := c.state.ApplyEntry(e, c.head); err != nil {
		if failure == nil || failure.Question == Fold {
			failure = foldFailure(e, err)
		}
		return failure // a verdict that is not ours is the first fault, whatever it does to the fold
	}
	if e.Kind == journal.KindLimits {
		if err := c.loadLimits(); err != nil {
			return foldFailure(e, err)
		}
	}
	return failure
}

// kept holds the snapshot at an entry, if there is one, against the fold. One that cannot
// be restored is no failure: no start uses it.
func (v *verifier) kept(c *chain, e *journal.Entry) *Failure {
	for _, s := range v.options.Snapshots {
		if s.Account != e.Account || s.Seq != e.Seq || c.state == nil {
			continue
		}
		if _, err := account.Restore(s.State); err != nil {
			continue
		}
		if want, err := c.state.Snapshot(); err != nil || !bytes.Equal(want, s.State) {
			return &Failure{
				Account: e.Account, Seq: e.Seq, Question: Fold, Want: "the snapshot that the entries fold to",
				Got: "another, which the next start would go on from; without one it folds the entries: DELETE FROM snapshot",
			}
		}
	}
	return nil
}

func foldFailure(e *journal.Entry, err error) *Failure {
	return &Failure{Account: e.Account, Seq: e.Seq, Question: Fold, Want: "an entry that folds", Got: err.Error()}
}

func (c *chain) loadLimits() error {
	doc, err := limits.Load("limits", []byte(c.state.LimitsText))
	if err != nil {
		return err
	}
	if doc.Fingerprint != c.state.Fingerprint {
		return fmt.Errorf("the limits' fingerprint is %s, the entry says %s", doc.Fingerprint, c.state.Fingerprint)
	}
	c.doc = doc
	return nil
}

// rederive judges a recorded decision again on the state before it.
func (v *verifier) rederive(c *chain, e *journal.Entry) *Failure {
	body, err := journal.DecodeBody[journal.Decision](e)
	if err != nil {
		return foldFailure(e, err)
	}
	if body.Engine != risk.Engine || body.Calendar != v.options.Calendar.Digest() {
		c.report.NotRederived++
		return v.elsewhere(c, e, &body)
	}
	fail := func(want, got string) *Failure {
		return &Failure{Account: e.Account, Seq: e.Seq, Question: Verdict, Want: want, Got: got}
	}
	before := c.state.Digest()
	if got := hex.EncodeToString(before[:]); got != body.StateDigest {
		return fail("state digest "+got, body.StateDigest)
	}
	req, err := record.Request(e, &body)
	if err != nil {
		return foldFailure(e, err)
	}
	if req.ControlMode != v.control.Mode || body.Control != v.control.Seq {
		return fail(fmt.Sprintf("control chain at %d, mode %v", v.control.Seq, v.control.Mode),
			fmt.Sprintf("%d, mode %v", body.Control, req.ControlMode))
	}
	d := risk.Decide(c.state, c.doc, &req, v.options.Calendar)
	again := record.Decision(&req, &d, record.Origin{
		Door: body.Door, Agent: body.Agent, CallID: body.CallID, Note: body.Note, RawDigest: body.RawDigest,
		Clock: body.Clock, Calendar: body.Calendar, Control: body.Control, State: body.StateDigest,
	})
	again.ReplyBy = body.ReplyBy
	if again.Verdict != body.Verdict {
		return fail("verdict "+again.Verdict, body.Verdict)
	}
	want, err := journal.EncodeBody(again)
	if err != nil {
		return fail("a decision that can be written", err.Error())
	}
	if string(want) != string(e.Body) {
		return fail(firstDifference(want, e.Body))
	}
	c.report.Rederived++
	return nil
}

// firstDifference shows two bodies from where they part.
func firstDifference(want, got []byte) (string, string) {
	at := 0
	for at < len(want) && at < len(got) && want[at] == got[at] {
		at++
	}
	from := max(0, at-24)
	cut := func(b []byte) string { return fmt.Sprintf("…%s…", b[from:min(len(b), at+60)]) }
	return cut(want), cut(got)
}
