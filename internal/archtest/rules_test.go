package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// loaded is the module, read once for all tests.
var loaded = sync.OnceValues(func() (*Module, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	return Load(root)
})

func TestRules(t *testing.T) {
	m, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Rules() {
		t.Run(r.Name, func(t *testing.T) {
			for _, f := range r.Run(m) {
				t.Errorf("%s\n\t%s", f, r.Reason)
			}
		})
	}
}

// TestEveryPackageIsListed: the list of packages in docs/architecture.md is the tree.
func TestEveryPackageIsListed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "\ninternal/\n")
	list, _, _ = strings.Cut(list, "\nverify ")
	var listed []string
	for _, m := range regexp.MustCompile(`(?m)^    ([^\s,]+(?:, [^\s,]+)*)`).FindAllStringSubmatch(list, -1) {
		listed = append(listed, strings.Split(m[1], ", ")...)
	}
	var there []string
	for _, pattern := range []string{"*", "*/*"} {
		for rel := range sources(t, pattern) {
			if dir, _, _ := strings.Cut(rel, "/testdata"); !slices.Contains(there, filepath.ToSlash(filepath.Dir(dir))) {
				there = append(there, filepath.ToSlash(filepath.Dir(dir)))
			}
		}
	}
	for _, dir := range there {
		if !slices.Contains(listed, dir) {
			t.Errorf("docs/architecture.md does not list internal/%s", dir)
		}
	}
	for _, dir := range listed {
		if !slices.Contains(there, dir) {
			t.Errorf("docs/architecture.md lists internal/%s, which is not there", dir)
		}
	}
}
