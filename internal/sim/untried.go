package sim

import (
	"fmt"
	"math/big"
	"strings"
)

// triedFrom is the part of a limit, one half, from which a peak counts as having tried it.
const triedFrom = 2

// Untried are the checks whose peak stayed below half of their limit: that such a limit
// held says little about it. An agent that runs out of cash first never gets there.
func (r *Report) Untried() (out []Check) {
	for _, c := range r.Checks {
		limit, ok := new(big.Rat).SetString(c.Cap)
		if !ok {
			continue // no figure, or none that was read
		}
		peak, ok := new(big.Rat).SetString(c.Peak)
		if !ok || peak.Mul(peak, big.NewRat(triedFrom, 1)).Cmp(limit) < 0 {
			out = append(out, c.Check)
		}
	}
	return out
}

// ChecksNote says how to read the table of checks, for people.
func (r *Report) ChecksNote() string {
	note := fmt.Sprintf("Checked is how often, and peak the most that was recorded; the limit of open orders has room for %d more that only reduce.", ExitSlots)
	far := r.Untried()
	if len(far) == 0 {
		return note
	}
	names := make([]string, len(far))
	for i, c := range far {
		names[i] = words(string(c))
	}
	return note + " This run came less than half way to the limit of " + strings.Join(names, ", ") + ": that it held says little."
}

// DatesNote says how to read the table of trade dates, for people.
func (r *Report) DatesNote() string {
	return "Orders that reduce a position count towards the day's limit and are never refused by it, so a date may end a little above it."
}
