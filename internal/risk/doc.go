// Package risk decides. Decide is a pure function of the account's state, the limits
// in force and the request: it works out the facts once, runs every rail, and
// combines their findings. Nothing short-circuits.
package risk
