package drill

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Seeds of the histories that every run of the tests plays.
const (
	Histories = 10_000
	// OnDisk is how many of them have their journal in SQLite files as well: a history there
	// takes some ten times as long.
	OnDisk = 240
)

var (
	flagSeed      = flag.Uint64("seed", 0, "play this history, with its trace (TestSeed)")
	flagSteps     = flag.Int("steps", 0, "with -seed: at most so many steps")
	flagSkip      = flag.String("skip", "", "with -seed: steps to leave out, as 3,5,8")
	flagSpare     = flag.String("spare", "", "with -seed: faults to leave out, as they stand in the trace")
	flagDisk      = flag.Bool("disk", false, "with -seed: the journal in a file")
	flagHistories = flag.Int("histories", Histories, "so many histories (TestHistories)")
	flagFrom      = flag.Uint64("from", 1, "from this seed on (TestHistories, TestHunt, TestSoak)")
	flagFor       = flag.Duration("for", time.Hour, "so long (TestSoak, with RAILS_SOAK set)")
	flagHunt      = flag.Int("hunt", 0, "play so many seeds, and end at the first that finds something (TestHunt)")
)

// run plays one history.
func run(t *testing.T, p plan) (w *world) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w = newWorld(t, &p)
		w.play()
	})
	if w == nil {
		t.Fatalf("seed %d: the history could not be played; %s", p.seed, command(&p))
	}
	return w
}

// tally is what many histories came to.
type tally struct {
	mu         sync.Mutex // guards all below
	fired      map[fault]int
	histories  int
	decided    int
	sent       int
	entries    int
	violations int
}

func (a *tally) add(w *world) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.histories++
	a.decided += len(w.oracle.decided)
	a.sent += len(w.oracle.sent)
	a.entries += w.oracle.entries
	for f, n := range w.fired {
		a.fired[f] += n
	}
}

// violationsMax is how many failing seeds are told of before a run gives up.
const violationsMax = 5

// each plays histories on as many workers as there are processors, until next says that
// there is none left.
func each(t *testing.T, next func() (plan, bool)) *tally {
	all := &tally{fired: map[fault]int{}}
	t.Run("workers", func(t *testing.T) {
		for n := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				for {
					p, more := next()
					if !more {
						return
					}
					w := run(t, p)
					all.add(w)
					if w.failed == nil {
						continue
					}
					tell(t, &p, w)
					all.mu.Lock()
					all.violations++
					stop := all.violations >= violationsMax
					all.mu.Unlock()
					if stop {
						return
					}
				}
			})
		}
	})
	return all
}

// Ten thousand histories; what must hold holds in each, and every fault was there.
func TestHistories(t *testing.T) {
	most := *flagHistories
	if testing.Short() {
		most = min(most, 300)
	}
	var count atomic.Int64
	begun := time.Now()
	all := each(t, func() (plan, bool) {
		n := int(count.Add(1)) - 1
		return plan{seed: *flagFrom + uint64(n)}, n < most
	})
	t.Logf("%d histories in %s: %d decisions allowed, %d messages released, %d entries, %d faults of %d kinds",
		all.histories, time.Since(begun).Round(time.Second), all.decided, all.sent, all.entries, all.hits(), len(all.fired))
	all.report(t)
	if most >= Histories && *flagFrom == 1 {
		all.complete(t)
	}
}

// Some of the histories on a journal in SQLite files: they hold there as well, and where no
// tail was torn, which memory does not have, they come to the very same journal.
func TestHistoriesOnDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("writes many files")
	}
	root := t.TempDir()
	var count atomic.Int64
	all := each(t, func() (plan, bool) {
		n := int(count.Add(1)) - 1
		return plan{seed: uint64(n)*37 + 1, disk: filepath.Join(root, fmt.Sprint(n))}, n < OnDisk
	})
	if all.fired[fault{"append", "tail torn", phaseDecide}] == 0 {
		t.Error("no tail was torn")
	}
	for seed := uint64(1); seed < 37*20; seed += 37 {
		file := run(t, plan{seed: seed, disk: filepath.Join(root, fmt.Sprint("again", seed))})
		if file.tore() {
			continue
		}
		if memory := run(t, plan{seed: seed}); memory.journal() != file.journal() {
			t.Errorf("seed %d: the journal is another in memory and in a file", seed)
		}
	}
}

func (w *world) tore() bool {
	for f := range w.fired {
		if f.kind == "tail torn" {
			return true
		}
	}
	return false
}

// journal is a hash of every head that the journal came to.
func (w *world) journal() string {
	return fmt.Sprint(w.oracle.entries, w.oracle.state.Head, w.oracle.control.Head)
}

// One seed is one history: trace and journal are the same every time.
func TestTheSameSeedIsTheSameHistory(t *testing.T) {
	for seed := uint64(1); seed <= 60; seed++ {
		a, b := run(t, plan{seed: seed, record: true}), run(t, plan{seed: seed, record: true})
		if a.trace.String() != b.trace.String() || a.journal() != b.journal() {
			t.Errorf("seed %d plays in two ways", seed)
		}
	}
	if a, b := run(t, plan{seed: 1}), run(t, plan{seed: 2}); a.journal() == b.journal() {
		t.Error("two seeds are one history")
	}
}

// TestSeed plays one history and shows its trace.
func TestSeed(t *testing.T) {
	if *flagSeed == 0 {
		t.Skip("plays the history of -seed")
	}
	p := plan{seed: *flagSeed, steps: *flagSteps, skip: numbers(t, *flagSkip), spare: words(*flagSpare), record: true}
	if *flagDisk {
		p.disk = t.TempDir()
	}
	w := run(t, p)
	t.Logf("%+v\n%s", *w.shape, w.trace.String())
	if w.failed != nil {
		t.Errorf("%s: %s", w.failed.rule, w.failed.text)
	}
}

// TestHunt plays seeds one after another until one finds something: that is how long it
// takes to find a fault that was put in on purpose (TestEachMutantIsFound).
func TestHunt(t *testing.T) {
	for n := range uint64(*flagHunt) {
		seed := *flagFrom + n
		if w := run(t, plan{seed: seed}); w.failed != nil {
			t.Fatalf("seed %d finds it: %s: %s", seed, w.failed.rule, w.failed.text)
		}
	}
}

// TestSoak plays histories that no run played before, for as long as it is told. Where it
// begins is drawn from the time, and told.
func TestSoak(t *testing.T) {
	if os.Getenv("RAILS_SOAK") == "" {
		t.Skip("plays histories for hours; set RAILS_SOAK")
	}
	from := *flagFrom
	if from == 1 {
		from = uint64(time.Now().UnixNano())
	}
	until := time.Now().Add(*flagFor)
	var count atomic.Uint64
	root := t.TempDir()
	all := each(t, func() (plan, bool) {
		n := count.Add(1) - 1
		p := plan{seed: from + n}
		if n%50 == 0 {
			p.disk = filepath.Join(root, fmt.Sprint(n))
		}
		return p, time.Now().Before(until)
	})
	t.Logf("%d histories from seed %d: %d messages released, %d faults of %d kinds", all.histories, from, all.sent, all.hits(), len(all.fired))
}
