package bound

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/quotes"
)

// SymbolsMax bounds the symbols of one scene: the system has nine choices for each.
const SymbolsMax = 12

// Quote is a symbol with the bid and ask that it keeps for the whole horizon.
type Quote struct {
	Symbol string
	Bid    money.Price
	Ask    money.Price
}

// Scene is what bound and attacker both begin from: a flat account and quotes.
type Scene struct {
	Cash     money.Notional
	Quotes   []Quote
	Calendar market.Calendar
	Opens    time.Time // where the attacker begins: a trade date's regular opening
}

// practiceSeed is the practice market whose quotes at PracticeAt a scene takes where the
// caller names none.
const practiceSeed = 7

// NewScene is a scene of the named symbols, or of all that the document lists, at the
// practice market's opening quotes.
func NewScene(doc *limits.Document, cash money.Notional, symbols []string) (*Scene, error) {
	calendar := market.XNYS()
	date, _ := market.NewTradeDate(2026, time.March, 18)
	opens, _ := calendar.RegularOpen(date)
	s := &Scene{Cash: cash, Calendar: calendar, Opens: opens}
	if len(symbols) == 0 {
		symbols = doc.Instrument.Symbols
	}
	source := quotes.NewPaper(practiceSeed, calendar)
	for _, symbol := range symbols {
		q, err := source.Quote(context.Background(), symbol, opens)
		if err != nil {
			return nil, err
		}
		if !q.Valid() {
			return nil, &SymbolError{symbol}
		}
		if !slices.ContainsFunc(s.Quotes, func(x Quote) bool { return x.Symbol == symbol }) {
			s.Quotes = append(s.Quotes, Quote{symbol, q.Bid, q.Ask})
		}
	}
	return s, s.check()
}

// SymbolError says that the practice market does not quote a symbol.
type SymbolError struct{ Symbol string }

func (e *SymbolError) Error() string {
	return fmt.Sprintf("the practice market has no quote of %s", e.Symbol)
}

// Hint says what to do.
func (e *SymbolError) Hint() string { return "name symbols that it quotes, such as --symbol AAPL" }

// SymbolsError says that a scene has too many symbols.
type SymbolsError struct{ Count int }

func (e *SymbolsError) Error() string {
	return fmt.Sprintf("%d symbols are too many to bound at once, at most %d", e.Count, SymbolsMax)
}

// Hint says what to do.
func (e *SymbolsError) Hint() string {
	return "name some of them with --symbol; the cheapest and the dearest matter most"
}

func (s *Scene) check() error {
	if len(s.Quotes) > SymbolsMax {
		return &SymbolsError{len(s.Quotes)}
	}
	return nil
}

// rat is the exact fraction that a decimal's text stands for.
func rat(x fmt.Stringer) *big.Rat {
	r, ok := new(big.Rat).SetString(x.String())
	if !ok {
		panic("bound: a decimal that is none: " + x.String())
	}
	return r
}

func whole(n int) *big.Rat { return big.NewRat(int64(n), 1) }

func times(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
func over(a, b *big.Rat) *big.Rat  { return new(big.Rat).Quo(a, b) }
func plus(a, b *big.Rat) *big.Rat  { return new(big.Rat).Add(a, b) }
func minus(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }
func neg(a *big.Rat) *big.Rat      { return new(big.Rat).Neg(a) }

// down is the largest multiple of unit that is not above x; unit 0 leaves x.
func down(x, unit *big.Rat) *big.Rat {
	if unit.Sign() == 0 {
		return x
	}
	q := over(x, unit)
	n := new(big.Int).Div(q.Num(), q.Denom()) // Euclidean: downwards
	return times(new(big.Rat).SetInt(n), unit)
}

// up writes x with at most places decimals, rounded upwards.
func up(x *big.Rat, places int) string {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	y := times(x, new(big.Rat).SetInt(scale))
	n := new(big.Int).Neg(new(big.Int).Div(new(big.Int).Neg(y.Num()), y.Denom()))
	return new(big.Rat).SetFrac(n, scale).FloatString(places)
}
