package bound

import (
	"math/big"
	"strings"
)

// Measure is one kind of harm.
type Measure string

// Measures.
const (
	Shares   Measure = "shares"   // units bought and sold
	Exposure Measure = "exposure" // greatest worth of all positions at ask, longs and shorts added
	Turnover Measure = "turnover" // worth of all trades, at the prices they traded at
	Orders   Measure = "orders"   // new orders that reach the broker
	Overpaid Measure = "overpaid" // Σ |price − mid| × units
	Loss     Measure = "loss"     // equity at the beginning less equity at the end
)

// Measures returns all, in the order of the report.
func Measures() []Measure { return []Measure{Shares, Exposure, Turnover, Orders, Overpaid, Loss} }

// objective is a measure as a sum over the choices.
func (s *system) objective(m Measure) map[int]*big.Rat {
	out, one := map[int]*big.Rat{}, whole(1)
	if m == Loss {
		return s.cost(true)
	}
	for i := range s.legs {
		l := &s.legs[i]
		half := over(l.spread(), whole(2))
		switch m {
		case Shares:
			out[l.at+opened], out[l.at+earlyClosed], out[l.at+lateClosed], out[l.at+flipped] = one, one, one, one
		case Exposure:
			out[l.at+opened], out[l.at+earlyClosed], out[l.at+flipped] = l.ask, neg(l.ask), neg(l.ask)
		case Turnover:
			out[l.at+opened], out[l.at+earlyClosed], out[l.at+lateClosed], out[l.at+flipped] = l.in(), l.out(), l.out(), l.out()
			if l.short { // a premium raises what is bought and lowers what is sold
				out[l.at+earlyPremium], out[l.at+latePremium] = one, one
			} else {
				out[l.at+openPremium] = one
			}
		case Orders:
			out[l.at+opens], out[l.at+earlyExits], out[l.at+lateExits] = one, one, one
		case Overpaid:
			out[l.at+opened], out[l.at+earlyClosed], out[l.at+lateClosed], out[l.at+flipped] = half, half, half, half
			out[l.at+openPremium], out[l.at+earlyPremium], out[l.at+latePremium] = one, one, one
		}
	}
	return out
}

// position is the greatest position of one symbol; only its own legs matter, since what
// is done elsewhere only uses up what they share.
func (s *system) position(symbol string, short bool) map[int]*big.Rat {
	out := map[int]*big.Rat{}
	for i := range s.legs {
		if l := &s.legs[i]; l.symbol == symbol && l.short == short {
			out[l.at+opened], out[l.at+earlyClosed], out[l.at+flipped] = whole(1), whole(-1), whole(-1)
		}
	}
	return out
}

func trimmed(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
