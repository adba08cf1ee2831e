package adversary

import (
	"bytes"
	"os"
	"reflect"
	"testing"
)

// TestRandomAttackerFindsNothing: with every rail in place, nothing gets past a limit.
func TestRandomAttackerFindsNothing(t *testing.T) {
	seeds, attempts := uint64(1), 60
	if os.Getenv("RAILS_SOAK") != "" {
		seeds, attempts = 20, 1000
	}
	for seed := range seeds {
		h := Hunt{Options: options(), Seed: seed + 1, Attempts: attempts}
		f, err := h.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if f.Case != nil {
			t.Errorf("%v\n%s", f.Problems, f.Case.Text())
		}
		if f.Attempts != attempts || f.Passed == 0 || len(f.Refused) < 30 {
			t.Errorf("%d attempts, %d passed, refused by %d: it attacks too little", f.Attempts, f.Passed, len(f.Refused))
		}
	}
}

// TestMadeUpBySeed: a seed and a number make one attack, byte by byte; another number, another.
func TestMadeUpBySeed(t *testing.T) {
	text := func(seed uint64, n int) []byte {
		c, err := makeUp(seed, n)
		if err != nil {
			t.Fatal(err)
		}
		c.Name, c.Why = "made up", "to see"
		return c.Text()
	}
	if !bytes.Equal(text(7, 3), text(7, 3)) {
		t.Error("the same seed makes another attack")
	}
	if bytes.Equal(text(7, 3), text(7, 4)) || bytes.Equal(text(7, 3), text(8, 3)) {
		t.Error("another number makes the same attack")
	}
}

// TestMadeUpCasesAreFiles: what is written down is read as what was played.
func TestMadeUpCasesAreFiles(t *testing.T) {
	for n := 1; n <= 200; n++ {
		c, err := makeUp(5, n)
		if err != nil {
			t.Fatal(err)
		}
		c.Name, c.Why = "made up", "to see"
		read, err := Load("made-up.yaml", c.Text())
		if err != nil {
			t.Fatalf("%v\n%s", err, c.Text())
		}
		if again := read[0].Text(); !bytes.Equal(again, c.Text()) {
			t.Fatalf("written:\n%s\nread:\n%s", c.Text(), again)
		}
		if !reflect.DeepEqual(read[0].begin, c.begin) {
			t.Errorf("begins as %+v, not %+v", read[0].begin, c.begin)
		}
	}
}
