package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// mutant is one change of the source. All stand in one build, and the environment says
// which of them is alive.
type mutant struct {
	ID       int    `json:"id"`
	Package  string `json:"package"`
	File     string `json:"file"` // from the module's root
	Line     int    `json:"line"`
	Func     string `json:"func"`
	Operator string `json:"operator"`
	Source   string `json:"source"` // the line it stands on, trimmed
	Change   string `json:"change"` // old => new
	Outcome  string `json:"outcome,omitempty"`
	KilledBy string `json:"killed_by,omitempty"`
	Reason   string `json:"reason,omitempty"` // of a survivor that is explained

	own string // import path of its package
}

// key is how a committed explanation names a mutant: it holds no line number, so that an
// edit elsewhere in the file leaves it valid.
func (m *mutant) key() string {
	return m.Package + " " + m.Func + " " + m.Operator + "\n" + m.Source + "\n" + m.Change
}

// edit replaces a stretch of a file; an empty stretch is an insertion.
type edit struct {
	from, to int
	text     string
	// rank orders insertions at one place: what closes an inner node comes first, then
	// what closes an outer one, then what opens an outer node, then an inner one.
	rank int
}

// wrapping is the text that goes round a node.
func wrapping(from, to int, before, after string) [2]edit {
	rank := rankOf(from, to)
	return [2]edit{{from, from, before, rank}, {to, to, after, -rank}}
}

// rankOf is smaller for a larger node; between neighbours there is room for wrapOutside.
func rankOf(from, to int) int { return 1<<30 - 4*(to-from) }

func applyEdits(text []byte, edits []edit) []byte {
	sort.SliceStable(edits, func(i, j int) bool {
		if edits[i].from != edits[j].from {
			return edits[i].from < edits[j].from
		}
		return edits[i].rank < edits[j].rank
	})
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		if e.from < at {
			continue // inside what was replaced
		}
		out.Write(text[at:e.from])
		out.WriteString(e.text)
		at = e.to
	}
	out.Write(text[at:])
	return out.Bytes()
}

// switchText is the file that goes into each instrumented package. The hits are a mapped
// file, so that they need no hook at the end of a test binary. The limit on memory is for
// mutants that append for ever.
const switchText = `package %s

import (
	"os"
	"strconv"
	"syscall"
)

var mutAlive, mutHits = mutSetup()

func mutSetup() (alive int, hits []byte) {
	if text := os.Getenv("MUTATE_ALIVE"); text != "" {
		alive, _ = strconv.Atoi(text)
		most := syscall.Rlimit{Cur: 4 << 30, Max: 4 << 30}
		_ = syscall.Setrlimit(syscall.RLIMIT_AS, &most)
	}
	path := os.Getenv("MUTATE_HITS")
	if path == "" {
		return alive, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	info, err := f.Stat()
	if err != nil {
		panic(err)
	}
	hits, err = syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return alive, hits
}

// mutAllocs stands for testing.AllocsPerRun: the instrumented code allocates.
func mutAllocs(int, func()) float64 { return 0 }

func mutOn(id int) bool {
	if mutHits != nil {
		mutHits[id] = 1
	}
	return id == mutAlive
}

func mutPick[T any](id int, as, mutated T) T {
	if mutOn(id) {
		return mutated
	}
	return as
}

func mutZero[T any](id int, v T) T {
	if mutOn(id) {
		var zero T
		return zero
	}
	return v
}
`

// writeOverlay writes the instrumented files below dir and returns the overlay's path.
func writeOverlay(dir string, plans []*plan) (string, error) {
	replace := map[string]string{}
	for _, p := range plans {
		folder := filepath.Join(dir, p.src.name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return "", err
		}
		put := func(path string, text []byte) error {
			to := filepath.Join(folder, filepath.Base(path))
			replace[path] = to
			return os.WriteFile(to, text, 0o600)
		}
		for f, edits := range p.edits {
			if err := put(f.path, applyEdits(f.text, slices.Clone(edits))); err != nil {
				return "", err
			}
		}
		path := filepath.Join(p.src.dir, "mutate_switch.go")
		if err := put(path, fmt.Appendf(nil, switchText, p.src.types.Name())); err != nil {
			return "", err
		}
	}
	for _, p := range plans {
		if err := stillAllocations(filepath.Join(dir, p.src.name), p.src, replace); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, list, 0o600)
}

// stillAllocations takes the counts of allocations out of the package's own tests, which
// the instrumented code would fail whichever mutant is alive.
func stillAllocations(dir string, src *source, replace map[string]string) error {
	tests, err := filepath.Glob(filepath.Join(src.dir, "*_test.go"))
	if err != nil {
		return err
	}
	for _, path := range tests {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		inside := bytes.Contains(text, fmt.Appendf(nil, "package %s\n", src.types.Name()))
		if !inside || !bytes.Contains(text, []byte("testing.AllocsPerRun(")) {
			continue
		}
		to := filepath.Join(dir, filepath.Base(path))
		replace[path] = to
		if err := os.WriteFile(to, bytes.ReplaceAll(text, []byte("testing.AllocsPerRun("), []byte("mutAllocs(")), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// oneLine keeps the instrumented file's lines where the source has them, so that a
// compiler's complaint leads to the mutant.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
