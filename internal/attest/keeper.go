package attest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/tree"
	"github.com/broker-rails/broker-rails/verify"
)

// How often checkpoints are signed, unless the operator says otherwise.
const (
	EntriesEvery = 1000
	SignEvery    = 300 * time.Second

	tickEvery  = time.Second     // how often new entries are looked for
	retryEvery = time.Minute     // how long until a witness that failed is asked again
	lastWithin = 3 * time.Second // for witnesses, at a clean end
	signWithin = 2 * time.Second // for the last checkpoint, at a clean end
)

// Options are what a keeper is made of.
type Options struct {
	Folder       tree.Folder
	Journal      Journal
	Witnesses    []verify.Witness
	EntriesEvery int64         // 0: EntriesEvery
	SignEvery    time.Duration // 0: SignEvery
	// Session names the exchange's session of now; a checkpoint is due when the name
	// changes. Nil: none is due for that.
	Session func() string
	Wall    func() time.Time
	Log     *slog.Logger
}

// Keeper signs checkpoints when they are due. Its methods are for one goroutine.
type Keeper struct {
	o        Options
	pass     *tree.Pass // nil: the journal is to be read from its first entry
	signer   tree.Signer
	newest   verify.Checkpoint // held, and extended by pass; of size 0 if none is
	signedAt time.Time
	session  string
	changed  bool      // the session has, and what came before is not signed yet
	restsTo  time.Time // after a failure nothing is tried before
	health   Health
	told     string // failure that was logged last
	asking   chan question
	answered chan []Answer
}

// question is a checkpoint to have cosigned, with the request from the one before it.
type question struct {
	c     verify.Checkpoint
	ready map[int64][]byte
}

// New makes a keeper. Run does the work.
func New(o Options) *Keeper {
	if o.EntriesEvery <= 0 {
		o.EntriesEvery = EntriesEvery
	}
	if o.SignEvery <= 0 {
		o.SignEvery = SignEvery
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Keeper{o: o, asking: make(chan question, 1), answered: make(chan []Answer, 1)}
}

// Run signs what is due until ctx ends, and then a last time.
func (k *Keeper) Run(ctx context.Context) {
	asked, done := k.startAsking(ctx)
	k.signedAt = k.o.Wall()
	k.session = k.sessionNow()
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		k.step(ctx)
		select {
		case <-ctx.Done():
		case <-tick.C:
		case answers := <-asked:
			k.answersCame(answers)
		}
	}
	<-done // the one asking ends with ctx
	k.last(context.WithoutCancel(ctx))
}

// step takes the new entries, and signs if it is time to.
func (k *Keeper) step(ctx context.Context) {
	now := k.o.Wall()
	if now.Before(k.restsTo) && k.restsTo.Sub(now) <= retryEvery {
		return
	}
	err := k.catchUp(ctx)
	if err == nil && k.due(now) {
		err = k.sign()
	}
	switch {
	case ctx.Err() != nil:
		return // the last one is still to come
	case errors.Is(err, errMoved):
		return
	case err != nil:
		k.restsTo = now.Add(retryEvery)
	}
	k.failed(err)
}

// errMoved says that another process signed more than was taken here.
var errMoved = errors.New("another process signed meanwhile")

// due reports whether there is something to sign and it is time to.
func (k *Keeper) due(now time.Time) bool {
	session := k.sessionNow()
	k.changed = k.changed || session != k.session
	k.session = session
	if k.pass.Size() <= k.newest.Size {
		k.changed = false
		return false
	}
	if now.Before(k.signedAt) {
		k.signedAt = now // the clock was set back
	}
	return k.changed || k.pass.Size()-k.newest.Size >= k.o.EntriesEvery || now.Sub(k.signedAt) >= k.o.SignEvery
}

func (k *Keeper) sessionNow() string {
	if k.o.Session == nil {
		return ""
	}
	return k.o.Session()
}

// catchUp takes the entries that came since, and holds the journal against what another
// process may have signed meanwhile.
func (k *Keeper) catchUp(ctx context.Context) error {
	if k.pass == nil {
		if err := k.begin(ctx); err != nil {
			k.pass = nil
			return err
		}
	}
	if err := k.take(ctx); err != nil {
		k.pass = nil // it may have stopped anywhere
		return err
	}
	return k.pass.Failed()
}

