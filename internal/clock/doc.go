// Package clock reads the clocks that orders are judged by: the machine's own
// (System), the paper broker's practice clock (Practice), and one that only moves
// when told to (Virtual).
//
// A reading holds the wall clock and the boot-time clock together, because neither
// can be trusted alone: the wall clock may be set by anyone, and the boot-time clock,
// which also runs while the machine sleeps, means nothing across a restart. The boot
// id says which readings may be compared.
package clock
