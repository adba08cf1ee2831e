package adversary

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/rail"
)

// dropped is the variable that names, in the build made here only, the rail whose answer
// is thrown away.
const dropped = "RAIL_DROPPED"

// withoutCase are the rails that no case names, each with the reason.
func withoutCase() map[rail.ID]string {
	return map[rail.ID]string{
		rail.AccountUnreconciled: "the paper broker's ledger and ours cannot differ by what an agent sends; the gate's own tests take them apart",
	}
}

// TestEveryRailHasACase holds the list of rails without a case against the cases.
func TestEveryRailHasACase(t *testing.T) {
	cases := loaded(t)
	for _, r := range rail.All() {
		named := slices.ContainsFunc(cases, func(c Case) bool { return slices.Contains(c.Expected(), string(r.ID)) })
		switch reason := withoutCase()[r.ID]; {
		case named && reason != "":
			t.Errorf("%s is said to have no case, and has one", r.ID)
		case !named && reason == "":
			t.Errorf("%s has no case", r.ID)
		}
	}
}

// TestDroppedRailIsAViolation builds the suite with a changed rail.Run that throws one
// rail's answer away, and takes each rail away in turn: every case that names the rail
// must report a violation, and no case when nothing is taken away.
func TestDroppedRailIsAViolation(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the suite again")
	}
	c := exec.CommandContext(t.Context(), builtToDrop(t), "-test.run", "^TestSuiteWithoutARail$", "-test.v")
	c.Env = append(os.Environ(), dropped+"=none")
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestSuiteWithoutARail") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestSuiteWithoutARail runs in the build of TestDroppedRailIsAViolation.
func TestSuiteWithoutARail(t *testing.T) {
	if os.Getenv(dropped) == "" {
		t.Skip("runs where a rail can be dropped")
	}
	cases := loaded(t)
	for i := range cases {
		c := &cases[i]
		t.Setenv(dropped, "none")
		if r := Play(t.Context(), c, options()); !r.OK() {
			t.Errorf("%s: with every rail in place: %v", c.Name, r.Problems)
		}
		for _, id := range c.Expected() {
			if !slices.ContainsFunc(railIDs(), func(known string) bool { return known == id }) {
				continue // an integrity refusal is no rail
			}
			t.Setenv(dropped, id)
			if r := Play(t.Context(), c, options()); r.OK() {
				t.Errorf("%s: without %s nothing is reported", c.Name, id)
			}
		}
	}
}

func railIDs() (out []string) {
	for _, r := range rail.All() {
		out = append(out, string(r.ID))
	}
	return out
}

// builtToDrop builds this package's tests with a rail.Run that heeds the variable.
func builtToDrop(t *testing.T) string {
	t.Helper()
	all, err := filepath.Abs(filepath.Join("..", "rail", "all.go"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(all)
	if err != nil {
		t.Fatal(err)
	}
	const last, imports = "\tif f.Reducing {\n\t\tendTexts(f, out)\n\t}\n", "import \"strings\"\n"
	if strings.Count(string(source), last) != 1 || strings.Count(string(source), imports) != 1 {
		t.Fatal("rail.Run no longer ends as this test expects")
	}
	changed := strings.Replace(string(source), imports, "import (\n\t\"os\"\n\t\"strings\"\n)\n", 1)
	changed = strings.Replace(changed, last, last+
		"\tfor i := range out {\n\t\tif string(out[i].Rail) == os.Getenv(\""+dropped+"\") {\n\t\t\tout[i] = pass(out[i].Rail)\n\t\t}\n\t}\n", 1)
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {all: write("all.go", []byte(changed))}})
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "suite.test")
	c := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", write("overlay.json", overlay), "-o", binary, ".")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("build with a rail to drop: %v\n%s", err, out)
	}
	return binary
}