// begin reads the journal up to the newest checkpoint held, against all of them.
func (k *Keeper) begin(ctx context.Context) error {
	held, err := k.o.Folder.Everything()
	if err != nil {
		return err
	}
	k.pass, k.newest = tree.Against(held...), verify.Checkpoint{}
	if len(held) == 0 {
		return nil
	}
	newest := held[len(held)-1]
	err = k.o.Journal.All(ctx, 0, func(s gate.Stored) error {
		if k.pass.Size() >= newest.Size {
			return errEnough
		}
		return take(ctx, k.pass, s)
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	if err := k.pass.Failed(); err != nil {
		return err
	}
	k.newest = newest
	k.pass.Mark()
	return nil
}

func (k *Keeper) take(ctx context.Context) error {
	return k.o.Journal.All(ctx, uint64(k.pass.Size()), func(s gate.Stored) error { return take(ctx, k.pass, s) })
}

// take gives a pass one entry. What cannot be read whole is never signed.
func take(ctx context.Context, p *tree.Pass, s gate.Stored) error {
	if s.Damage != "" {
		return fmt.Errorf("entry %d of the journal: %s", s.Index, s.Damage)
	}
	p.Take(s.Index, s.Bytes)
	return ctx.Err()
}

// sign signs the journal as far as it was taken, and has it cosigned. The pass holds.
func (k *Keeper) sign() error {
	if err := k.agree(); err != nil {
		return err
	}
	if k.pass.Size() <= k.newest.Size {
		return nil
	}
	signer, err := k.key()
	if err != nil {
		return err
	}
	c, err := signer.Sign(k.pass.Size(), k.pass.Root())
	if err != nil {
		return err
	}
	if _, err := k.o.Folder.Keep(c); err != nil {
		return err
	}
	ready := map[int64][]byte{}
	if old := k.newest.Size; old > 0 {
		// Without it the journal is read once more, by the one who asks.
		if path, err := k.pass.ProveTree(c.Size, old); err == nil {
			ready[old] = tree.FormatExtension(&verify.Extension{Old: old, Path: path, Signed: c.Signed})
		}
	}
	k.newest, k.signedAt, k.changed = c, k.o.Wall(), false
	k.pass.Mark()
	k.ask(question{c, ready})
	return nil
}

// agree holds the pass against a checkpoint that another process kept since.
func (k *Keeper) agree() error {
	newest, held, err := k.o.Folder.Newest()
	if err != nil || !held || newest.Size == k.newest.Size {
		return err
	}
	root, err := k.pass.RootAt(newest.Size)
	if err != nil {
		k.pass = nil // it is all read again, against what is held now
		return errMoved
	}
	if root != newest.Root {
		return &tree.BrokenError{Checkpoint: newest.Size, Want: "root " + newest.Root.String(), Got: root.String()}
	}
	k.newest = newest
	return nil
}

// key is the journal's key, made with the first checkpoint.
func (k *Keeper) key() (tree.Signer, error) {
	if k.signer.Origin() != "" {
		return k.signer, nil
	}
	var first []byte
	err := k.o.Journal.All(context.Background(), 0, func(s gate.Stored) error {
		first = s.Bytes
		return errEnough
	})
	if err != nil && !errors.Is(err, errEnough) {
		return tree.Signer{}, err
	}
	k.signer, err = k.o.Folder.Signer(tree.Origin(first))
	return k.signer, err
}

// last signs what came since, and gives witnesses a moment.
func (k *Keeper) last(ctx context.Context) {
	signing, stop := context.WithTimeout(ctx, signWithin)
	defer stop()
	err := k.catchUp(signing)
	if err == nil {
		err = k.sign()
	}
	k.failed(err)
	q := question{c: k.newest}
	select {
	case q = <-k.asking:
	default:
	}
	if q.c.Size == 0 || k.allCosigned(q.c.Size) {
		return
	}
	ctx, end := context.WithTimeout(ctx, lastWithin)
	defer end()
	if answers, err := Ask(ctx, k.o.Folder, k.o.Journal, q.c, k.o.Witnesses, k.o.Wall, q.ready); err == nil {
		k.answersCame(answers)
	}
}

// allCosigned reports whether every witness has answered for this size.
func (k *Keeper) allCosigned(size int64) bool {
	select {
	case answers := <-k.answered:
		k.answersCame(answers)
	default:
	}
	done := 0
	for _, h := range k.health.Witnesses {
		if h.Size == size && h.Failure == "" {
			done++
		}
	}
	return done == len(k.o.Witnesses)
}
