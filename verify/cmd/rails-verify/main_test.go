package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/broker-rails/broker-rails/internal/tree"
	"github.com/broker-rails/broker-rails/verify"
)

// files are what an auditor received: entries with two checkpoints, and two proofs.
func files(t *testing.T) (dir, key string) {
	t.Helper()
	dir = t.TempDir()
	entries := []string{`{"a":1}`, `{"b":2}`, `{"c":3}`}
	folder := tree.In(dir)
	s, err := folder.Signer(tree.Origin([]byte(entries[0])))
	if err != nil {
		t.Fatal(err)
	}
	pass := &tree.Pass{}
	if err := pass.WantRecord(3, 1); err != nil {
		t.Fatal(err)
	}
	if err := pass.WantTree(3, 2); err != nil {
		t.Fatal(err)
	}
	var newest verify.Checkpoint
	for i, e := range entries {
		pass.Take(uint64(i+1), []byte(e))
		if i == 0 {
			continue
		}
		if newest, err = s.Sign(pass.Size(), pass.Root()); err != nil {
			t.Fatal(err)
		}
		if _, err := folder.Keep(newest); err != nil {
			t.Fatal(err)
		}
	}
	record, err := pass.ProveRecord(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	extension, err := pass.ProveTree(3, 2)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"entries.jsonl":        strings.Join(entries, "\n") + "\n",
		"entry":                entries[1],
		"proof.tlog-proof":     string(tree.FormatProof(&verify.Proof{Index: 1, Path: record, Extra: []byte(entries[1]), Signed: newest.Signed})),
		"bare.tlog-proof":      string(tree.FormatProof(&verify.Proof{Index: 1, Path: record, Signed: newest.Signed})),
		"extension.tlog-proof": string(tree.FormatExtension(&verify.Extension{Old: 2, Path: extension, Signed: newest.Signed})),
		"newest.line":          verify.Line(newest.Signed) + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, filepath.Join(folder.Dir(), tree.PublicName)
}

func TestCommand(t *testing.T) {
	dir, key := files(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	_, other, err := note.GenerateKey(nil, "example.com/other")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"other.pub": other, "wrong": `{"b":3}`, "broken.pub": "x"} {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	older := filepath.Join(dir, tree.FolderName, tree.FileName(2))
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"proof --key KEY proof.tlog-proof", 0, `number 2 of 3`},
		{"proof --key KEY --entry entry bare.tlog-proof", 0, `number 2 of 3`},
		{"proof --key KEY bare.tlog-proof", 1, "--entry"},
		{"proof --key KEY --entry wrong proof.tlog-proof", 6, "not in the tree"},
		{"proof --key other.pub proof.tlog-proof", 6, "not signed by this key"},
		{"proof --key broken.pub proof.tlog-proof", 6, "NAME+ID+KEY"},
		{"proof --key KEY extension.tlog-proof", 6, "malformed"},
		{"proof proof.tlog-proof", 2, "public key with --key"},
		{"proof --key KEY", 2, "name one file or folder"},
		{"proof --key KEY nowhere", 1, "nowhere"},
		{"extension --key KEY --older OLDER extension.tlog-proof", 0, "begin with the 2"},
		{"extension --key KEY --older newest.line extension.tlog-proof", 6, "not an extension"},
		{"extension --key KEY extension.tlog-proof", 2, "with --older"},
		{"export --key KEY .", 0, "2 checkpoints hold, the newest vouches for 3"},
		{"export --key other.pub .", 6, "not signed"},
		{"export --key KEY checkpoints", 1, "no such file"},
		{"witness --key KEY .", 2, `it cannot check "witness"`},
		{"proof --json --key KEY proof.tlog-proof", 2, "-json"},
		{"--help", 0, "exit codes"},
		{"", 2, "rails-verify checks, offline"},
	} {
		var args []string
		for _, a := range strings.Fields(c.args) {
			switch {
			case a == "KEY":
				a = key
			case a == "OLDER":
				a = older
			case !strings.HasPrefix(a, "-") && len(args) > 0:
				a = in(a)
			}
			args = append(args, a)
		}
		var out, errs bytes.Buffer
		if code := run(args, &out, &errs); code != c.code || !strings.Contains(out.String()+errs.String(), c.says) {
			t.Errorf("%s: %d %s%s", c.args, code, &out, &errs)
		}
	}
	// A file of the export is cut.
	if err := os.WriteFile(in("entries.jsonl"), []byte("{\"a\":1}\n{\"b\":2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := run([]string{"export", "--key", key, dir}, &out, &errs); code != 6 || !strings.Contains(errs.String(), "only 2 entries") {
		t.Errorf("a cut export: %d %s", code, &errs)
	}
}

// TestTextThatATerminalWouldObey is not printed: whoever wrote the log wrote it.
func TestTextThatATerminalWouldObey(t *testing.T) {
	for text, want := range map[string]bool{`{"a":"é"}`: true, "\x1b[2J": false, "\xff": false, "a\nb": false, "\u202e": false} {
		if printable([]byte(text)) != want {
			t.Errorf("%q", text)
		}
	}
}
