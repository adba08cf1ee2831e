package drill

import (
	"flag"
	"fmt"
	"testing"
	"testing/synctest"
)

var (
	flagSeed = flag.Uint64("seed", 0, "of TestSeed")
	flagMany = flag.Int("histories", 10_000, "of TestHistories")
)

// run plays one history.
func run(t *testing.T, p plan) (w *world) {
	synctest.Test(t, func(t *testing.T) {
		w = newWorld(t, &p)
		w.play()
	})
	return w
}

func TestSeed(t *testing.T) {
	if *flagSeed == 0 {
		t.Skip("plays the history of -seed")
	}
	w := run(t, plan{seed: *flagSeed, record: true})
	fmt.Println(w.trace.String())
	if w.failed != nil {
		t.Errorf("%s: %s", w.failed.rule, w.failed.text)
	}
}

func TestHistories(t *testing.T) {
	bad := 0
	for seed := 1; seed <= *flagMany; seed++ {
		if w := run(t, plan{seed: uint64(seed)}); w.failed != nil {
			t.Errorf("seed %d: %s: %s", seed, w.failed.rule, w.failed.text)
			if bad++; bad > 20 {
				return
			}
		}
	}
}
