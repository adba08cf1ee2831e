// Command rails-verify checks proofs, checkpoints and exported entries of a journal
// without the journal, the program that wrote it, or a network.
//
//	rails-verify proof --key KEY [--entry FILE] PROOF
//	rails-verify extension --key KEY --older CHECKPOINT PROOF
//	rails-verify export --key KEY FOLDER
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
	"strings"
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

const usageText = `usage: rails-verify proof --key KEY [--entry FILE] PROOF
       rails-verify extension --key KEY --older CHECKPOINT PROOF
       rails-verify export --key KEY FOLDER
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

var errUsage = errors.New("usage")

func run(args []string, out, errs io.Writer) int {
	text, err := command(args)
	if err == nil {
		// An answer that could not be written is none.
		if _, err = fmt.Fprintln(out, text); err == nil {
			return exitHolds
		}
	}
	if errors.Is(err, errUsage) {
		_, _ = io.WriteString(errs, usageText) // the exit code says it too
		return exitUsage
	}
	_, _ = fmt.Fprintln(errs, "rails-verify:", err) // likewise
	for _, known := range []error{verify.ErrMalformed, verify.ErrSignature, verify.ErrNotIncluded, verify.ErrNotExtended} {
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
	set := flag.NewFlagSet(args[0], flag.ContinueOnError)
	set.SetOutput(io.Discard)
	key := set.String("key", "", "public key")
	entry := set.String("entry", "", "the entry's bytes")
	older := set.String("older", "", "older checkpoint")
	if err := set.Parse(args[1:]); err != nil || set.NArg() != 1 || *key == "" {
		return "", errUsage
	}
	text, err := read(*key, verify.KeyBytesMax)
	if err != nil {
		return "", err
	}
	k, err := verify.ParseKey(text)
	if err != nil {
		return "", err
	}
	switch args[0] {
	case "proof":
		return proof(k, set.Arg(0), *entry)
	case "extension":
		return extension(k, set.Arg(0), *older)
	case "export":
		return export(k, set.Arg(0))
	}
	return "", errUsage
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

func proof(k verify.Key, path, entry string) (string, error) {
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
	c, err := p.Check(k, leaf)
	if err != nil {
		return "", err
	}
	said := fmt.Sprintf("the entry is number %d of %d in %s", p.Index+1, c.Size, c.Origin)
	if entry == "" && printable(p.Extra) {
		said += "\n" + string(p.Extra)
	}
	return said, nil
}

func extension(k verify.Key, path, older string) (string, error) {
	if older == "" {
		return "", errUsage
	}
	old, err := checkpoint(k, older)
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
	c, err := e.Check(k, old)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("the %d entries of %s begin with the %d of the older checkpoint", c.Size, c.Origin, old.Size), nil
}

// export holds the entries of a folder that rails audit export wrote against all its
// checkpoints.
func export(k verify.Key, dir string) (string, error) {
	names, err := os.ReadDir(filepath.Join(dir, "checkpoints"))
	if err != nil {
		return "", err
	}
	var held []verify.Checkpoint
	for _, n := range names {
		if !strings.HasSuffix(n.Name(), ".checkpoint") {
			continue
		}
		c, err := checkpoint(k, filepath.Join(dir, "checkpoints", n.Name()))
		if err != nil {
			return "", fmt.Errorf("%s: %w", n.Name(), err)
		}
		held = append(held, c)
	}
	f, err := os.Open(filepath.Join(dir, "entries.jsonl"))
	if err != nil {
		return "", err
	}
	defer f.Close()
	n, err := verify.CheckEntries(f, held)
	if err != nil {
		return "", err
	}
	vouched := int64(0)
	for _, c := range held {
		vouched = max(vouched, c.Size)
	}
	return fmt.Sprintf("%d entries of %s: %d checkpoints hold, the newest vouches for %d", n, k.Name(), len(held), vouched), nil
}
