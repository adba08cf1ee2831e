package archtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/rail"
)

// TestEveryRailIsDocumented holds each rail to its comment, its test and its place in the
// documentation.
func TestEveryRailIsDocumented(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	docs, err := RailDocs(root)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "rails.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) != rail.Count {
		t.Errorf("%d rails are documented, there are %d", len(docs), rail.Count)
	}
	for _, d := range docs {
		if !strings.Contains(string(page), "\n### "+string(d.ID)+"\n") {
			t.Errorf("%s has no entry in docs/rails.md", d.ID)
		}
		test, err := os.ReadFile(filepath.Join(root, "internal", "rail", string(d.ID)+"_test.go"))
		if err != nil {
			t.Errorf("%s has no test file: %v", d.ID, err)
			continue
		}
		for _, status := range []string{"Pass", "Deny"} {
			if !strings.Contains(string(test), status) {
				t.Errorf("the test of %s knows no %s", d.ID, status)
			}
		}
	}
}

func TestARailsCommentCanFail(t *testing.T) {
	const good = "maxX denies an order.\n\nIt protects.\n\nSource: a rule.\n"
	if _, err := readRailDoc(rail.Rail{}, "maxX", good); err != nil {
		t.Fatalf("a whole comment is refused: %v", err)
	}
	for name, bad := range map[string]string{
		"none":       "",
		"no name":    strings.Replace(good, "maxX", "MaxX", 1),
		"no reason":  "maxX denies an order.\n\nSource: a rule.\n",
		"no source":  "maxX denies an order.\n\nIt protects.\n",
		"empty rule": "maxX denies an order.\n\nIt protects.\n\nSource:\n",
	} {
		if _, err := readRailDoc(rail.Rail{}, "maxX", bad); err == nil {
			t.Errorf("%s: the comment passes", name)
		}
	}
}
