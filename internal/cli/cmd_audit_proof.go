package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/tree"
	"github.com/broker-rails/broker-rails/verify"
)

type proveFlags struct {
	from, to     int64
	out          string
	withoutEntry bool
}

type proofView struct {
	Schema string `json:"schema"`
	Entry  string `json:"entry,omitzero"` // account/seq
	Index  int64  `json:"index"`          // from 0, in commit order
	Old    int64  `json:"old,omitzero"`   // size of the older checkpoint
	Size   int64  `json:"size"`           // of the checkpoint
	File   string `json:"file,omitzero"`
	Proof  string `json:"proof"`
}

func (a *app) auditProveCommand() *cobra.Command {
	var f proveFlags
	c := &cobra.Command{
		Use: "prove [ID]", Short: "Prove to an auditor that an entry is in the journal",
		Long: "Writes a c2sp.org/tlog-proof@v1 of one entry, such as paper/12, against the newest\n" +
			"checkpoint held. It shows that entry and hashes of the others. With --from it proves\n" +
			"instead that the newest checkpoint, or the one of --to, extends the one of that size.\n" +
			"Cosignatures of the checkpoint go with the proof.",
		Args: atMost(1, "at most one entry"),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("from") == (len(args) == 1) || c.Flags().Changed("to") && len(args) == 1 {
				return usage("see "+c.CommandPath()+" --help", "name an entry, or --from and the size of a checkpoint")
			}
			return a.withJournal(c.Context(), func(d *deck) error {
				if len(args) == 1 {
					return a.proveEntry(c.Context(), d, &f, args[0])
				}
				return a.proveExtension(c.Context(), d, &f)
			})
		},
	}
	c.Flags().Int64Var(&f.from, "from", 0, "size of a checkpoint that is held: prove that the newest one extends it")
	c.Flags().Int64Var(&f.to, "to", 0, "with --from: size of the later checkpoint (default: the newest that is held)")
	c.Flags().StringVarP(&f.out, "output", "o", "", "write the proof to this file, which must not be there")
	c.Flags().BoolVar(&f.withoutEntry, "without-entry", false, "leave the entry's text out: hand it over by another way")
	return c
}

// entryID reads account/seq, or a seq of the account that the flags name.
func (d *deck) entryID(ctx context.Context, asked, id string) (name string, seq uint64, err error) {
	number := id
	if at := strings.LastIndexByte(id, '/'); at >= 0 {
		name, number = id[:at], id[at+1:]
	} else {
		if err := d.name(ctx, asked); err != nil {
			return "", 0, err
		}
		name = d.account
	}
	seq, err = strconv.ParseUint(number, 10, 63)
	if err != nil || seq == 0 || !journal.ValidAccount(name) {
		return "", 0, usage("write it as paper/12", "%q is not the id of an entry", id)
	}
	return name, seq, nil
}

// stored returns one entry with its place in the commit order.
func (d *deck) stored(ctx context.Context, name string, seq uint64) (found gate.Stored, err error) {
	err = d.store.Read(ctx, name, seq-1, func(s gate.Stored) error {
		found = s
		return errEnough
	})
	if err != nil && !errors.Is(err, errEnough) {
		return found, err
	}
	if found.Seq != seq {
		return found, usage("ids of decisions are listed by: rails decisions", "account %s has no entry %d", name, seq)
	}
	return found, nil
}

// newest is the checkpoint that proofs are made against.
func (d *deck) newest() (verify.Checkpoint, error) {
	folder := tree.In(d.dir)
	c, held, err := folder.Newest()
	if err == nil && !held {
		err = failed("sign one with: rails audit checkpoint", "there is no checkpoint to prove anything against")
	}
	if err != nil {
		return c, err
	}
	return folder.WithCosignatures(c)
}

