// Package cli is the command line, and the place where a gate is put together from a
// store, a broker, quotes and a clock. It holds no rule of its own: what may pass is
// the gate's to say, and every figure that it prints comes from the journal.
//
// Results go to standard output, everything else to standard error. A command ends
// with one of the codes in exit.go and with at most one line that says what went wrong
// and where, and one that begins with "hint:".
package cli
