package drill

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// mutant is the product without one of its defences. What each takes away is a fault that
// someone could well write.
type mutant struct {
	name string
	// from is the first seed that is played, and seeds how many are. Where what must come
	// together is rare, the hunt begins shortly before the seed that found it when all were
	// played from the first one on, so that the test ends in seconds: the log tells the seed.
	// Another draw anywhere may move it; -hunt finds the next one.
	from, seeds int
	edits       []edit
}

type edit struct{ file, old, new string }

func mutants() []mutant {
	const (
		forward, reconcile, events, ledger = "internal/gate/forward.go", "internal/gate/reconcile.go", "internal/gate/events.go", "internal/gate/ledger.go"
		decide, permit                     = "internal/gate/decide.go", "internal/gate/permit.go"
	)
	return []mutant{
		{"a message without an answer is sent again", 1, 300, []edit{{forward,
			"	if reply.Result == ReplyAccepted && !echoes",
			"	if reply.Result == ReplyInDoubt {\n\t\treply = g.cfg.Broker.Send(ctx, Sealed{message: &p.message})\n\t}\n	if reply.Result == ReplyAccepted && !echoes"}}},
		{"the heads are not read again before sending", 1, 3000, []edit{{forward,
			"	if err := g.catchUp(ctx); err != nil {\n\t\treturn \"the journal could not be read before sending\", false",
			"	if err := error(nil); err != nil {\n\t\treturn \"the journal could not be read before sending\", false"}}},
		{"a mode for all is not looked at before sending", 1, 3000, []edit{
			{forward, "	case g.ctl.Seq != p.control.Seq || g.ctl.Head != p.control.Hash:", "	case g.ctl == nil:"},
			{forward, "case account.Effective(g.state.Mode, g.ctl.Mode) == account.Halted &&", "case g.state.Mode == account.Halted &&"},
		}},
		{"the halt file is not looked at before sending", 1, 6000, []edit{{forward,
			"if g.cfg.Stop != nil && p.message.Action != order.ActionCancel {", "if g.cfg.Stop != nil && p.gate == nil {"}}},
		{"a permit does not expire", 1, 600, []edit{{permit,
			"	return time.Since(p.minted) > PermitFor || now.Boot-p.boot > PermitFor", "	return p.minted.IsZero() && now.Boot < 0"}}},
		{"a permit outlives sleep", 1, 1000, []edit{{permit, " || now.Boot-p.boot > PermitFor", " || now.Boot < 0"}}},
		{"a timeout releases the reservation", 1, 300, []edit{{forward,
			"	return journal.ResultInDoubt\n}\n\n// notSent", "	return journal.ResultRejected\n}\n\n// notSent"}}},
		{"an answer about another order is believed", 1, 600, []edit{{forward, "&& !echoes(&reply, &p.message)", "&& p == nil"}}},
		{"compare-and-swap does not compare", 1, 100, []edit{{"internal/store/memory/memory.go",
			"if have := s.head(b.Account); have != b.Expect {", "if have := s.head(b.Account); have.Seq > 1<<60 {"}}},
		{"a decision is sent before it is durable", 1, 300, []edit{{ledger,
			"			g.state = nil\n\t\t\treturn nil, err\n", "			return s.batch.Entries, g.applyAll(ctx, s)\n"}}},
		{"a fill that is told twice is booked twice", 1, 600, []edit{
			{"internal/account/apply_fill.go", "	if st.state.ids.has(key) {\n\t\tif !st.commit()", "	if f.ExecutionID == \"\" {\n\t\tif !st.commit()"},
			{events, "(ours && b.gate.state.SeenExecution(x.ID))", "(ours && x == nil)"},
		}},
		{"a fill after an order's end is passed over", 1, 600, []edit{{events,
			"	b.put(journal.KindFill, fillBody(id, x, e.Cursor))", "	if open != nil {\n\t\tb.put(journal.KindFill, fillBody(id, x, e.Cursor))\n\t}"}}},
		{"what the broker does not know yet was never sent", 1, 3000, []edit{{reconcile,
			"(!g.cfg.Paper && at.Before(replyBy(o)) || !g.steps.steady())", "at.IsZero()"}}},
		{"a step of the clocks ends a message's time", 2250, 200, []edit{{reconcile, " || !g.steps.steady())", ")"}}},
		{"a process that lags passes over an order's end", 3500, 400, []edit{{events, "	if len(events) > 0 {\n\t\tif err := g.catchUp", "	if len(events) < 0 {\n\t\tif err := g.catchUp"}}},
		{"a panic while halting goes on", 1, 3000, []edit{{decide, "			g.broken = fmt.Errorf(\"a fault inside the gate, and another", "			_ = fmt.Errorf(\"a fault inside the gate, and another"}}},
		{"a panic halts nothing", 1, 300, []edit{{decide, "	g.state = nil // half-changed, perhaps: fold again\n", "	if p != nil {\n\t\treturn\n\t}\n"}}},
		{"a pending replace reserves nothing", 1, 3000, []edit{{"internal/account/order.go", "	if o.Pending == nil {\n\t\treturn left", "	if o.Pending == nil || !o.External {\n\t\treturn left"}}},
		{"a process that lags takes a halt file away", 1, 3000, []edit{{decide,
			"	if err := g.catchUp(ctx); err != nil {\n\t\treturn err\n\t}\n	if g.state.Mode != account.Halted {", "	if g.state.Mode != account.Halted {"}}},
		{"a halt file goes before its entry", 1, 3000, []edit{{decide,
			"	if g.state.Mode != account.Halted {\n\t\terr :=", "	_ = done()\n	if g.state.Mode != account.Halted {\n\t\terr :="}}},
		{"a reduced account is halted enough", 1, 3000, []edit{{decide,
			"	if g.state.Mode != account.Halted {\n\t\terr :=", "	if g.state.Mode == account.Active {\n\t\terr :="}}},
		{"an end is booked before what filled", 5450, 400, []edit{{forward, "	if !heard {\n", "	if !heard && p == nil {\n"}}},
	}
}