func (a *app) proveEntry(ctx context.Context, d *deck, f *proveFlags, id string) error {
	name, seq, err := d.entryID(ctx, a.flags.account, id)
	if err != nil {
		return err
	}
	entry, err := d.stored(ctx, name, seq)
	if err != nil {
		return err
	}
	c, err := d.newest()
	if err != nil {
		return err
	}
	index := int64(entry.Index) - 1
	if index >= c.Size {
		return failed("sign a newer one with: rails audit checkpoint", "the newest checkpoint vouches for %d entries, and this is number %d", c.Size, entry.Index)
	}
	pass := tree.Against(c)
	err = pass.WantRecord(c.Size, index)
	if err == nil {
		err = d.pass(ctx, pass, c.Size)
	}
	if err = errors.Join(err, pass.Failed()); err != nil {
		return err
	}
	p := &verify.Proof{Index: index, Signed: c.Signed, Extra: entry.Bytes}
	if f.withoutEntry {
		p.Extra = nil
	}
	if p.Path, err = pass.ProveRecord(c.Size, index); err != nil {
		return err
	}
	if err := d.checkRecord(p, entry.Bytes); err != nil {
		return err
	}
	return a.writeProof(f, &proofView{Entry: name + "/" + seqText(seq), Index: index, Size: c.Size, Proof: string(tree.FormatProof(p))})
}

// checkRecord checks a proof as its reader will, before it is handed out.
func (d *deck) checkRecord(p *verify.Proof, entry []byte) error {
	key, _, err := tree.In(d.dir).Public()
	if err != nil {
		return err
	}
	leaf, err := verify.LeafHash(bytes.NewReader(entry))
	if err != nil {
		return err
	}
	read, err := verify.ParseProof(tree.FormatProof(p))
	if err == nil {
		_, err = read.Check(key, leaf)
	}
	return err
}

func (a *app) proveExtension(ctx context.Context, d *deck, f *proveFlags) error {
	folder := tree.In(d.dir)
	held, err := folder.Held()
	if err != nil {
		return err
	}
	ofSize := func(size int64) (verify.Checkpoint, error) {
		i := slices.IndexFunc(held, func(c verify.Checkpoint) bool { return c.Size == size })
		if i < 0 {
			return verify.Checkpoint{}, usage("those held are files in "+quoted(folder.Dir()), "no checkpoint of size %d is held", size)
		}
		return held[i], nil
	}
	older, err := ofSize(f.from)
	if err != nil {
		return err
	}
	newest := held[len(held)-1]
	if f.to != 0 {
		if newest, err = ofSize(f.to); err != nil {
			return err
		}
	}
	if newest.Size < older.Size {
		return usage("the older one goes to --from", "a checkpoint of %d entries extends none of %d", newest.Size, older.Size)
	}
	if newest, err = folder.WithCosignatures(newest); err != nil {
		return err
	}
	pass := tree.Against(older, newest)
	err = pass.WantTree(newest.Size, older.Size)
	if err == nil {
		err = d.pass(ctx, pass, newest.Size)
	}
	if err = errors.Join(err, pass.Failed()); err != nil {
		return err
	}
	e := &verify.Extension{Old: older.Size, Signed: newest.Signed}
	if e.Path, err = pass.ProveTree(newest.Size, older.Size); err != nil {
		return err
	}
	key, _, err := folder.Public()
	if err != nil {
		return err
	}
	text := tree.FormatExtension(e)
	read, err := verify.ParseExtension(text)
	if err == nil {
		_, err = read.Check(key, older)
	}
	if err != nil {
		return err
	}
	return a.writeProof(f, &proofView{Old: older.Size, Size: newest.Size, Proof: string(text)})
}

func (a *app) writeProof(f *proveFlags, v *proofView) error {
	v.Schema, v.File = "rails.audit-proof/v1", f.out
	if f.out != "" {
		out, err := os.OpenFile(f.out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return failed("name another file with -o", "%s is there already, and is left as it is", f.out)
		}
		if err != nil {
			return err
		}
		_, err = out.WriteString(v.Proof)
		if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
			return err
		}
	}
	switch {
	case a.flags.json:
		return a.out.json(v)
	case f.out != "":
		a.out.line("wrote ", f.out, ", against the checkpoint of size ", countText(v.Size))
	default:
		a.out.line(strings.TrimSuffix(v.Proof, "\n"))
	}
	return a.out.failed
}

type checkFlags struct{ key, entry, older, policy string }

type checkedView struct {
	Schema string `json:"schema"`
	Holds  bool   `json:"holds"`
	Origin string `json:"origin"`
	Size   int64  `json:"size"`
	Index  int64  `json:"index"`
	Old    int64  `json:"old,omitzero"`
	Entry  string `json:"entry,omitzero"` // its text, where the proof holds it
	// Cosigned is there only when a policy was named.
	Cosigned []cosignatureView `json:"cosigned,omitzero"`
}

