package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/tree"
	"github.com/broker-rails/broker-rails/verify"
)

// hintBehind is the way on from a journal that is not the one that was signed.
const hintBehind = "keep all files; see which with: rails audit-verify. A journal that lost its end cannot be mended; " +
	"begin anew from what the broker shows with: rails init --adopt --reason R"

// refuseBehind ends a start on a journal that is shorter than the newest checkpoint held
// beside it, or does not extend it: it has forgotten orders, and with them every limit.
func (d *deck) refuseBehind(ctx context.Context) error {
	refused := func(err error) error {
		return &failure{code: exitAudit, what: "will not serve", err: err, hint: hintBehind}
	}
	folder := tree.In(d.dir)
	newest, held, err := folder.Newest()
	cosigned, some, errCosigned := folder.NewestCosigned()
	if err = errors.Join(err, errCosigned); err != nil {
		return refused(err)
	}
	var both []verify.Checkpoint
	if held {
		both = append(both, newest)
	}
	if some {
		both = append(both, cosigned)
	}
	if len(both) == 0 {
		return nil
	}
	pass := tree.Against(both...)
	if err := d.pass(ctx, pass, max(newest.Size, cosigned.Size)); err != nil {
		return err
	}
	if err := pass.Failed(); err != nil {
		return refused(err)
	}
	return nil
}

// pass gives a pass the first entries of the journal.
func (d *deck) pass(ctx context.Context, p *tree.Pass, entries int64) error {
	err := d.store.All(ctx, 0, func(s gate.Stored) error {
		if p.Size() >= entries {
			return errEnough
		}
		p.Take(s.Index, s.Bytes)
		return ctx.Err()
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// first returns the journal's first entry.
func (d *deck) first(ctx context.Context) (entry []byte, err error) {
	err = d.store.All(ctx, 0, func(s gate.Stored) error {
		entry = s.Bytes
		return errEnough
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	if len(entry) == 0 {
		return nil, failed("make an account with: rails init", "the journal in %s holds no entry", d.dir)
	}
	return entry, nil
}

// heldAnd returns the checkpoints that the journal must extend: those beside it, and
// those handed in. One of those beside it that does not verify is a failure of the
// audit, and not an error: the rest is still worth an answer.
func (d *deck) heldAnd(known *knownHeads) (held []verify.Checkpoint, failure string, err error) {
	folder := tree.In(d.dir)
	if held, err = folder.Held(); err != nil {
		held, failure = nil, err.Error()
	}
	if len(known.checkpoints) == 0 {
		if known.key != "" && known.policy == "" {
			return nil, "", usage("name one with --checkpoint", "--key is for checkpoints that were kept elsewhere, and none is named")
		}
		return held, failure, nil
	}
	var key verify.Key
	if known.key != "" {
		key, err = readKey(known.key)
	} else if key, _, err = folder.Public(); err != nil {
		err = usage("name it with --key", "no public key for --checkpoint: %v", err)
	}
	if err != nil {
		return nil, "", err
	}
	for _, path := range known.checkpoints {
		c, err := readCheckpoint(path, key)
		if err != nil {
			return nil, "", err
		}
		held = append(held, c)
	}
	return held, failure, nil
}

func viewTree(pass *tree.Pass, held []verify.Checkpoint, failure string) auditTree {
	v := auditTree{Checkpoints: len(held), Root: pass.Root().String(), Failure: failure}
	for _, c := range held {
		v.Newest = max(v.Newest, c.Size)
	}
	if err := pass.Failed(); err != nil {
		v.Failure = err.Error()
	}
	return v
}

func (a *app) printTree(v *auditTree) {
	answer := "none held; sign one with: rails audit checkpoint"
	switch {
	case v.Failure != "":
		answer = a.out.bad("NO") + "  " + v.Failure
	case v.Checkpoints > 0:
		answer = a.out.good("yes") + "  " + plural(v.Checkpoints, "checkpoint holds", "checkpoints hold") +
			", the newest for " + plural(int(v.Newest), "entry", "entries")
	}
	a.out.field("checkpoints", answer)
}

// readFile reads a file that someone handed in, and one byte more than it may have, so
// that who parses it refuses a longer one.
func readFile(path string, most int64) ([]byte, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(io.LimitReader(in, most+1))
}

// readKey reads a public key. A wrong one is a wrong flag: it says nothing of a journal.
func readKey(path string) (verify.Key, error) {
	text, err := readFile(path, verify.KeyBytesMax)
	if err != nil {
		return verify.Key{}, err
	}
	key, err := verify.ParseKey(text)
	if err != nil {
		return key, usage("rails audit checkpoint writes one to "+tree.FolderName+"/"+tree.PublicName+" in the data folder", "%s: %v", path, err)
	}
	return key, nil
}

func readCheckpoint(path string, key verify.Key) (c verify.Checkpoint, err error) {
	text, err := readFile(path, verify.FileBytesMax)
	if err == nil {
		text, err = verify.Signed(text)
	}
	if err == nil {
		c, err = verify.OpenCheckpoint(text, key)
	}
	if err != nil {
		err = &failure{code: codeOf(err), what: path, err: err}
	}
	return c, err
}

// codeOf is the exit code of an error that is given another text.
func codeOf(err error) int {
	code, _ := explained(err)
	return code
}

func countText(n int64) string { return strconv.FormatInt(n, 10) }
