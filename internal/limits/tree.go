package limits

import "github.com/broker-rails/broker-rails/internal/strict"

// What Load returns for a document that it refuses is the strict reader's to make.
type (
	// Error is one problem of a document, with its place.
	Error = strict.Error
	// Errors is what Load returns for a document that it refuses.
	Errors = strict.Errors
)

type (
	node      = strict.Tree
	complaint = strict.Complaint
	problems  = strict.Problems
)

// OverTree is Over for a part of a text that was read already; problems have their
// place in that text.
func OverTree(base *Document, name string, t *strict.Tree) (*Document, error) {
	d := *base
	w := &walker{d: &d, nodes: make([]*node, len(table)), p: problems{Name: printable(name)}, partial: true}
	w.document(t)
	return w.finish()
}

func nearest(text string, known []string) string { return strict.Nearest(text, known) }
func lower(s string) string                      { return strict.Lower(s) }
func printable(s string) string                  { return strict.Printable(s) }
