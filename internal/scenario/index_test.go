package scenario

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// casesInAll is how many cases were collected. None is dropped silently.
const casesInAll = 170

// TestEveryCaseIsTestedOrAccountedFor reads the index of the cases and goes to each
// place that it names.
func TestEveryCaseIsTestedOrAccountedFor(t *testing.T) {
	t.Parallel()
	index := rows(t, "INDEX.md")
	notHere := rows(t, "NOT_HERE.md")
	if len(index) != casesInAll {
		t.Errorf("the index has %d cases, want %d", len(index), casesInAll)
	}
	scenarios := 0
	for id, place := range index {
		_, absent := notHere[id]
		file := filepath.Join(casesFolder, id+".yaml")
		_, err := os.Stat(file)
		if absent != (place == "not here") {
			t.Errorf("%s: the index says %q, NOT_HERE.md disagrees", id, place)
		}
		if (err == nil) != (place == "scenario") {
			t.Errorf("%s: the index says %q, and the file %s: %v", id, place, file, err)
		}
		switch place {
		case "not here":
			if len(notHere[id]) < len("some reason") {
				t.Errorf("%s: no reason why it is not here", id)
			}
		case "scenario":
			scenarios++
		default:
			text, err := os.ReadFile(filepath.Join("../..", strings.Trim(place, "`")))
			if err != nil || !names(string(text), id) {
				t.Errorf("%s: %s does not name it: %v", id, place, err)
			}
		}
	}
	for id := range notHere {
		if index[id] == "" {
			t.Errorf("%s is in NOT_HERE.md and not in the index", id)
		}
	}
	files, err := filepath.Glob(filepath.Join(casesFolder, "*-*.yaml"))
	if err != nil || len(files) != scenarios {
		t.Errorf("%d files of cases, %d scenarios in the index: %v", len(files), scenarios, err)
	}
}

// names reports whether a text bears an id, as IDN-03 or, in the name of a test, IDN03.
func names(text, id string) bool {
	return strings.Contains(text, id) || strings.Contains(text, strings.ReplaceAll(id, "-", ""))
}

// rows are the cases of a table, with what its second column says.
func rows(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(casesFolder, file))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([A-Z]{3}-\d\d) \| (.+) \|$`).FindAllStringSubmatch(string(text), -1) {
		if _, twice := out[m[1]]; twice {
			t.Errorf("%s: %s stands twice", file, m[1])
		}
		out[m[1]] = m[2]
	}
	return out
}

// TestShippedScenarios runs every case and every example.
func TestShippedScenarios(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{casesFolder, "../../examples"} {
		files, err := find([]string{folder})
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				shipped(t, file)
			})
		}
	}
}

func shipped(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), "# ") {
		t.Error("does not begin with a line of prose")
	}
	all, err := Load(file, text)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		r, err := Run(t.Context(), all[i], Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Failures {
			t.Errorf("%s:%d: %s: %s", file, f.Line, r.Scenario, f.Text)
		}
		if !slices.Contains(r.Asked, true) && len(all[i].want.positions)+len(all[i].want.figures) == 0 {
			t.Errorf("%s expects nothing", r.Scenario)
		}
	}
}
