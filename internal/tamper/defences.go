package tamper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
	"github.com/broker-rails/broker-rails/internal/tree"
	"github.com/broker-rails/broker-rails/internal/witness"
	"github.com/broker-rails/broker-rails/verify"
)

// Defence is one way of finding out.
type Defence string

// Defences, in the order of the table.
const (
	Chain     Defence = "chain"     // hashes, links and heads of the file
	Replay    Defence = "replay"    // the fold, and every verdict again
	Signature Defence = "signature" // checkpoints beside the journal, by the log's public key
	Outside   Defence = "outside"   // a checkpoint that someone else keeps
	Witnessed Defence = "witness"   // what a witness has cosigned, and would
	Broker    Defence = "broker"    // the broker's own record
)

// Defences are all of them.
func Defences() []Defence { return []Defence{Chain, Replay, Signature, Outside, Witnessed, Broker} }

// Answer is what a defence says of a journal.
type Answer string

// Answers.
const (
	Passes   Answer = "passes"
	Caught   Answer = "caught"
	NotAsked Answer = "not asked" // the chain is broken, or there is nothing to ask
)

// Cell is one defence's answer about one forgery.
type Cell struct {
	Defence Defence `json:"defence"`
	Answer  Answer  `json:"answer"`
	Said    string  `json:"said"`
}

// auditor holds what an auditor has from elsewhere: nothing of it lies where the forger
// can write.
type auditor struct {
	calendar market.Calendar
	key      verify.Key
	outside  verify.Checkpoint
	witness  *witness.Witness
	record   func(ctx context.Context, account string) (*audit.BrokerRecord, error)
}

