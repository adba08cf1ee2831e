package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestOnlyNamedSurvivorsPass: a survivor that no file names fails the run, and so does a
// name whose mutant is killed or gone.
func TestOnlyNamedSurvivorsPass(t *testing.T) {
	survivor := func() *mutant {
		return &mutant{Package: "p", Func: "f", Operator: "boundary", Source: "return a < b", Change: "a < b => a <= b", Outcome: "survived"}
	}
	killed := survivor()
	killed.Outcome = "killed"
	named := "# why some may live\n\n" + survivor().key() + "\nb is never a.\n"
	for _, c := range []struct {
		name, text string
		mutant     *mutant
		want       error
	}{
		{"named", named, survivor(), nil},
		{"not named", "", survivor(), errSurvived},
		{"killed", "", killed, nil},
		{"named, but killed", named, killed, errSurvived},
	} {
		for _, file := range []string{"explained.txt", "open.txt"} {
			path := filepath.Join(t.TempDir(), file)
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			n, err := readNotes(path)
			if err != nil {
				t.Fatal(err)
			}
			none, err := readNotes(filepath.Join(t.TempDir(), "none"))
			if err != nil {
				t.Fatal(err)
			}
			o := &options{mutants: []*mutant{c.mutant}, explained: n, open: none}
			if file == "open.txt" {
				o.explained, o.open = none, n
			}
			want := c.want
			if file == "open.txt" && c.name == "named, but killed" {
				want = nil // it is told, so that the list becomes shorter
			}
			if err := o.report(io.Discard); !errors.Is(err, want) {
				t.Errorf("%s in %s: %v, want %v", c.name, file, err, want)
			}
		}
	}
}

func TestANoteNeedsAReason(t *testing.T) {
	path := filepath.Join(t.TempDir(), "explained.txt")
	for _, text := range []string{"p f op\nline\na => b\n", "p f op\nline\na => b\nwhy\n\np f op\nline\na => b\nwhy\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readNotes(path); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
