// Command rails-verify checks proofs, checkpoints and exported entries of a journal
// without the journal, the program that wrote it, or a network.
//
//	rails-verify proof --key KEY [--policy POLICY] [--entry FILE] PROOF
//	rails-verify extension --key KEY [--policy POLICY] --older CHECKPOINT PROOF
//	rails-verify checkpoint --key KEY [--policy POLICY] CHECKPOINT
//	rails-verify export --key KEY [--policy POLICY] FOLDER
//
// With a policy (c2sp.org/tlog-policy) the newest checkpoint that is looked at must have
// the cosignatures that the policy asks for.
//
// Exit codes: 0 it holds, 1 a file could not be read, 2 usage, 6 it does not hold.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/broker-rails/broker-rails/verify"
)

// Exit codes.
const (
	exitHolds  = 0
	exitFailed = 1
	exitUsage  = 2
	exitBroken = 6
)

const usageText = `rails-verify checks, offline and without the journal, what an auditor was given of it: whether
an entry was in it (proof), whether it only grew (extension), whether a checkpoint is the
journal's (checkpoint), whether exported entries are what was signed (export). KEY is the
file of the journal's public key, received by another way than the rest.

usage: rails-verify proof --key KEY [--policy POLICY] [--entry FILE] PROOF
       rails-verify extension --key KEY [--policy POLICY] --older CHECKPOINT PROOF
       rails-verify checkpoint --key KEY [--policy POLICY] CHECKPOINT
       rails-verify export --key KEY [--policy POLICY] FOLDER

exit codes: 0 it holds, 1 a file could not be read, 2 usage, 6 it does not hold
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// errUsage is a command line that asks for nothing that can be checked; what wraps it says
// what is amiss.
var errUsage = errors.New("usage")

// misused is a wrong command line, in a few words.
func misused(what string) error { return fmt.Errorf("%w: %s", errUsage, what) }

func run(args []string, out, errs io.Writer) int {
	if len(args) == 1 && slices.Contains([]string{"help", "--help", "-help", "-h"}, args[0]) {
		if _, err := io.WriteString(out, usageText); err != nil {
			return exitFailed
		}
		return exitHolds
	}
	text, err := command(args)
	if err == nil {
		// An answer that could not be written is none.
		if _, err = fmt.Fprintln(out, text); err == nil {
			return exitHolds
		}
	}
	if errors.Is(err, errUsage) {
		if what, given := strings.CutPrefix(err.Error(), errUsage.Error()+": "); given {
			_, _ = fmt.Fprint(errs, "rails-verify: ", what, "\n\n") // the exit code says it too
		}
		_, _ = io.WriteString(errs, usageText) // likewise
		return exitUsage
	}
	_, _ = fmt.Fprintln(errs, "rails-verify:", err) // likewise
	for _, known := range []error{verify.ErrMalformed, verify.ErrSignature, verify.ErrNotIncluded, verify.ErrNotExtended, verify.ErrQuorum} {
		if errors.Is(err, known) {
			return exitBroken
		}
	}
	return exitFailed
}

func command(args []string) (string, error) {
	if len(args) == 0 {
		return "", errUsage
	}
	if !slices.Contains([]string{"proof", "extension", "checkpoint", "export"}, args[0]) {
		return "", misused(fmt.Sprintf("it cannot check %q", args[0]))
	}
	set := flag.NewFlagSet(args[0], flag.ContinueOnError)
	set.SetOutput(io.Discard)
	key := set.String("key", "", "public key")
	entry := set.String("entry", "", "the entry's bytes")
	older := set.String("older", "", "older checkpoint")
	policy := set.String("policy", "", "policy file")
	switch err := set.Parse(args[1:]); {
	case err != nil:
		return "", misused(err.Error())
	case *key == "":
		return "", misused("name the file of the journal's public key with --key")
	case set.NArg() != 1:
		return "", misused("name one file or folder to check, after the flags")
	}
	a, err := trusted(*key, *policy)
	if err != nil {
		return "", err
	}
	switch args[0] {
	case "proof":
		return a.proof(set.Arg(0), *entry)
	case "extension":
		return a.extension(set.Arg(0), *older)
	case "checkpoint":
		return a.one(set.Arg(0))
	case "export":
		return a.export(set.Arg(0))
	}
	return "", errUsage
}

// auditor is what everything is checked with.
type auditor struct {
	key    verify.Key
	policy *verify.Policy // nil: no cosignatures are asked for
}

func trusted(key, policy string) (a auditor, err error) {
	text, err := read(key, verify.KeyBytesMax)
	if err != nil {
		return a, err
	}
	if a.key, err = verify.ParseKey(text); err != nil || policy == "" {
		return a, err
	}
	if text, err = read(policy, verify.PolicyBytesMax); err != nil {
		return a, err
	}
	a.policy, err = verify.ParsePolicy(text)
	return a, err
}

// cosigned says who has cosigned, and fails unless that is enough.
func (a auditor) cosigned(signed []byte) (string, error) {
	if a.policy == nil {
		return "", nil
	}
	q, err := a.policy.Require(signed, a.key)
	if err != nil {
		return "", err
	}
	var said strings.Builder
	for _, w := range q.Witnesses {
		if !w.At.IsZero() {
			fmt.Fprintf(&said, "\ncosigned by %s at %s", w.Witness, w.At.Format(time.RFC3339))
		}
	}
	return said.String(), nil
}

// one checks a checkpoint by itself.
func (a auditor) one(path string) (string, error) {
	c, err := checkpoint(a.key, path)
	if err != nil {
		return "", err
	}
	said, err := a.cosigned(c.Signed)
	return fmt.Sprintf("a checkpoint of %d entries of %s", c.Size, c.Origin) + said, err
}

// read reads a file, and one byte more than may be, so that a longer one is refused by
// who parses it.
func read(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most+1))
}

// checkpoint opens a checkpoint that is kept in a file, as a note or as a line.
func checkpoint(k verify.Key, path string) (verify.Checkpoint, error) {
	text, err := read(path, verify.FileBytesMax)
	if err == nil {
		text, err = verify.Signed(text)
	}
	if err != nil {
		return verify.Checkpoint{}, err
	}
	return verify.OpenCheckpoint(text, k)
}

// printable reports whether a terminal can show the text as it is.
func printable(text []byte) bool {
	return utf8.Valid(text) && !bytes.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

func (a auditor) proof(path, entry string) (string, error) {
	text, err := read(path, verify.ProofBytesMax)
	if err != nil {
		return "", err
	}
	p, err := verify.ParseProof(text)
	if err != nil {
		return "", err
	}
	in := io.Reader(bytes.NewReader(p.Extra))
	switch {
	case entry != "":
		f, err := os.Open(entry)
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	case len(p.Extra) == 0:
		return "", errors.New("the proof does not hold the entry: name its file with --entry")
	}
	leaf, err := verify.LeafHash(in)
	if err != nil {
		return "", err
	}
	c, err := p.Check(a.key, leaf)
	if err != nil {
		return "", err
	}
	by, err := a.cosigned(p.Signed)
	if err != nil {
		return "", err
	}
	said := fmt.Sprintf("the entry is number %d of %d in %s", p.Index+1, c.Size, c.Origin) + by
	if entry == "" && printable(p.Extra) {
		said += "\n" + string(p.Extra)
	}
	return said, nil
}

func (a auditor) extension(path, older string) (string, error) {
	if older == "" {
		return "", misused("name the file of the older checkpoint with --older")
	}
	old, err := checkpoint(a.key, older)
	if err != nil {
		return "", err
	}
	text, err := read(path, verify.ProofBytesMax)
	if err != nil {
		return "", err
	}
	e, err := verify.ParseExtension(text)
	if err != nil {
		return "", err
	}
	c, err := e.Check(a.key, old)
	if err != nil {
		return "", err
	}
	by, err := a.cosigned(e.Signed)
	return fmt.Sprintf("the %d entries of %s begin with the %d of the older checkpoint", c.Size, c.Origin, old.Size) + by, err
}

// export holds the entries of a folder that rails audit export wrote against all its
// checkpoints, with and without cosignatures.
func (a auditor) export(dir string) (string, error) {
	notes := filepath.Join(dir, "checkpoints")
	held, err := a.named(notes, ".checkpoint")
	if err != nil {
		return "", err
	}
	cosigned, err := a.named(notes, ".cosigned")
	if err != nil {
		return "", err
	}
	f, err := os.Open(filepath.Join(dir, "entries.jsonl"))
	if err != nil {
		return "", err
	}
	defer f.Close()
	n, err := verify.CheckEntries(f, append(slices.Clone(held), cosigned...))
	if err != nil {
		return "", err
	}
	hold := fmt.Sprintf("%d checkpoints hold", len(held))
	if len(held) == 1 {
		hold = "1 checkpoint holds"
	}
	said := fmt.Sprintf("%d entries of %s: %s, the newest vouches for %d", n, a.key.Name(), hold, newest(held).Size)
	if a.policy == nil {
		return said, nil
	}
	last := newest(cosigned)
	if len(cosigned) == 0 {
		last = newest(held) // which tells who is missing
	}
	by, err := a.cosigned(last.Signed)
	return said + fmt.Sprintf(", the newest that is cosigned for %d", last.Size) + by, err
}

// named opens the checkpoints of a folder whose files end so.
func (a auditor) named(dir, suffix string) ([]verify.Checkpoint, error) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var held []verify.Checkpoint
	for _, n := range names {
		if !strings.HasSuffix(n.Name(), suffix) {
			continue
		}
		c, err := checkpoint(a.key, filepath.Join(dir, n.Name()))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.Name(), err)
		}
		held = append(held, c)
	}
	return held, nil
}

// newest is the largest, or the zero checkpoint of none.
func newest(held []verify.Checkpoint) (last verify.Checkpoint) {
	for _, c := range held {
		if c.Size > last.Size {
			last = c
		}
	}
	return last
}
