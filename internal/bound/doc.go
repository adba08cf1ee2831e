// Package bound works out the most that an agent set on harm can do under a limits
// document, and how near a simulated attacker comes to it.
//
// The bound and the attacker share the scene, which is cash and quotes, and nothing
// else. The bound knows the document's numbers and arithmetic: every rail that limits
// something is an inequality over what an attacker can choose (system.go), the harm is a
// sum over the same choices, and the largest harm under all inequalities is found in
// fractions of any size, without rounding (simplex.go). What is printed as derivation is
// the proof itself: the inequalities, each times its factor, add up to the bound.
//
// The attacker knows no inequality. It asks risk.Decide, folds what was allowed, and
// keeps what did most harm (attack.go, search.go); its best plans are then run through
// the real gate and the paper broker, and counted on the broker's ledger (rerun.go).
//
// Nothing in it is part of the serving path.
package bound
