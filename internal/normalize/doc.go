// Package normalize turns a raw tool call into an order.Intent, strictly, in one
// place per profile. What it cannot read whole it refuses; but for a symbol, which it
// brings to its one spelling (Symbol), it never repairs, folds case, trims, unwraps or
// guesses. It knows nothing of limits or rails.
package normalize
