package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/tree"
	"github.com/broker-rails/broker-rails/verify"
)

// entriesFile is what an export calls its entries.
const entriesFile = "entries.jsonl"

func (a *app) auditCommand() *cobra.Command {
	return group("audit", "Sign checkpoints of the journal, and prove what is in it",
		a.auditCheckpointCommand(), a.auditProveCommand(), a.auditCheckProofCommand(), a.auditExportCommand())
}

type checkpointView struct {
	Schema     string `json:"schema"`
	Data       string `json:"data"`
	Origin     string `json:"origin"`
	Size       int64  `json:"size"`
	Root       string `json:"root"`
	File       string `json:"file"`
	PublicKey  string `json:"public_key"`
	Checkpoint string `json:"checkpoint"` // the signed note
	Line       string `json:"line"`       // the same, on one line
	// Witnesses are those that were asked. The note then holds their cosignatures.
	Witnesses []cosignatureView `json:"witnesses,omitzero"`
}

func (a *app) auditCheckpointCommand() *cobra.Command {
	var line bool
	var f cosignFlags
	c := &cobra.Command{
		Use: "checkpoint", Short: "Sign the journal as it stands, keep the checkpoint and print it", Args: none,
		Long: "The signature covers every entry of every account so far. Keep what is printed where\n" +
			"whoever can write the data folder cannot: it then shows a journal that was cut or\n" +
			"written anew. The first one makes the key, in the folder checkpoints of the data folder.\n" +
			"Witnesses that a policy file names are asked to cosign it.",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withJournal(c.Context(), func(d *deck) error { return a.checkpoint(c.Context(), d, line, &f) })
		},
	}
	c.Flags().StringVar(&f.policy, "policy", "", "policy file whose witnesses are asked (default: witness.policy in the data folder, if it is there)")
	c.Flags().StringArrayVar(&f.only, "witness", nil, "ask only this witness of the policy, by name or address; may be repeated")
	c.Flags().BoolVar(&line, "line", false, "print it as one line, for e-mail and print")
	return c
}

// withJournal opens the journal for reading, runs the command, and closes it again.
func (a *app) withJournal(ctx context.Context, run func(d *deck) error) error {
	d, err := a.openJournal(ctx, looking)
	if err != nil {
		return err
	}
	if err := run(d); err != nil {
		_ = d.Close(ctx) // the command's own error says more
		return err
	}
	return d.Close(ctx)
}

func (a *app) checkpoint(ctx context.Context, d *deck, line bool, f *cosignFlags) error {
	_, witnesses, err := f.cosigners(d.dir)
	if err != nil {
		return err
	}
	first, err := d.first(ctx)
	if err != nil {
		return err
	}
	folder := tree.In(d.dir)
	signer, err := folder.Signer(tree.Origin(first))
	if err != nil {
		return err
	}
	held, err := folder.Everything()
	if err != nil {
		return err
	}
	pass := tree.Against(held...)
	if err := d.pass(ctx, pass, verify.EntriesMax); err != nil {
		return err
	}
	if err := pass.Failed(); err != nil {
		return &failure{code: exitAudit, what: "nothing was signed", err: err, hint: hintBehind}
	}
	c, err := signer.Sign(pass.Size(), pass.Root())
	if err != nil {
		return err
	}
	path, err := folder.Keep(c)
	if err != nil {
		return err
	}
	var views []cosignatureView
	var broken error
	if len(witnesses) > 0 {
		if views, c, broken, err = d.cosign(ctx, c, witnesses); err != nil {
			return err
		}
	}
	if err := a.printCheckpoint(d, folder, c, path, line, views); err != nil {
		return err
	}
	return a.cosignFailed(views, broken)
}

func (a *app) printCheckpoint(d *deck, folder tree.Folder, c verify.Checkpoint, path string, line bool, views []cosignatureView) error {
	_, public, err := folder.Public()
	switch {
	case err != nil:
		return err
	case a.flags.json:
		return a.out.json(checkpointView{
			Schema: "rails.audit-checkpoint/v1", Data: d.dir, Origin: c.Origin, Size: c.Size, Root: c.Root.String(), File: path,
			PublicKey: strings.TrimSpace(string(public)), Checkpoint: string(c.Signed), Line: verify.Line(c.Signed),
			Witnesses: views,
		})
	case line:
		a.out.line(verify.Line(c.Signed))
	default:
		a.out.line(strings.TrimSuffix(string(c.Signed), "\n"))
	}
	return a.out.failed
}

