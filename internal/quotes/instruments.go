package quotes

import (
	"slices"
	"strings"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// listed is one instrument of the practice market: its symbol and the level, in cents,
// that its price moves about.
type listed struct {
	symbol string
	cents  int64
}

// listing is the practice market, sorted by symbol. The levels are round figures near
// what these shares have traded at; they are not market data.
var listing = [...]listed{
	{"AAPL", 200_00},
	{"ABBV", 185_00},
	{"ADBE", 410_00},
	{"AMD", 150_00},
	{"AMZN", 190_00},
	{"AVGO", 240_00},
	{"BAC", 44_00},
	{"BRK.B", 490_00},
	{"C", 80_00},
	{"CAT", 360_00},
	{"COST", 950_00},
	{"CRM", 270_00},
	{"CSCO", 64_00},
	{"CVX", 150_00},
	{"DIA", 430_00},
	{"DIS", 110_00},
	{"F", 11_00},
	{"GE", 230_00},
	{"GOOG", 171_00},
	{"GOOGL", 170_00},
	{"HD", 370_00},
	{"IBM", 260_00},
	{"INTC", 22_00},
	{"IWM", 215_00},
	{"JNJ", 160_00},
	{"JPM", 270_00},
	{"KO", 70_00},
	{"LLY", 780_00},
	{"MA", 550_00},
	{"MCD", 300_00},
	{"META", 640_00},
	{"MRK", 82_00},
	{"MSFT", 420_00},
	{"NFLX", 1_150_00},
	{"NKE", 66_00},
	{"NVDA", 130_00},
	{"ORCL", 180_00},
	{"PEP", 132_00},
	{"PFE", 25_00},
	{"PG", 162_00},
	{"QCOM", 155_00},
	{"QQQ", 490_00},
	{"SOFI", 14_00},
	{"SPY", 570_00},
	{"T", 27_00},
	{"TSLA", 300_00},
	{"UNH", 330_00},
	{"V", 350_00},
	{"VOO", 525_00},
	{"VZ", 43_00},
	{"WMT", 96_00},
	{"XOM", 110_00},
}

// find returns the place in listing of a symbol, byte for byte.
func find(symbol string) (int, bool) {
	return slices.BinarySearchFunc(listing[:], symbol, func(l listed, s string) int { return strings.Compare(l.symbol, s) })
}

// Symbols returns the symbols of the practice market, sorted.
func Symbols() []string {
	out := make([]string, len(listing))
	for i, l := range listing {
		out[i] = l.symbol
	}
	return out
}

// shipped resolves a symbol of the practice market: a US share in dollars.
func shipped(symbol string) (order.Instrument, bool) {
	if _, ok := find(symbol); !ok {
		return order.Instrument{}, false
	}
	return order.Instrument{
		Symbol: symbol, Class: order.USEquity, Currency: currency,
		Multiplier: money.QuantityFromInt(1), Active: true,
	}, true
}

// currency of all shipped instruments, as ISO 4217 writes it.
const currency = "USD"
