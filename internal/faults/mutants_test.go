//go:build unix

package faults

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutant takes one defence away and names the test that must then fail.
type mutant struct {
	name  string
	file  string // from the module's root
	edits []edit
	pkg   string
	test  string
}

type edit struct{ old, new string }

func mutants() []mutant {
	return []mutant{
		{
			name: "the durable append", file: "internal/gate/ledger.go",
			edits: []edit{{"err = g.cfg.Store.Append(ctx, s.batch)", "err = ctx.Err()"}},
			pkg:   "./internal/gate", test: "TestAnAllowedOrderReachesTheBrokerAfterItsDecision",
		},
		{
			name: "the permit's single use", file: "internal/gate/permit.go",
			edits: []edit{{"case !p.burned.CompareAndSwap(false, true):", "case p.burned.Load():"}},
			pkg:   "./internal/gate", test: "TestAPermitBurnsOnce",
		},
		{
			name: "the permit's gate", file: "internal/gate/permit.go",
			edits: []edit{{"|| p.gate != g:", "|| p.gate == nil:"}},
			pkg:   "./internal/gate", test: "TestAPermitOfAnotherGateSendsNothing",
		},
		{
			name: "the second reading of the heads", file: "internal/gate/forward.go",
			edits: []edit{
				{"case g.ctl.Seq != p.control.Seq || g.ctl.Head != p.control.Hash:", "case g.ctl == nil:"},
				{"case g.stopSeq > p.through:", "case g.state == nil:"},
				{"== account.Halted && p.message.Action", "== 255 && p.message.Action"},
			},
			pkg: "./internal/gate", test: "TestAHaltBetweenDecisionAndSendSendsNothing",
		},
		{
			name: "the compare-and-swap in memory", file: "internal/store/memory/memory.go",
			edits: []edit{{"if have := s.head(b.Account); have != b.Expect {", "if have := s.head(b.Account); have.Seq > 1<<60 {"}},
			pkg:   "./internal/gate", test: "TestALostRaceIsDecidedAgain",
		},
		{
			name: "the trial of an entry before it is durable", file: "internal/gate/ledger.go",
			edits: []edit{{"if err := g.state.TryAll(s.entries, s.hashes); err != nil {", "if err := error(nil); err != nil {"}},
			pkg:   "./internal/gate", test: "TestAnEntryThatWouldNotFoldIsNotWritten",
		},
		{
			name: "the broker's echo", file: "internal/gate/forward.go",
			edits: []edit{{"!echoes(&reply, &p.message)", "p == nil"}},
			pkg:   "./internal/gate", test: "TestAReplyThatEchoesAnotherOrderIsInDoubt",
		},
		{
			name: "the recovery from a panic", file: "internal/gate/decide.go",
			edits: []edit{{"	p := recover()\n	if p == nil {", "	var p any\n	if p == nil {"}},
			pkg:   "./internal/gate", test: "TestAPanicRefusesAndHalts",
		},
		{
			name: "the control chain's head in the decision's transaction", file: "internal/store/memory/memory.go",
			edits: []edit{{"have != *b.Control {", "have.Seq > 1<<60 {"}},
			pkg:   "./internal/gate", test: "TestAHaltBeatsADecisionThatIsOnItsWay",
		},
		{
			name: "the outcome's doubt when it cannot be written", file: "internal/gate/forward.go",
			edits: []edit{{"Outcome{Result: journal.ResultInDoubt, OrderID: p.orderID, BrokerID: r.BrokerID, Unrecorded: true,", "Outcome{Result: resultOf(r.Result), OrderID: p.orderID, BrokerID: r.BrokerID,"}},
			pkg:   "./internal/gate", test: "TestAnOutcomeThatCannotBeWrittenLeavesTheOrderInDoubt",
		},
		{
			name: "the clocks' comparison", file: "internal/gate/clock.go",
			edits: []edit{{"w.suspectUntil = r.Boot + clockAgreeFor", "w.suspectUntil = 0"}},
			pkg:   "./internal/gate", test: "TestClockStepsAreSuspect",
		},
		{
			name: "the halt on an order that the journal forgot", file: "internal/gate/events.go",
			edits: []edit{{"return !known && journal.HasOrderIDForm", "return known && journal.HasOrderIDForm"}},
			pkg:   "./internal/gate", test: "TestAForgottenOrderHaltsTheAccount",
		},
		{
			name: "the age of the picture that a reconciliation compares", file: "internal/gate/reconcile.go",
			edits: []edit{{"moved := g.state.Seq != pictured", "moved := g.state.Seq < pictured"}},
			pkg:   "./internal/gate", test: "TestAnOlderPictureIsNotADifference",
		},
		{
			name: "the compare-and-swap in SQLite", file: "internal/store/sqlite/schema.go",
			edits: []edit{{"WHERE account = ? AND seq = ? AND hash = ?`\n\tsqlStart", "WHERE account = ? AND (seq = ? OR 1) AND (hash = ? OR 1)`\n\tsqlStart"}},
			pkg:   "./internal/store/sqlite", test: "TestContract/CompareAndSwapRefusesEveryWrongHead",
		},
		{
			name: "the compare-and-swap of a chain's first entry in SQLite", file: "internal/store/sqlite/schema.go",
			edits: []edit{{"VALUES (?, ?, ?) ON CONFLICT DO NOTHING`", "VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET seq = excluded.seq, hash = excluded.hash`"}},
			pkg:   "./internal/store/sqlite", test: "TestContract/CompareAndSwapRefusesEveryWrongHead",
		},
		{
			name: "the control chain's head in SQLite", file: "internal/store/sqlite/group.go",
			edits: []edit{{"if **control != *b.Control {", "if (**control).Seq > 1<<60 {"}},
			pkg:   "./internal/store/sqlite", test: "TestContract/ControlHeadMustHold",
		},
		{
			name: "synchronous=FULL", file: "internal/store/sqlite/writer.go",
			edits: []edit{{"`PRAGMA synchronous = FULL`", "`PRAGMA synchronous = NORMAL`"}},
			pkg:   "./internal/store/sqlite", test: "TestDurabilityIsAsserted",
		},
		{
			name: "synchronous=FULL and its assertion", file: "internal/store/sqlite/writer.go",
			edits: []edit{{"`PRAGMA synchronous = FULL`", "`PRAGMA synchronous = NORMAL`"}, {"if have != full {", "if have > full {"}},
			pkg:   "./internal/store/sqlite", test: "TestDurabilityIsAsserted",
		},
		{
			name: "the break after a failed flush", file: "internal/store/sqlite/group.go",
			edits: []edit{{"if !typed.Passing() {", "if op == \"\" {"}},
			pkg:   "./internal/store/sqlite", test: "TestHeadThatLiesBreaksTheStore",
		},
		{
			name: "the ledger that is not begun anew", file: "internal/broker/paper/sqlite.go",
			edits: []edit{{"if err == nil && info.Size() == 0 && start == (Start{}) {", "if err == nil && info.Size() < 0 {"}},
			pkg:   "./internal/broker/paper", test: "TestNoLedgerIsInvented",
		},
		{
			name: "a witness's flush before its signature", file: "internal/witness/witness.go",
			edits: []edit{{"if err := w.keep.Save(next); err != nil {", "if err := error(nil); err != nil {"}},
			pkg:   "./internal/witness", test: "TestNothingIsSignedBeforeItsHeadIsDurable",
		},
		{
			name: "a witness's stop after a failed flush", file: "internal/witness/witness.go",
			edits: []edit{{"		w.broken = err\n", ""}},
			pkg:   "./internal/witness", test: "TestNothingIsSignedBeforeItsHeadIsDurable",
		},
		{
			name: "a witness's consistency check", file: "internal/witness/witness.go",
			edits: []edit{{"head.Size, head.Root); err != nil {", "head.Size, head.Root); err != nil && c.Size < 0 {"}},
			pkg:   "./internal/witness", test: "TestBadRequests",
		},
		{
			name: "a witness's old size", file: "internal/witness/witness.go",
			edits: []edit{{"case e.Old != head.Size:", "case e.Old > head.Size:"}},
			pkg:   "./internal/witness", test: "TestBadRequests",
		},
		{
			name: "a witness's heads that are missed", file: "internal/witness/folder.go",
			edits: []edit{{"if errors.Is(err, fs.ErrNotExist) && f.signer.key == nil {\n\t\treturn nil, err", "if errors.Is(err, fs.ErrNotExist) {\n\t\treturn nil, nil"}},
			pkg:   "./internal/witness", test: "TestMissingHeadsOrKeyAreRefused",
		},
		{
			name: "the checksum of a witness's heads", file: "internal/witness/folder.go",
			edits: []edit{{"if !ok || string(text[at:]) != headsSum", "if !ok || len(text) == 0 && string(text[at:]) != headsSum"}},
			pkg:   "./internal/witness", test: "TestTornAndChangedHeadsAreRefused",
		},
		{
			name: "the memory of what a witness cosigned", file: "internal/witness/client.go",
			edits: []edit{{"case size < q.Cosigned:", "case size < -5:"}},
			pkg:   "./internal/witness", test: "TestBrokenPromisesAreTold",
		},
		{
			name: "the key that a policy pins", file: "internal/witness/client.go",
			edits: []edit{{"line...)); err == nil {\n\t\t\treturn line, at, nil", "line...)); err == nil || w.Name != \"\" {\n\t\t\treturn line, at, nil"}},
			pkg:   "./internal/witness", test: "TestBadAnswers",
		},
		{
			name: "the count of a quorum", file: "verify/policy.go",
			edits: []edit{{"done[i] = count >= n.need", "done[i] = count >= n.need-1"}},
			pkg:   "./verify", test: "TestQuorum",
		},
		{
			name: "the checkpoints that a new one must extend", file: "internal/attest/keeper.go",
			edits: []edit{
				{"k.pass, k.newest = tree.Against(held...), verify.Checkpoint{}", "k.pass, k.newest = tree.Against(), verify.Checkpoint{}"},
				{"	k.newest = newest\n	k.pass.Mark()", "	k.newest = verify.Checkpoint{}\n	k.pass.Mark()"},
			},
			pkg: "./internal/attest", test: "TestWhatDoesNotExtendIsNotSigned",
		},
	}
}

