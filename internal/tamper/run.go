package tamper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
	"github.com/broker-rails/broker-rails/internal/tree"
	"github.com/broker-rails/broker-rails/internal/witness"
	"github.com/broker-rails/broker-rails/verify"
)

// Options of a run.
type Options struct {
	Data     string // folder of the journal; it is read and never changed
	Work     string // an empty folder for the copies
	Calendar market.Calendar
	// Record reads the broker's own record of an account, nil if it has none; nil where there is none of any.
	Record func(ctx context.Context, account string) (*audit.BrokerRecord, error)
	Now    func() time.Time // the wall clock, for cosignatures
}

// Link is one entry of the account whose verdict was flipped, from there on.
type Link struct {
	Seq    uint64       `json:"seq"`
	Kind   journal.Kind `json:"kind"`
	Stored journal.Hash `json:"stored"` // the hash beside the entry
	Follow journal.Hash `json:"follow"` // what it would have to be for the chain to hold
	Intact bool         `json:"intact"`
}

// Row is one forgery and what every defence said of it.
type Row struct {
	Attack   string   `json:"attack"` // a short name
	Does     string   `json:"does"`
	Cells    []Cell   `json:"cells"`
	Attempts []string `json:"attempts,omitzero"` // what the forger tried on the way, and was told
	Missed   []string `json:"missed,omitzero"`   // where an answer is not the design's
}

// Report is what a run found.
type Report struct {
	Entries    int    `json:"entries"`
	Flipped    string `json:"flipped"` // the entry whose verdict is flipped
	Links      []Link `json:"links"`
	Rows       []Row  `json:"rows"`
	AsDesigned bool   `json:"as_designed"` // every answer is the one that the design says
}

// Run forges copies of a journal and asks every defence about each.
func Run(ctx context.Context, o Options) (*Report, error) {
	store, err := sqlite.OpenReadOnly(ctx, o.Data)
	if err != nil {
		return nil, err
	}
	b, err := readBook(ctx, store)
	s := &stage{options: o, book: b, store: store}
	if err == nil {
		err = s.choose()
	}
	if err == nil {
		err = s.prepare(ctx)
	}
	var r *Report
	if err == nil {
		r, err = s.play(ctx)
	}
	return r, errors.Join(err, store.Close())
}

// stage is everything that stands before the first forgery.
type stage struct {
	options Options
	store   *sqlite.Store
	book    book
	victim  int // the denied decision, by its place in the book
	sent    int // an allowed decision whose order the broker took; -1 if there is none
	first   int // size of the earlier checkpoint, which is kept beside the journal only
	newest  int // size of the newest checkpoint, which others hold too

	auditor auditor
	signer  tree.Signer // of the log: who rewrites with the key has it
	forged  tree.Signer // of the same name, of someone without the key
	held    []verify.Checkpoint
	copies  int
}

// choose finds the denied decision to flip: the last one that leaves room behind it for
// two checkpoints and an entry that neither vouches for.
func (s *stage) choose() error {
	s.victim, s.sent = -1, -1
	accepted := map[string]bool{}
	for i := len(s.book) - 1; i >= 0; i-- {
		e, err := journal.Decode(s.book[i].Bytes)
		if err != nil {
			return fmt.Errorf("%w: entry %s/%d does not verify: %w", ErrUnfit, s.book[i].Account, s.book[i].Seq, err)
		}
		switch e.Kind {
		case journal.KindOutcome:
			body, err := journal.DecodeBody[journal.Outcome](&e)
			if err != nil {
				return err
			}
			accepted[fmt.Sprint(e.Account, "/", body.Decision)] = body.Result == journal.ResultAccepted
		case journal.KindDecision:
			body, err := journal.DecodeBody[journal.Decision](&e)
			if err != nil {
				return err
			}
			if body.Verdict == journal.VerdictDenied && s.victim < 0 && i+4 <= len(s.book) {
				s.victim = i
			}
			if body.Verdict == journal.VerdictAllowed && accepted[fmt.Sprint(e.Account, "/", e.Seq)] && i < s.victim {
				s.sent = i
			}
		}
	}
	if s.victim < 0 {
		return fmt.Errorf("%w: it holds no denied order with three entries behind it", ErrUnfit)
	}
	s.newest = len(s.book) - 1
	s.first = s.victim + 1 + (s.newest-s.victim-1)/2
	return nil
}

