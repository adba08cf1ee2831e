// Package lint says what a limits document really allows: which rails can never be the
// one that refuses, with the arithmetic; for every other rail a shortest scenario in
// which it alone denies, run through the real gate; and which positions can be opened and
// not closed.
//
// The search is pure and takes no chances: for each rail a list of stories is built from
// the document's own figures, at the limit and one step beyond it, put in order by steps,
// then by what the story begins with, then by units ordered, and played until one ends
// with that denial and no other. A claim of never is only made by a proof that holds for
// every price, quantity and state; a rail with neither is reported as not decided.
//
// Nothing in it is part of the serving path. It stands above scenario, which is why it
// does not stand in limits.
package lint
