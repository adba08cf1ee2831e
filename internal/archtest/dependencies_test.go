package archtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const dependencyList = "docs/dependencies.txt"

// TestDependenciesAreListed holds docs/dependencies.txt to what go.mod asks for and to
// what is built into the binary, on each system that it is built for.
func TestDependenciesAreListed(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, dependencyList))
	if err != nil {
		t.Fatal(err)
	}
	listed, err := readDependencies(string(text))
	if err != nil {
		t.Fatal(err)
	}
	used := directRequirements(t, root)
	for _, system := range []string{"linux", "darwin", "windows"} {
		for module, version := range builtIn(t, root, system) {
			used[module] = version
		}
	}
	for _, problem := range compareDependencies(listed, used) {
		t.Error(problem)
	}
}

func TestADependencyListCanFail(t *testing.T) {
	used := map[string]string{"example.org/a": "v1.0.0"}
	for name, text := range map[string]string{
		"not listed":      "# none\n",
		"another version": "example.org/a v1.0.1 a reason\n",
		"not used":        "example.org/a v1.0.0 a reason\nexample.org/b v1.0.0 a reason\n",
		"no reason":       "example.org/a v1.0.0\n",
		"listed twice":    "example.org/a v1.0.0 a reason\nexample.org/a v1.0.0 a reason\n",
	} {
		listed, err := readDependencies(text)
		if err == nil && len(compareDependencies(listed, used)) == 0 {
			t.Errorf("%s: the list passes", name)
		}
	}
	listed, err := readDependencies("# a comment\n\nexample.org/a v1.0.0 a reason\n")
	if err != nil || len(compareDependencies(listed, used)) > 0 {
		t.Errorf("a right list is refused: %v %v", err, compareDependencies(listed, used))
	}
}

// readDependencies reads lines of a module, its version and why it is there.
func readDependencies(text string) (map[string]string, error) {
	listed := map[string]string{}
	for i, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) < 4 {
			return nil, fmt.Errorf("line %d: write module, version and why", i+1)
		}
		if _, twice := listed[fields[0]]; twice {
			return nil, fmt.Errorf("line %d: %s is listed twice", i+1, fields[0])
		}
		listed[fields[0]] = fields[1]
	}
	return listed, nil
}

func compareDependencies(listed, used map[string]string) []string {
	var problems []string
	for module, version := range used {
		if listed[module] != version {
			problems = append(problems, fmt.Sprintf("%s %s is used; the list says %q", module, version, listed[module]))
		}
	}
	for module := range listed {
		if _, is := used[module]; !is {
			problems = append(problems, module+" is listed and not used")
		}
	}
	slices.Sort(problems)
	return problems
}

// directRequirements are the modules that go.mod names without "// indirect".
func directRequirements(t *testing.T, root string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	direct := map[string]string{}
	for _, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(line)
		if strings.HasPrefix(line, "\t") && len(fields) == 2 {
			direct[fields[0]] = fields[1]
		}
	}
	if len(direct) == 0 {
		t.Fatal("go.mod names no module")
	}
	return direct
}

// builtIn are the modules that the binary is made of.
func builtIn(t *testing.T, root, system string) map[string]string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "./cmd/rails")
	c.Dir = root
	c.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("go list for %s: %v\n%s", system, err, out)
	}
	modules := map[string]string{}
	for _, line := range strings.Split(string(out), "\n") {
		if fields := strings.Fields(line); len(fields) == 2 {
			modules[fields[0]] = fields[1]
		}
	}
	return modules
}
