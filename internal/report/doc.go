// Package report writes a page that a person looks at: figures, curves against their
// caps, tables and shaded counts, as one HTML file that loads nothing from elsewhere and
// runs no script. The same parts give the same bytes.
package report
