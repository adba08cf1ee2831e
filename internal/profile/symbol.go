package profile

import (
	"slices"
	"strings"

	"github.com/broker-rails/broker-rails/internal/order"
)

// spellings are the ways in which brokers write an instrument.
func spellings() []string {
	return []string{
		"us_equity",       // BRK.B
		"us_equity_space", // BRK B
		"us_equity_slash", // BRK/B
		"us_suffix",       // AAPL.US, and 700.HK as HK:700
		"us_prefix",       // US.AAPL, and HK.00700 as HK:00700
		"us_underscore",   // AAPL_US_EQ
		"occ",             // AAPL250321C00150000
		"occ_padded",      // AAPL  250321C00150000
		"pair_slash",      // BTC/USD
		"pair_dash",       // BTC-USD
		"pair_joined",     // BTCUSDT
		"swap_dash",       // BTC-USDT-SWAP
		"coin",            // BTC
		"venue",           // INFY, of a venue that another argument names
	}
}

// spelled is what a text names.
type spelled struct{ symbol, class, currency string }

// spell reads a text by one spelling. Letters of shares are raised, nothing else is
// changed: a text that does not fit is no symbol.
func spell(rule, s string) (out spelled, ok bool) {
	switch rule {
	case "us_equity":
		return share(s, '.')
	case "us_equity_space":
		return share(s, ' ')
	case "us_equity_slash":
		return share(s, '/')
	case "us_suffix":
		i := strings.LastIndexByte(s, '.')
		return ofMarket(s, i, func() (string, string) { return s[:i], s[i+1:] })
	case "us_prefix":
		i := strings.IndexByte(s, '.')
		return ofMarket(s, i, func() (string, string) { return s[i+1:], s[:i] })
	case "us_underscore":
		if root, found := strings.CutSuffix(s, "_US_EQ"); found {
			return share(root, '.')
		}
	case "occ":
		return occ(s)
	case "occ_padded":
		if len(s) == 21 && !strings.Contains(strings.TrimRight(s[:6], " "), " ") {
			return occ(strings.TrimRight(s[:6], " ") + s[6:])
		}
	case "pair_slash":
		return pair(strings.Cut(s, "/"))
	case "pair_dash":
		return pair(strings.Cut(s, "-"))
	case "pair_joined":
		return joined(s)
	case "swap_dash":
		if root, found := strings.CutSuffix(s, "-SWAP"); found {
			out, ok = pair(strings.Cut(root, "-"))
			out.symbol, out.class = out.symbol+":SWAP", "derivative"
			return out, ok
		}
	case "coin":
		if upper(s, 1, 10) {
			return spelled{symbol: coin(s), class: "crypto"}, true
		}
	case "venue":
		if len(s) <= 40 && s != "" && !strings.ContainsFunc(s, func(c rune) bool {
			return (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '&' && c != '-'
		}) && s[0] != '-' && s[0] != '&' {
			return spelled{symbol: s}, true
		}
	}
	return spelled{}, false
}

// share reads a share of one to five letters, with a class of one letter after sep.
func share(s string, sep byte) (spelled, bool) {
	b := []byte(s)
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	root := b
	if n := len(b); n >= 3 && b[n-2] == sep {
		if !upper(string(b[n-1:]), 1, 1) {
			return spelled{}, false
		}
		root = b[:n-2]
		b[n-2] = '.'
	}
	if !upper(string(root), 1, 5) {
		return spelled{}, false
	}
	return spelled{symbol: string(b), class: "equity", currency: "USD"}, true
}

func ofMarket(s string, at int, parts func() (root, market string)) (spelled, bool) {
	if at <= 0 || at == len(s)-1 {
		return spelled{}, false
	}
	root, market := parts()
	switch market {
	case "US":
		return share(root, '.')
	case "HK":
		if len(root) <= 5 && digits(root) {
			return spelled{symbol: "HK:" + root, class: "equity", currency: "HKD"}, true
		}
	case "SH", "SZ":
		if len(root) == 6 && digits(root) {
			return spelled{symbol: market + ":" + root, class: "equity", currency: "CNY"}, true
		}
	case "SG":
		if len(root) <= 5 && (digits(root) || upper(root, 1, 5)) {
			return spelled{symbol: "SG:" + root, class: "equity", currency: "SGD"}, true
		}
	}
	return spelled{}, false
}

// occ reads the 21 characters of the Options Symbology Initiative without the padding:
// root, year, month, day, C or P, strike in thousandths.
func occ(s string) (spelled, bool) {
	n := len(s) - 15
	if n < 1 || n > 6 || !upper(s[:n], 1, 6) || !digits(s[n:n+6]) || !digits(s[n+7:]) || s[n+6] != 'C' && s[n+6] != 'P' {
		return spelled{}, false
	}
	if month, day := s[n+2:n+4], s[n+4:n+6]; month < "01" || month > "12" || day < "01" || day > "31" {
		return spelled{}, false
	}
	return spelled{symbol: s, class: "option", currency: "USD"}, true
}

func quoteCurrencies() []string { return []string{"USDT", "USDC", "USD", "EUR", "GBP", "BTC", "ETH"} }

func pair(base, quote string, found bool) (spelled, bool) {
	if !found || !upper(base, 2, 10) || !slices.Contains(quoteCurrencies(), quote) {
		return spelled{}, false
	}
	return spelled{symbol: coin(base) + "/" + quote, class: "crypto", currency: quote}, true
}

func joined(s string) (spelled, bool) {
	for _, q := range quoteCurrencies() {
		if base, found := strings.CutSuffix(s, q); found && upper(base, 2, 10) {
			return pair(base, q, true)
		}
	}
	return spelled{}, false
}

// coin writes a coin in its one spelling: XBT is BTC.
func coin(s string) string {
	if s == "XBT" {
		return "BTC"
	}
	return s
}

func upper(s string, low, high int) bool {
	return len(s) >= low && len(s) <= high && !strings.ContainsFunc(s, func(c rune) bool { return c < 'A' || c > 'Z' })
}

func digits(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return c < '0' || c > '9' })
}

// symbol reads a text by the spellings that an argument may have.
func (a *argument) symbol(s, asset string) (spelled, Reason) {
	for _, rule := range a.spelling {
		if out, ok := spell(rule, s); ok {
			if asset != "" && out.class != "" && out.class != asset {
				return out, AssetClassMismatch
			}
			return out, ""
		}
	}
	switch {
	case s == "" || len(s) > 2*order.SymbolBytesMax && !isUUID(s):
		return spelled{}, IdentifierFormat
	case isUUID(s):
		return spelled{}, OpaqueID
	}
	// It may be an instrument of another class: say so, for the tool decides nothing.
	for _, rule := range []string{"occ", "occ_padded", "pair_slash", "us_equity"} {
		if out, ok := spell(rule, s); ok && asset != "" && out.class != asset {
			return out, AssetClassMismatch
		}
	}
	return spelled{}, SymbolFormat
}
