package walkthrough

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheDesignNamesTestsThatAreThere: a claim whose test was renamed is a claim alone.
// In the text a package stands before its tests, which may be several.
func TestTheDesignNamesTestsThatAreThere(t *testing.T) {
	text, err := os.ReadFile("../../docs/rail-design.md")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile("`([a-z][a-z/]*)`: |`(Test[A-Za-z]+)`")
	pkg, seen := "", 0
	for _, m := range name.FindAllStringSubmatch(string(text), -1) {
		if m[1] != "" {
			pkg = m[1]
			continue
		}
		if m[2] == "TestFailClosed" { // a prefix, said to be one
			continue
		}
		seen++
		if !declared(t, filepath.Join("../../internal", pkg), m[2]) {
			t.Errorf("docs/rail-design.md names %s of %s, which is not there", m[2], pkg)
		}
	}
	if seen < 30 {
		t.Errorf("only %d tests were found in the text", seen)
	}
}

func declared(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "func "+name+"(") {
			return true
		}
	}
	return false
}
