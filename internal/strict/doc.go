// Package strict reads documents that operators write, YAML or JSON, so that a text means
// what it looks like: nothing is converted, guessed or left out, and every problem has its
// place. It is pure; what a document says is its own package's business.
package strict
