package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/tree"
	"github.com/broker-rails/broker-rails/internal/witness"
	"github.com/broker-rails/broker-rails/verify"
)

// cosigned has one of two witnesses cosign a checkpoint, and returns the signed note and
// policies that ask for one and for both.
func cosigned(t *testing.T, signed []byte, key verify.Key) (note []byte, one, both string) {
	t.Helper()
	var lines string
	for _, name := range []string{"a", "b"} {
		signer, err := witness.NewSigner("w.example/" + name)
		if err != nil {
			t.Fatal(err)
		}
		w, err := witness.New(witness.Options{Signer: signer, Logs: []verify.Key{key}, Heads: &witness.Memory{}, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		lines += "witness " + name + " " + w.Key().String() + "\n"
		if name == "a" {
			line, err := w.Cosign(tree.FormatExtension(&verify.Extension{Signed: signed}))
			if err != nil {
				t.Fatal(err)
			}
			note = append(bytes.Clone(signed), line...)
		}
	}
	return note, lines + "quorum a\n", lines + "group g all a b\nquorum g\n"
}

// A policy is asked of each kind of file, and none is met without it.
func TestPolicy(t *testing.T) {
	dir, path := files(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	key, err := verify.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	read := func(name string) []byte {
		t.Helper()
		text, err := os.ReadFile(in(name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	proof, err := verify.ParseProof(read("proof.tlog-proof"))
	if err != nil {
		t.Fatal(err)
	}
	extension, err := verify.ParseExtension(read("extension.tlog-proof"))
	if err != nil {
		t.Fatal(err)
	}
	note, one, both := cosigned(t, proof.Signed, key)
	bare := verify.Proof{Index: proof.Index, Path: proof.Path, Extra: proof.Extra, Signed: proof.Signed}
	proof.Signed, extension.Signed = note, note
	for name, text := range map[string][]byte{
		"one": []byte(one), "both": []byte(both), "none": []byte("quorum none\n"), "cut": []byte(strings.TrimSuffix(one, "\n")),
		"other":     []byte("log example.com/other+00000000+AAAA\n" + one),
		"uncounted": tree.FormatProof(&bare), "counted": tree.FormatProof(proof), "later": tree.FormatExtension(extension),
		"note": note, "line": []byte(verify.Line(note) + "\n"),
	} {
		if err := os.WriteFile(in(name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	older := filepath.Join(dir, tree.FolderName, tree.FileName(2))
	check := func(want int, says string, args ...string) {
		t.Helper()
		for i, a := range args {
			if _, err := os.Stat(in(a)); err == nil && i > 0 {
				args[i] = in(a)
			}
		}
		var out, errs bytes.Buffer
		if code := run(args, &out, &errs); code != want || !strings.Contains(out.String()+errs.String(), says) {
			t.Errorf("%v: %d %s%s", args, code, &out, &errs)
		}
	}
	check(0, "cosigned by a at 20", "proof", "--key", path, "--policy", "one", "counted")
	check(6, "missing b", "proof", "--key", path, "--policy", "both", "counted")
	check(6, "missing a, b", "proof", "--key", path, "--policy", "one", "uncounted")
	check(0, "number 2 of 3", "proof", "--key", path, "--policy", "none", "uncounted")
	check(6, "no line feed", "proof", "--key", path, "--policy", "cut", "counted")
	check(6, "malformed", "proof", "--key", path, "--policy", "other", "counted")
	check(0, "cosigned by a", "extension", "--key", path, "--policy", "one", "--older", older, "later")
	check(6, "missing b", "extension", "--key", path, "--policy", "both", "--older", older, "later")
	check(0, "a checkpoint of 3 entries", "checkpoint", "--key", path, "note")
	check(0, "cosigned by a", "checkpoint", "--key", path, "--policy", "one", "line")
	check(6, "missing b", "checkpoint", "--key", path, "--policy", "both", "note")
	check(6, "missing a, b", "export", "--key", path, "--policy", "one", dir)
	if err := os.WriteFile(filepath.Join(dir, tree.FolderName, tree.CosignedName(3)), note, 0o600); err != nil {
		t.Fatal(err)
	}
	check(0, "the newest that is cosigned for 3\ncosigned by a", "export", "--key", path, "--policy", "one", dir)
	check(6, "missing b", "export", "--key", path, "--policy", "both", dir)
	check(0, "2 checkpoints hold", "export", "--key", path, dir)
}
