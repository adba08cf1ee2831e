package journal_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
)

// update writes the vectors anew. What changes then is the format: it needs another
// schema version.
//
//archtest:immutable set by the test's command line
var update = flag.Bool("update", false, "write docs/vectors anew")

const vectorsDir = "../../docs/vectors"

// vector is one entry of docs/vectors/chain.json.
type vector struct {
	Account       string `json:"account"`
	Bytes         string `json:"bytes"`
	ClientOrderID string `json:"client_order_id,omitempty"` // of a decision: what its order is sent under
	Hash          string `json:"hash"`
	Seq           uint64 `json:"seq"`
}

// unreadable is one text of docs/vectors/refused.json.
type unreadable struct {
	Bytes string `json:"bytes"`
	Why   string `json:"why"`
}

type decimals struct {
	Accepted []string `json:"accepted"`
	Refused  []string `json:"refused"`
}

// hardText holds whatever is escaped, and what must not be.
const hardText = "quote \" backslash \\ slash / \b\f\n\r\t \u0000\u0001\u001f\u007f \u00e9 \u2028 \u2029 \U0001f600 <&>"

// vectorBodies are one body of each kind with every member set, then bodies with as
// little as may be.
func vectorBodies() []any {
	zero := money.Price{}
	return append(bodies(),
		journal.Genesis{},
		journal.Open{Equity: money.MustNotional("-99999999999999999999.999999999"), Source: hardText},
		journal.Decision{
			Intent: order.Intent{Action: order.ActionCancel}, Quote: &journal.Quote{Ask: &zero}, Verdict: journal.VerdictDenied,
		},
		journal.Refusal{Text: hardText, Count: 1},
	)
}

// writeVectors seals the chains of the vectors.
func writeVectors(t *testing.T) []vector {
	t.Helper()
	var list []vector
	add := func(account string, seq uint64, prev journal.Hash, at time.Time, limits string, body any) journal.Hash {
		kind := journal.KindOf(body)
		b, h, err := journal.Seal(account, seq, prev, at, limits, kind, body)
		if err != nil {
			t.Fatal(err)
		}
		v := vector{Account: account, Bytes: string(b), Hash: h.String(), Seq: seq}
		if kind == journal.KindDecision {
			v.ClientOrderID = journal.ClientOrderID(account, seq, h)
		}
		list = append(list, v)
		return h
	}
	var own, control journal.Hash
	limits := ""
	for i, body := range vectorBodies() {
		if journal.KindOf(body) == journal.KindLimits {
			limits = journal.HashOf([]byte("limits")).String()
		}
		own = add("vector", uint64(i+1), own, at.Add(time.Duration(i)*time.Millisecond), limits, body)
		if i < 2 {
			control = add(journal.ControlAccount, uint64(i+1), control, at.Add(time.Duration(i)*time.Second), "",
				journal.Mode{By: journal.ByOperator, Mode: journal.ModeHalted, Reason: "r", Who: "w"})
		}
	}
	return list
}