// Every defence has a named test that fails without it: this one takes each away in
// turn, in a copy that only the compiler sees.
func TestWithoutADefenceItsTestFails(t *testing.T) {
	if testing.Short() {
		t.Skip("builds packages again")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants() {
		t.Run(strings.ReplaceAll(m.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			out, err := m.run(t, root)
			switch {
			case err == nil:
				t.Errorf("%s passes without %s", m.test, m.name)
			case !strings.Contains(out, "--- FAIL: "+m.test):
				t.Errorf("%s did not run without %s:\n%s", m.test, m.name, out)
			}
		})
	}
}

// run tests the package with the mutated file laid over the real one.
func (m *mutant) run(t *testing.T, root string) (string, error) {
	t.Helper()
	path := filepath.Join(root, m.file)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	source := string(text)
	for _, e := range m.edits {
		if strings.Count(source, e.old) != 1 {
			t.Fatalf("%s has %q %d times, want once: the mutant is out of date", m.file, e.old, strings.Count(source, e.old))
		}
		source = strings.Replace(source, e.old, e.new, 1)
	}
	dir := t.TempDir()
	mutated, overlay := filepath.Join(dir, "mutated.go"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutated}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mutated, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-run", "^"+m.test+"$", "-count=1", "-timeout=60s", "-vet=off", m.pkg)
	c.Dir = root
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := c.CombinedOutput()
	return string(out), err
}