var foundBy = regexp.MustCompile(`seed (\d+) finds it: ([^:]+):`)

// The simulator finds what it is there to find: each mutant, within so many seeds.
func TestEachMutantIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("builds packages again")
	}
	root, err := filepath.Abs("../..")
	must(t, err)
	for _, m := range mutants() {
		t.Run(strings.ReplaceAll(m.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			out := m.hunt(t, root)
			found := foundBy.FindStringSubmatch(out)
			if found == nil {
				t.Fatalf("%d seeds do not find it:\n%.2000s", m.seeds, out)
			}
			t.Logf("found by seed %s: %s", found[1], found[2])
		})
	}
}

// hunt plays seeds with the mutated files laid over the real ones.
func (m *mutant) hunt(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	sources, replace := map[string]string{}, map[string]string{}
	for _, e := range m.edits {
		path := filepath.Join(root, e.file)
		if sources[path] == "" {
			text, err := os.ReadFile(path)
			must(t, err)
			sources[path] = string(text)
		}
		if n := strings.Count(sources[path], e.old); n != 1 {
			t.Fatalf("%s has %q %d times, want once: the mutant is out of date", e.file, e.old, n)
		}
		sources[path] = strings.Replace(sources[path], e.old, e.new, 1)
	}
	for path, source := range sources {
		mutated := filepath.Join(dir, strconv.Itoa(len(replace))+".go")
		must(t, os.WriteFile(mutated, []byte(source), 0o600))
		replace[path] = mutated
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	must(t, err)
	overlay := filepath.Join(dir, "overlay.json")
	must(t, os.WriteFile(overlay, list, 0o600))
	c := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-run", "^TestHunt$",
		"-count=1", "-timeout=180s", "-vet=off", "./internal/drill", "-from", strconv.Itoa(m.from), "-hunt", strconv.Itoa(m.seeds))
	c.Dir = root
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, _ := c.CombinedOutput() // it fails when it finds something, and what it found is in its words
	return string(out)
}
