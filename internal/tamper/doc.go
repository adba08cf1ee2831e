// Package tamper forges copies of a journal in the ways that someone could who owns its
// file, or its key too, and runs every defence against each forgery. What it tells is
// what the defences said: it knows what each should catch only to say so when one does
// not. It proves the product and is on no path of an order; the journal that it is given
// is read and never changed.
package tamper
