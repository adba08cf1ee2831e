package attest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/tree"
	"github.com/broker-rails/broker-rails/internal/witness"
	"github.com/broker-rails/broker-rails/verify"
)

// lookedAtMax bounds how many cosigned checkpoints are looked at for what a witness has
// cosigned last. Past it the witness is asked as if for the first time, and tells.
const lookedAtMax = 256

// Journal is what checkpoints are made of.
type Journal interface {
	// All calls each with every entry behind the place after, in commit order.
	All(ctx context.Context, after uint64, each func(gate.Stored) error) error
}

// Answer is what came of asking one witness.
type Answer struct {
	Witness  string
	Size     int64     // of the checkpoint that it was asked for
	AskedAt  time.Time // by the wall
	Cosigned time.Time // zero: it has not cosigned
	Err      error     // why not
}

// errEnough ends a reading that has what it wants.
var errEnough = errors.New("enough")

// Ask asks every witness at once to cosign a checkpoint that is held, and keeps what
// they answer. Answers come in the order of the witnesses. The proof is a request body
// for the sizes that it was made ready for; for any other the journal is read again.
func Ask(ctx context.Context, folder tree.Folder, j Journal, c verify.Checkpoint, witnesses []verify.Witness, now func() time.Time, ready map[int64][]byte) ([]Answer, error) {
	last, err := lastCosigned(folder, c.Size, witnesses)
	if err != nil {
		return nil, err
	}
	answers := make([]Answer, len(witnesses))
	var all sync.WaitGroup
	var keeping sync.Mutex // one file holds the cosignatures of all
	for i, w := range witnesses {
		all.Go(func() {
			answers[i] = Answer{Witness: w.Name, Size: c.Size, AskedAt: now()}
			line, at, err := witness.Ask(ctx, w, witness.Question{
				Checkpoint: c, Cosigned: last[w.Name],
				Request: func(ctx context.Context, old int64) ([]byte, error) {
					if body := ready[old]; body != nil {
						return body, nil
					}
					return Request(ctx, j, c, old)
				},
			})
			if err == nil {
				keeping.Lock()
				_, err = folder.KeepCosigned(c, line)
				keeping.Unlock()
			}
			if answers[i].Err = err; err == nil {
				answers[i].Cosigned = at
			}
		})
	}
	all.Wait()
	return answers, nil
}

// lastCosigned is the largest size up to most that each witness has cosigned.
func lastCosigned(folder tree.Folder, most int64, witnesses []verify.Witness) (map[string]int64, error) {
	last, looked := map[string]int64{}, 0
	err := folder.EachCosigned(func(c verify.Checkpoint) bool {
		looked++
		for _, w := range witnesses {
			if last[w.Name] > 0 || c.Size > most {
				continue
			}
			if _, err := w.Key.CosignedAt(c.Signed); err == nil {
				last[w.Name] = c.Size
			}
		}
		return len(last) < len(witnesses) && looked < lookedAtMax
	})
	return last, err
}

// Request writes the request for a checkpoint to a witness whose newest head is of size
// old. It reads the journal from its first entry, and sees that it extends the checkpoint.
func Request(ctx context.Context, j Journal, c verify.Checkpoint, old int64) ([]byte, error) {
	e := &verify.Extension{Old: old, Signed: c.Signed}
	if old == 0 || old == c.Size {
		return tree.FormatExtension(e), nil
	}
	pass := tree.Against(c)
	if err := pass.WantTree(c.Size, old); err != nil {
		return nil, err
	}
	err := j.All(ctx, 0, func(s gate.Stored) error {
		if pass.Size() >= c.Size {
			return errEnough
		}
		return take(ctx, pass, s)
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	if err := pass.Failed(); err != nil {
		return nil, err
	}
	if e.Path, err = pass.ProveTree(c.Size, old); err != nil {
		return nil, err
	}
	return tree.FormatExtension(e), nil
}

// Broken returns the first answer that shows that a promise was broken: a fork, a journal
// that lost its end, or a witness that forgot. What can be tried again is none.
func Broken(answers []Answer) error {
	i := slices.IndexFunc(answers, func(a Answer) bool {
		return errors.Is(a.Err, witness.ErrFork) || errors.Is(a.Err, witness.ErrAhead) || errors.Is(a.Err, witness.ErrWentBack)
	})
	if i < 0 {
		return nil
	}
	return answers[i].Err
}
