package archtest_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/archtest"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// withoutRail is the variable that names, in the build made here only, the rail whose
// answer is thrown away.
const withoutRail = "RAIL_REMOVED"

// TestRemovingARailIsNoticed takes each rail away in turn and runs TestEveryRailIsNeeded:
// the row of the rail's name must fail. The product is built once for that, with a
// changed rail.Run in place of the real one.
func TestRemovingARailIsNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the tests again")
	}
	binary := builtWithout(t)
	if out, err := needed(t.Context(), binary, "", "."); err != nil {
		t.Fatalf("with every rail in place: %v\n%s", err, out)
	}
	for _, r := range rail.All() {
		out, err := needed(t.Context(), binary, string(r.ID), "^"+string(r.ID)+"$")
		if err == nil {
			t.Errorf("%s can be removed, and nothing fails", r.ID)
		} else if !strings.Contains(out, "--- FAIL: TestEveryRailIsNeeded/"+string(r.ID)) {
			t.Errorf("%s: something else failed: %v\n%s", r.ID, err, out)
		}
	}
}

func needed(ctx context.Context, binary, removed, row string) (string, error) {
	c := exec.CommandContext(ctx, binary, "-test.run", "^TestEveryRailIsNeeded$/"+row)
	c.Env = append(os.Environ(), withoutRail+"="+removed)
	out, err := c.CombinedOutput()
	return string(out), err
}

// builtWithout builds this package's tests with a rail.Run that leaves out one rail.
func builtWithout(t *testing.T) string {
	t.Helper()
	root, err := archtest.Root()
	if err != nil {
		t.Fatal(err)
	}
	all := filepath.Join(root, "internal", "rail", "all.go")
	text, err := os.ReadFile(all)
	if err != nil {
		t.Fatal(err)
	}
	const last, imports = "\tif f.Reducing {\n\t\tendTexts(f, out)\n\t}\n", "import \"strings\"\n"
	if strings.Count(string(text), last) != 1 || strings.Count(string(text), imports) != 1 {
		t.Fatal("rail.Run no longer ends as this test expects")
	}
	changed := strings.Replace(string(text), imports, "import (\n\t\"os\"\n\t\"strings\"\n)\n", 1)
	changed = strings.Replace(changed, last, last+
		"\tfor i := range out {\n\t\tif string(out[i].Rail) == os.Getenv(\""+withoutRail+"\") {\n\t\t\tout[i] = pass(out[i].Rail)\n\t\t}\n\t}\n", 1)
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {all: write("all.go", []byte(changed))}})
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "needed.test")
	c := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", write("overlay.json", overlay), "-o", binary, "./internal/archtest")
	c.Dir, c.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("build without a rail: %v\n%s", err, out)
	}
	return binary
}
