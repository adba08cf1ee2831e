// Package scenario runs stories about an account through the real gate, journal and
// paper broker, under a virtual clock: rails test. An operator writes one to see what
// the limits do; the project's own cases are the same files.
//
// Nothing in it is part of the serving path. It is a second place, beside the command
// line, where parts are put together, so that what is tested is what serves.
package scenario