func (a *app) auditCheckProofCommand() *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use: "check-proof FILE", Short: "Check a proof offline, with nothing but a public key",
		Long: "Checks what rails audit prove wrote: the checkpoint's signature, and that the entry is\n" +
			"in its tree; or, for a proof --from, that it extends the checkpoint named by --older.\n" +
			"It needs no journal. The command rails-verify does the same without the rest of rails.",
		Args: exactly(1, "one file"),
		RunE: func(_ *cobra.Command, args []string) error {
			if f.key == "" {
				return usage("name the log's public key with --key", "a proof is only as good as the key that it is checked with")
			}
			return a.checkProof(&f, args[0])
		},
	}
	c.Flags().StringVar(&f.key, "key", "", "file of the log's public key, received by another way; required")
	c.Flags().StringVar(&f.entry, "entry", "", "file of the entry's stored bytes (default: what the proof holds)")
	c.Flags().StringVar(&f.older, "older", "", "file of the older checkpoint, for a proof --from")
	c.Flags().StringVar(&f.policy, "policy", "", "policy file: the proof's checkpoint must have the cosignatures that it asks for")
	return c
}

func (a *app) checkProof(f *checkFlags, path string) error {
	key, err := readKey(f.key)
	if err != nil {
		return err
	}
	text, err := readFile(path, verify.ProofBytesMax)
	if err != nil {
		return err
	}
	v := checkedView{Schema: "rails.audit-check-proof/v1", Holds: true}
	if verify.IsExtension(text) {
		err = v.extension(text, key, f)
	} else {
		err = v.record(text, key, f)
	}
	switch {
	case err != nil:
		return err
	case a.flags.json:
		return a.out.json(v)
	case v.Old > 0:
		a.out.line(a.out.good("holds"), ": the ", countText(v.Size), " entries of ", v.Origin, " begin with the ", countText(v.Old), " of the older checkpoint")
	default:
		a.out.line(a.out.good("holds"), ": the entry is number ", countText(v.Index+1), " of ", countText(v.Size), " in ", v.Origin)
		if v.Entry != "" {
			a.out.line(journal.BoundText(v.Entry, journal.EntryBytesMax))
		}
	}
	for _, w := range v.Cosigned {
		a.out.line("cosigned by ", w.Witness, " at ", w.Cosigned.Format(time.RFC3339))
	}
	return a.out.failed
}

func (v *checkedView) record(text []byte, key verify.Key, f *checkFlags) error {
	if f.older != "" {
		return usage("leave --older out", "this proof is of one entry")
	}
	p, err := verify.ParseProof(text)
	if err != nil {
		return err
	}
	entry := io.Reader(bytes.NewReader(p.Extra))
	switch {
	case f.entry != "":
		in, err := os.Open(f.entry)
		if err != nil {
			return err
		}
		defer in.Close()
		entry = in
	case len(p.Extra) == 0:
		return usage("name its file with --entry", "the proof does not hold the entry")
	default:
		v.Entry = string(p.Extra)
	}
	leaf, err := verify.LeafHash(entry)
	if err != nil {
		return err
	}
	c, err := p.Check(key, leaf)
	v.Origin, v.Size, v.Index = c.Origin, c.Size, p.Index
	if err == nil {
		err = v.cosigned(f.policy, p.Signed, key)
	}
	return err
}

// cosigned holds the checkpoint of a proof against a policy, if one was named.
func (v *checkedView) cosigned(path string, signed []byte, key verify.Key) error {
	if path == "" {
		return nil
	}
	policy, err := readPolicy(path)
	if err != nil {
		return err
	}
	q, err := policy.Require(signed, key)
	if err != nil {
		return err
	}
	for _, w := range q.Witnesses {
		if !w.At.IsZero() {
			v.Cosigned = append(v.Cosigned, cosignatureView{Witness: w.Witness, Cosigned: w.At})
		}
	}
	return nil
}

func (v *checkedView) extension(text []byte, key verify.Key, f *checkFlags) error {
	if f.older == "" {
		return usage("name its file with --older", "this proof starts from an older checkpoint")
	}
	older, err := readCheckpoint(f.older, key)
	if err != nil {
		return err
	}
	e, err := verify.ParseExtension(text)
	if err != nil {
		return err
	}
	c, err := e.Check(key, older)
	v.Origin, v.Size, v.Old = c.Origin, c.Size, e.Old
	if err == nil {
		err = v.cosigned(f.policy, e.Signed, key)
	}
	return err
}