type exportView struct {
	Schema      string `json:"schema"`
	Folder      string `json:"folder"`
	Entries     int64  `json:"entries"`
	Checkpoints int    `json:"checkpoints"`
	Newest      int64  `json:"newest"`   // entries that the largest checkpoint vouches for
	Cosigned    int    `json:"cosigned"` // checkpoints that have cosignatures
}

func (a *app) auditExportCommand() *cobra.Command {
	return &cobra.Command{
		Use: "export DIR", Short: "Write entries, checkpoints and public key for an auditor",
		Long: "DIR must not be there yet. entries.jsonl holds each entry's stored bytes on a line, in\n" +
			"commit order; rails-verify export checks it without rails.",
		Args: exactly(1, "one folder"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withJournal(c.Context(), func(d *deck) error { return a.export(c.Context(), d, args[0]) })
		},
	}
}

// export writes everything, also of a journal that does not hold: what is wrong with it
// is then for others to see, and the exit code says so.
func (a *app) export(ctx context.Context, d *deck, dir string) error {
	folder := tree.In(d.dir)
	held, err := folder.Held()
	if err != nil {
		return err
	}
	if len(held) == 0 {
		return failed("sign one with: rails audit checkpoint", "no checkpoint vouches for these entries")
	}
	_, public, err := folder.Public()
	if err != nil {
		return err
	}
	notes := filepath.Join(dir, tree.FolderName)
	if err = os.Mkdir(dir, 0o700); err == nil {
		err = os.Mkdir(notes, 0o700)
	}
	if err != nil {
		return &failure{code: exitFailed, what: "nothing was exported", err: err, hint: "name a folder that is not there yet"}
	}
	for _, c := range held {
		if err := os.WriteFile(filepath.Join(notes, tree.FileName(c.Size)), c.Signed, 0o600); err != nil {
			return err
		}
	}
	cosigned, err := folder.Cosigned()
	if err != nil {
		return err
	}
	for _, c := range cosigned {
		if err := os.WriteFile(filepath.Join(notes, tree.CosignedName(c.Size)), c.Signed, 0o600); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(notes, tree.PublicName), public, 0o600); err != nil {
		return err
	}
	pass := tree.Against(append(slices.Clone(held), cosigned...)...)
	if err := d.writeEntries(ctx, pass, filepath.Join(dir, entriesFile)); err != nil {
		return err
	}
	v := exportView{Schema: "rails.audit-export/v1", Folder: dir, Entries: pass.Size(), Checkpoints: len(held), Newest: held[len(held)-1].Size, Cosigned: len(cosigned)}
	if a.flags.json {
		err = a.out.json(v)
	} else {
		a.out.line("exported ", plural(int(v.Entries), "entry", "entries"), " and ", plural(v.Checkpoints, "checkpoint", "checkpoints"), " to ", dir)
		a.out.line("the newest checkpoint vouches for the first ", countText(v.Newest))
		if v.Cosigned > 0 {
			a.out.line(plural(v.Cosigned, "checkpoint has", "checkpoints have"), " cosignatures, the newest for the first ", countText(cosigned[len(cosigned)-1].Size))
		}
	}
	return errors.Join(err, a.out.failed, pass.Failed())
}

// writeEntries writes each entry and a line feed. An entry that holds one is no entry
// that this program wrote, and could not be told from two.
func (d *deck) writeEntries(ctx context.Context, pass *tree.Pass, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<16)
	err = d.store.All(ctx, 0, func(s gate.Stored) error {
		if bytes.IndexByte(s.Bytes, '\n') >= 0 {
			return &tree.BrokenError{Want: "entry " + countText(int64(s.Index)) + " on one line", Got: "a line feed in it"}
		}
		pass.Take(s.Index, s.Bytes)
		_, err := out.Write(s.Bytes)
		return errors.Join(err, out.WriteByte('\n'), ctx.Err())
	})
	return errors.Join(err, out.Flush(), f.Sync(), f.Close())
}
