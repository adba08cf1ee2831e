package rail

import (
	"fmt"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
)

// pass, off, fault and deny are the only ways that a rail makes its finding. A rail
// builds the texts of a denial after it has decided, so that passing costs nothing.

// noDetail is the detail of a finding that needs none. It is never written to.
//
//archtest:immutable every finding shares it and only reads it
var noDetail Detail

// pass says that the order is within the rail.
func pass(id ID) Finding { return Finding{Rail: id, Status: Pass, Detail: &noDetail} }

// off says that the operator switched the rail off, or that it does not apply to
// this action.
func off(id ID) Finding { return Finding{Rail: id, Status: Off, Detail: &noDetail} }

// fault says that an input which the rail needs is absent or unreadable. missing
// names it in the words of the documentation, such as "a quote".
func fault(id ID, missing string) Finding {
	return Finding{
		Rail: id, Status: Fault, Retry: RetryLater,
		Detail: &Detail{Text: "needs " + missing + ", which is absent."},
	}
}

// deny says that the order breaks the rail: what it came to, the operator's number,
// what would pass (empty when no change of this order could), and one sentence of
// our own words.
func deny(id ID, observed, limit, passes, text string, r Retry) Finding {
	return Finding{
		Rail: id, Status: Deny, Retry: r,
		Detail: &Detail{Observed: observed, Limit: limit, Passes: passes, Text: text},
	}
}

// unset is the fault of a rail whose key is not in the document, neither a value nor
// off. Load never gives such a document; one made otherwise must not open a gate.
func unset(id ID, key string) Finding { return fault(id, "the limit "+key) }

// spared reports whether the rails marked X pass this order: it reduces the position,
// or it is a replace that only lowers a quantity.
func (f *Facts) spared() bool { return f.Reducing || f.LowersOnly }

// cents writes a price with at least two decimals, as people write it.
func cents(p money.Price) string {
	text := p.String()
	point := strings.IndexByte(text, '.')
	switch {
	case point < 0:
		return text + ".00"
	case point == len(text)-2:
		return text + "0"
	}
	return text
}

// stepOf is the quantity step in force: the operator's, else one unit.
func stepOf(f *Facts) money.Quantity {
	if step := f.Figures.Size.QuantityStep; step.On && step.Value.IsPositive() {
		return step.Value
	}
	return money.QuantityFromInt(1)
}

// priceStepAt is the price step in force at a price: the operator's, else the smallest
// that any price has.
//
// Source: Regulation NMS rule 612 (17 CFR 242.612): 0.01, and 0.0001 below 1.00.
func priceStepAt(f *Facts, p money.Price) money.Price {
	step := f.Figures.Collar.PriceStep
	if step.On && !step.Value.USEquity && step.Value.Step.IsPositive() {
		return step.Value.Step
	}
	if p.Cmp(money.PriceFromInt(1)) < 0 {
		return subDollarStep
	}
	return dollarStep
}

var (
	dollarStep    = money.MustPrice("0.01")
	subDollarStep = money.MustPrice("0.0001")
)

// beyond writes a duration that is over a bound in whole milliseconds, for a denial. It
// rounds away from zero, so that what is over by less does not read as the bound itself.
func beyond(d time.Duration) string {
	const longest, shortest time.Duration = 1<<63 - 1, -1 << 63
	whole := d.Truncate(time.Millisecond)
	switch {
	case d > whole && whole <= longest-time.Millisecond:
		whole += time.Millisecond
	case d < whole && whole >= shortest+time.Millisecond:
		whole -= time.Millisecond
	}
	return whole.String()
}

// wordList writes the words of a closed list, for a denial.
func wordList[T fmt.Stringer](list []T) string {
	if len(list) == 0 {
		return "none"
	}
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = orNone(w.String())
	}
	return strings.Join(words, ", ")
}

// orNone stands for a word that is not there.
func orNone(word string) string {
	if word == "" {
		return "none"
	}
	return word
}

// lowerMultiple is the largest multiple of step up to q, for a denial; empty if that is
// zero.
func lowerMultiple(q, step money.Quantity) string {
	units, err := money.ParseNotional(q.String())
	if err != nil {
		return ""
	}
	lower, ok := units.LargestQuantity(money.PriceFromInt(1), money.QuantityFromInt(1), step)
	if !ok || !lower.IsPositive() {
		return ""
	}
	return lower.String()
}

// directly ends the text of a denial of a reducing order.
const directly = " It can be closed at the broker directly."

// ending returns directly for a reducing order, and nothing for any other. Run ends
// every denial so; a rail need not.
func (f *Facts) ending() string {
	if f.Reducing {
		return directly
	}
	return ""
}
