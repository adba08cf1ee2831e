package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"

	"github.com/broker-rails/broker-rails/internal/rail"
)

// RailDoc is what a rail's file says of it.
type RailDoc struct {
	rail.Rail
	Summary string // the first sentence, from "denies" on
	Text    string // the paragraphs after the first, but the source
	Source  string // of the rule
}

// RailDocs reads the doc comment of every rail, in the order of rail.All. A rail whose
// file, function, comment or source is not there is an error.
func RailDocs(root string) ([]RailDoc, error) {
	var docs []RailDoc
	for _, r := range rail.All() {
		d, err := railDoc(root, r)
		if err != nil {
			return nil, fmt.Errorf("rail %s: %w", r.ID, err)
		}
		docs = append(docs, d)
	}
	return docs, nil
}

func railDoc(root string, r rail.Rail) (RailDoc, error) {
	name := filepath.Join(root, "internal", "rail", string(r.ID)+".go")
	syntax, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
	if err != nil {
		return RailDoc{}, err
	}
	for _, d := range syntax.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || snake(fn.Name.Name) != string(r.ID) {
			continue
		}
		return readRailDoc(r, fn.Name.Name, fn.Doc.Text())
	}
	return RailDoc{}, fmt.Errorf("no function of that name in %s", filepath.Base(name))
}

func readRailDoc(r rail.Rail, function, comment string) (RailDoc, error) {
	first, rest, _ := strings.Cut(strings.TrimSpace(comment), "\n\n")
	summary, named := strings.CutPrefix(flow(first), function+" ")
	text, source, sourced := strings.Cut(rest, "Source:")
	d := RailDoc{Rail: r, Summary: summary, Text: strings.TrimSpace(text), Source: flow(source)}
	switch {
	case !named || !strings.HasPrefix(summary, "denies "):
		return d, fmt.Errorf("the comment must begin with %q", function+" denies")
	case d.Text == "":
		return d, fmt.Errorf("the comment does not say what it protects against")
	case !sourced || d.Source == "":
		return d, fmt.Errorf("the comment has no Source")
	}
	return d, nil
}

// flow puts a paragraph on one line.
func flow(s string) string { return strings.Join(strings.Fields(s), " ") }
