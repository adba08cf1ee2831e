package limits

import "github.com/broker-rails/broker-rails/internal/strict"

// What the strict reader calls its parts, as this package's callers know them.
type (
	// Error is one problem of a document, with its place.
	Error = strict.Error
	// Errors is what Load returns for a document that it refuses.
	Errors = strict.Errors
	// Tree is one value of a strictly read text.
	Tree = strict.Tree
	// Shape says what a tree is.
	Shape = strict.Shape
)

// Limits of a text, and the shapes of its values.
const (
	ProblemsMax = strict.ProblemsMax
	DepthMax    = strict.DepthMax
	Scalar      = strict.Scalar
	Mapping     = strict.Mapping
	List        = strict.List
)

type (
	node      = strict.Tree
	place     = strict.Place
	complaint = strict.Complaint
	problems  = strict.Problems
)

// ReadTree reads one document of YAML or JSON as Load does, for documents that stand
// beside the limits. Duplicate keys are the reader's to refuse. Errors are those of Load.
func ReadTree(name string, text []byte) (*Tree, error) { return strict.Read(name, text) }

// OverTree is Over for a part of a text that was read already; problems have their
// place in that text.
func OverTree(base *Document, name string, t *Tree) (*Document, error) {
	d := *base
	w := &walker{d: &d, nodes: make([]*node, len(table)), p: problems{Name: printable(name)}, partial: true}
	w.document(t)
	return w.finish()
}

// Nearest returns the known name that was probably meant; empty if none is close.
func Nearest(text string, known []string) string { return strict.Nearest(text, known) }

func nearest(text string, known []string) string { return strict.Nearest(text, known) }
func lower(s string) string                      { return strict.Lower(s) }
func printable(s string) string                  { return strict.Printable(s) }