func save(t *testing.T, name string, value any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(value); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(vectorsDir, name), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read[T any](t *testing.T, name string) (value T) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(vectorsDir, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// TestVectors holds this implementation to docs/vectors, which any other one can use.
func TestVectors(t *testing.T) {
	if *update {
		save(t, "chain.json", writeVectors(t))
	}
	list := read[[]vector](t, "chain.json")
	want := writeVectors(t)
	if len(list) != len(want) {
		t.Fatalf("%d vectors, the bodies give %d", len(list), len(want))
	}
	var c journal.Chain
	kinds := map[journal.Kind]bool{}
	for i, v := range list {
		if v != want[i] {
			t.Errorf("vector %d\nis    %+v\nwrote %+v", i, v, want[i])
		}
		h, err := journal.ParseHash(v.Hash)
		if err != nil {
			t.Fatal(err)
		}
		e, err := c.NextStored(v.Account, []byte(v.Bytes), h)
		if err != nil {
			t.Errorf("vector %d: %v", i, err)
		}
		kinds[e.Kind] = true
		if v.ClientOrderID != "" && journal.ClientOrderID(v.Account, v.Seq, h) != v.ClientOrderID {
			t.Errorf("vector %d: client order id is not %s", i, v.ClientOrderID)
		}
	}
	if len(kinds) != 12 {
		t.Errorf("%d kinds have a vector, want all 12", len(kinds))
	}
	for _, v := range read[[]unreadable](t, "refused.json") {
		if e, err := journal.Decode([]byte(v.Bytes)); err == nil {
			t.Errorf("%s: read as %+v", v.Why, e)
		}
	}
	d := read[decimals](t, "decimals.json")
	for _, text := range d.Accepted {
		if n, err := money.ParseNotional(text); err != nil || n.String() != text {
			t.Errorf("decimal %q is written %q (%v)", text, n, err)
		}
	}
	for _, text := range d.Refused {
		if n, err := money.ParseNotional(text); err == nil && n.String() == text {
			t.Errorf("decimal %q is canonical", text)
		}
	}
}

// python returns the interpreter that runs the independent check. Without one the test
// is skipped, except in CI.
func python(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	switch {
	case err == nil:
		return path
	case os.Getenv("CI") != "":
		t.Fatal("CI needs python3 for the independent check of the vectors")
	}
	t.Skip("no python3")
	return ""
}

func check(t *testing.T, interpreter, path string) (out string, ok bool) {
	t.Helper()
	c := exec.CommandContext(t.Context(), interpreter, filepath.Join(vectorsDir, "check.py"), path)
	b, err := c.CombinedOutput()
	return string(b), err == nil
}

// TestIndependentCheck runs docs/vectors/check.py, which shares no code with this
// module, over the vectors, over a journal that the store wrote, and over spoiled ones.
func TestIndependentCheck(t *testing.T) {
	interpreter := python(t)
	if out, ok := check(t, interpreter, vectorsDir); !ok {
		t.Errorf("the vectors do not pass:\n%s", out)
	}
	list := read[[]vector](t, "chain.json")
	if out, ok := check(t, interpreter, stored(t, list)); !ok || !strings.Contains(out, "vector") {
		t.Errorf("a journal of the store does not pass:\n%s", out)
	}
	for _, s := range []struct {
		name  string
		spoil func(list []vector)
	}{
		{"an edit", func(l []vector) { l[4].Bytes = strings.Replace(l[4].Bytes, "marks", "Marks", 1) }},
		{"a hash", func(l []vector) { l[6].Hash = l[5].Hash }},
		{"a swap", func(l []vector) { l[7], l[8] = l[8], l[7] }},
		{"a client order id", func(l []vector) {
			for i := range l {
				l[i].ClientOrderID = strings.Replace(l[i].ClientOrderID, "br-", "br-x", 1)
			}
		}},
		{"an edit with its hash", func(l []vector) {
			l[4].Bytes = strings.Replace(l[4].Bytes, "marks", "Marks", 1)
			l[4].Hash = journal.HashOf([]byte(l[4].Bytes)).String()
		}},
	} {
		spoiled := append([]vector(nil), list...)
		s.spoil(spoiled)
		path := filepath.Join(t.TempDir(), "chain.json")
		b, err := json.Marshal(spoiled)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, ok := check(t, interpreter, path); ok {
			t.Errorf("%s passes:\n%s", s.name, out)
		}
	}
}

// stored writes the vectors through the real store and returns its file.
func stored(t *testing.T, list []vector) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "journal")
	s, err := sqlite.Open(t.Context(), dir, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	heads := map[string]gate.Head{}
	for _, v := range list {
		h, _ := journal.ParseHash(v.Hash)
		entry := gate.Stored{Account: v.Account, Seq: v.Seq, Hash: h, Bytes: []byte(v.Bytes)}
		err := s.Append(t.Context(), &gate.Batch{Account: v.Account, Expect: heads[v.Account], Entries: []gate.Stored{entry}})
		if err != nil {
			t.Fatal(err)
		}
		heads[v.Account] = gate.Head{Seq: v.Seq, Hash: h}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, sqlite.FileName)
}