// ask runs every defence against the journal in a folder. The account is the one whose
// entries were forged: without its record at hand the broker's is no answer, and no pass.
func (a *auditor) ask(ctx context.Context, dir, account string) (cells []Cell, err error) {
	recorded, err := a.recorded(ctx, account)
	if err != nil {
		return nil, err
	}
	store, err := sqlite.OpenReadOnly(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	chain, err := a.verify(ctx, store, audit.Options{IntegrityOnly: true})
	if err != nil {
		return nil, err
	}
	replayed := chain
	if chain == nil {
		if replayed, err = a.verify(ctx, store, audit.Options{}); err != nil {
			return nil, err
		}
	}
	booked := replayed
	if replayed == nil && recorded {
		if booked, err = a.verify(ctx, store, audit.Options{Broker: a.record}); err != nil {
			return nil, err
		}
	}
	signature, err := a.signature(ctx, store, dir)
	if err != nil {
		return nil, err
	}
	outside, err := holds(ctx, store, a.outside)
	if err != nil {
		return nil, err
	}
	witnessed, err := a.witnessed(ctx, store, dir)
	if err != nil {
		return nil, err
	}
	return []Cell{
		cellOf(Chain, chain, "every entry is intact and follows the one before"),
		after(chain, "the chain is broken before that", cellOf(Replay, replayed, "the entries fold, and every verdict comes out again")),
		signature,
		cellOfText(Outside, outside, fmt.Sprintf("the journal extends the checkpoint of %d entries", a.outside.Size)),
		witnessed,
		bookCell(recorded, replayed, booked),
	}, nil
}

// verify runs the audit and returns its first failure. A check that could not be made is
// an error, and never a pass.
func (a *auditor) verify(ctx context.Context, store *sqlite.Store, o audit.Options) (*audit.Failure, error) {
	o.Calendar = a.calendar
	o.Ends = func(ctx context.Context) (heads []audit.Head, err error) {
		err = store.EachHead(ctx, func(name string, h gate.Head) {
			heads = append(heads, audit.Head{Account: name, Seq: h.Seq, Hash: h.Hash})
		})
		return heads, err
	}
	r, err := audit.Verify(ctx, func(ctx context.Context, each func(audit.Item) error) error {
		return store.All(ctx, 0, func(s gate.Stored) error {
			return each(audit.Item{Account: s.Account, Seq: s.Seq, Bytes: s.Bytes, Stored: s.Hash, Damage: s.Damage})
		})
	}, o)
	if err != nil {
		return nil, err
	}
	if failed := r.Failed(); len(failed) > 0 {
		return failed[0], nil
	}
	if r.Entries == 0 {
		return nil, errors.New("there is nothing to verify")
	}
	return nil, nil
}

func cellOf(d Defence, f *audit.Failure, passes string) Cell {
	if f == nil {
		return Cell{d, Passes, passes}
	}
	at := fmt.Sprintf("%s/%d", f.Account, f.Seq)
	if f.Question == audit.Integrity {
		// What is wrong, without the hashes that stand behind it.
		what, _, _ := strings.Cut(strings.TrimPrefix(f.Got, at+": "), ": want ")
		return Cell{d, Caught, "broken from " + at + " on: " + brief(what)}
	}
	return Cell{d, Caught, "first at " + at + ": wanted " + brief(f.Want) + ", found " + brief(f.Got)}
}

func cellOfText(d Defence, problem, passes string) Cell {
	if problem == "" {
		return Cell{d, Passes, passes}
	}
	return Cell{d, Caught, problem}
}

// after is a cell that was not asked for, since an earlier answer ended it.
func after(first *audit.Failure, why string, c Cell) Cell {
	if first != nil {
		return Cell{c.Defence, NotAsked, why}
	}
	return c
}

// recorded reports whether there is a broker's record of an account to ask.
func (a *auditor) recorded(ctx context.Context, account string) (bool, error) {
	if a.record == nil {
		return false, nil
	}
	r, err := a.record(ctx, account)
	return r != nil, err
}

func bookCell(recorded bool, replayed, booked *audit.Failure) Cell {
	if !recorded {
		return Cell{Broker, NotAsked, "there is no broker's record to ask"}
	}
	return after(replayed, "the entries are refused before that", cellOf(Broker, booked, "every order and execution is in the broker's record, and no other order"))
}

// briefMax is how much of a failure's text stands in a cell.
const briefMax = 160

func brief(text string) string {
	if len(text) <= briefMax {
		return text
	}
	return text[:briefMax] + "…"
}

// holds says what keeps a journal from extending checkpoints; empty if nothing does.
func holds(ctx context.Context, store *sqlite.Store, held ...verify.Checkpoint) (problem string, err error) {
	pass := tree.Against(held...)
	err = store.All(ctx, 0, func(s gate.Stored) error {
		pass.Take(s.Index, s.Bytes)
		return nil
	})
	if err != nil {
		return "", err
	}
	broken := pass.Failed()
	var at *tree.BrokenError
	switch {
	case broken == nil:
		return "", nil
	case !errors.As(broken, &at) || at.Checkpoint == 0:
		return broken.Error(), nil
	case pass.Size() < at.Checkpoint:
		return fmt.Sprintf("a checkpoint vouches for %d entries, and there are only %d", at.Checkpoint, pass.Size()), nil
	}
	return fmt.Sprintf("the first %d entries are not those that a checkpoint vouches for", at.Checkpoint), nil
}

// signature opens the checkpoints beside the journal with the public key that the auditor
// has from elsewhere. A journal without one is caught: there must be some.
func (a *auditor) signature(ctx context.Context, store *sqlite.Store, dir string) (Cell, error) {
	texts, err := checkpointsIn(dir)
	if err != nil {
		return Cell{}, err
	}
	if len(texts) == 0 {
		return Cell{Signature, Caught, "no checkpoint stands beside the journal"}, nil
	}
	held := make([]verify.Checkpoint, 0, len(texts))
	for _, text := range texts {
		c, err := verify.OpenCheckpoint(text, a.key)
		if err != nil {
			return Cell{Signature, Caught, err.Error()}, nil //nolint:nilerr // a checkpoint that does not open is the finding
		}
		held = append(held, c)
	}
	problem, err := holds(ctx, store, held...)
	return cellOfText(Signature, problem, fmt.Sprintf("%d checkpoints of the log's key hold, the newest for %d entries", len(held), held[len(held)-1].Size)), err
}

// checkpointsIn reads the files of checkpoints, by size.
func checkpointsIn(dir string) (texts [][]byte, err error) {
	paths, err := filepath.Glob(filepath.Join(tree.In(dir).Dir(), "*.checkpoint"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// witnessed asks two things: does the journal extend the newest head that the witness has
// cosigned, and does the newest checkpoint beside it carry the witness's cosignature.
func (a *auditor) witnessed(ctx context.Context, store *sqlite.Store, dir string) (Cell, error) {
	head, cosigned := a.witness.Head(a.key.Name())
	if !cosigned {
		return Cell{}, errors.New("the witness has cosigned nothing")
	}
	problem, err := holds(ctx, store, verify.Checkpoint{Origin: head.Origin, Size: head.Size, Root: head.Root})
	if err != nil {
		return Cell{}, err
	}
	texts, err := checkpointsIn(dir)
	if err != nil {
		return Cell{}, err
	}
	var said []string
	if problem != "" {
		said = append(said, "by what the witness cosigned: "+problem)
	}
	if len(texts) > 0 {
		if _, err := a.witness.Key().CosignedAt(texts[len(texts)-1]); err != nil {
			said = append(said, "the newest checkpoint beside the journal is not cosigned")
		}
	}
	if len(said) == 0 {
		return Cell{Witnessed, Passes, fmt.Sprintf("the journal extends the %d entries that the witness cosigned", head.Size)}, nil
	}
	return Cell{Witnessed, Caught, strings.Join(said, "; ")}, nil
}

// cosignedNote is a checkpoint with a witness's line behind the log's signature.
func cosignedNote(signed, line []byte) []byte {
	return append(append(bytes.Clone(signed), bytes.TrimSuffix(line, []byte("\n"))...), '\n')
}