// prepare signs the checkpoints of the true journal, has them cosigned, and gives the
// auditor what an auditor has.
func (s *stage) prepare(ctx context.Context) (err error) {
	origin := tree.Origin(s.book[0].Bytes)
	if s.signer, err = tree.In(filepath.Join(s.options.Work, "log")).Signer(origin); err != nil {
		return err
	}
	if s.forged, err = tree.In(filepath.Join(s.options.Work, "forger")).Signer(origin); err != nil {
		return err
	}
	key, _, err := tree.In(filepath.Join(s.options.Work, "log")).Public()
	if err != nil {
		return err
	}
	signer, err := witness.NewSigner("")
	if err != nil {
		return err
	}
	w, err := witness.New(witness.Options{Signer: signer, Logs: []verify.Key{key}, Heads: &witness.Memory{}, Now: s.options.Now})
	if err != nil {
		return err
	}
	s.auditor = auditor{calendar: s.options.Calendar, key: key, witness: w, record: s.options.Record}
	for _, size := range []int{s.first, s.newest} {
		c, refusal, err := s.checkpoint(s.book, size, s.signer)
		if err != nil {
			return err
		}
		if refusal != "" {
			return fmt.Errorf("the witness refuses the true journal: %s", refusal)
		}
		s.held = append(s.held, c)
	}
	s.auditor.outside = s.held[1]
	return ctx.Err()
}

// checkpoint signs the first entries of a book and asks the witness to cosign them, with
// the proof that its newest head asks for. A refusal is what the witness said.
func (s *stage) checkpoint(b book, size int, signer tree.Signer) (c verify.Checkpoint, refusal string, err error) {
	head, known := s.auditor.witness.Head(signer.Origin())
	pass := tree.Against()
	if known && head.Size < int64(size) {
		if err := pass.WantTree(int64(size), head.Size); err != nil {
			return c, "", err
		}
	}
	for i := range size {
		pass.Take(b[i].Index, b[i].Bytes)
	}
	if err := pass.Failed(); err != nil {
		return c, "", err
	}
	if c, err = signer.Sign(pass.Size(), pass.Root()); err != nil {
		return c, "", err
	}
	e := &verify.Extension{Old: head.Size, Signed: c.Signed}
	if known && head.Size < c.Size {
		if e.Path, err = pass.ProveTree(c.Size, head.Size); err != nil {
			return c, "", err
		}
	}
	line, err := s.auditor.witness.Cosign(tree.FormatExtension(e))
	var refused *witness.Refusal
	if errors.As(err, &refused) {
		return c, refused.Error(), nil
	}
	if err != nil {
		return c, "", err
	}
	c.Signed = cosignedNote(c.Signed, line)
	return c, "", nil
}

// copyWith makes a copy of the journal's file with other rows and checkpoints.
func (s *stage) copyWith(ctx context.Context, b book, held []verify.Checkpoint) (dir string, err error) {
	s.copies++
	dir = filepath.Join(s.options.Work, fmt.Sprintf("copy-%d", s.copies))
	if err := s.store.Copy(ctx, dir); err != nil {
		return "", err
	}
	if err := b.write(ctx, dir); err != nil {
		return "", err
	}
	folder := tree.In(dir).Dir()
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", err
	}
	for _, c := range held {
		if err := os.WriteFile(filepath.Join(folder, tree.FileName(c.Size)), c.Signed, 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// links shows the victim's chain from the flipped verdict on.
func (s *stage) links() (out []Link, err error) {
	follow, err := s.book.flipped(s.victim).resealed()
	if err != nil {
		return nil, err
	}
	for i := s.victim; i < len(s.book); i++ {
		if s.book[i].Account != s.book[s.victim].Account {
			continue
		}
		e, err := journal.Envelope(s.book[i].Bytes)
		if err != nil {
			return nil, err
		}
		out = append(out, Link{Seq: e.Seq, Kind: e.Kind, Stored: s.book[i].Hash, Follow: follow[i].Hash, Intact: s.book[i].Hash == follow[i].Hash})
	}
	return out, nil
}

func (s *stage) name(at int) string { return fmt.Sprintf("%s/%d", s.book[at].Account, s.book[at].Seq) }

// play runs every attack.
func (s *stage) play(ctx context.Context) (*Report, error) {
	links, err := s.links()
	if err != nil {
		return nil, err
	}
	r := &Report{Entries: len(s.book), Flipped: s.name(s.victim), Links: links, AsDesigned: len(links) > 1}
	for _, l := range links {
		r.AsDesigned = r.AsDesigned && !l.Intact
	}
	for _, a := range attacks() {
		row, played, err := s.attack(ctx, &a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
		if !played {
			continue
		}
		r.AsDesigned = r.AsDesigned && len(row.Missed) == 0
		r.Rows = append(r.Rows, row)
	}
	return r, nil
}

func (s *stage) attack(ctx context.Context, a *attack) (row Row, played bool, err error) {
	f, err := a.forge(s)
	if err != nil || f == nil {
		return row, false, err
	}
	dir, err := s.copyWith(ctx, f.book, f.held)
	if err != nil {
		return row, false, err
	}
	asked := s.auditor
	if f.outside != nil {
		asked.outside = *f.outside
	}
	row = Row{Attack: a.name, Does: strings.ReplaceAll(a.does, "ENTRY", s.name(f.at)) + f.claim, Attempts: f.attempts}
	if row.Cells, err = asked.ask(ctx, dir, s.book[f.at].Account); err != nil {
		return row, false, err
	}
	row.Missed = a.missed(row.Cells)
	return row, true, os.RemoveAll(dir)
}
