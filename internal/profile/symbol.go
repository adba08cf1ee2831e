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
		if code := numbered(root); code != "" {
			return spelled{symbol: "HK:" + code, class: "equity", currency: "HKD"}, true
		}
	case "SH", "SZ":
		if len(root) == 6 && digits(root) {
			return spelled{symbol: market + ":" + root, class: "equity", currency: "CNY"}, true
		}
	case "SG":
		code := root
		if !upper(root, 1, 5) {
			code = numbered(root)
		}
		if code != "" {
			return spelled{symbol: "SG:" + code, class: "equity", currency: "SGD"}, true
		}
	}
	return spelled{}, false
}

// numbered writes the number of a share without the zeros before it: 700 and 00700 are one
// instrument. Empty for what is no number of one to five digits.
func numbered(s string) string {
	if len(s) > 5 || !digits(s) {
		return ""
	}
	return strings.TrimLeft(s, "0")
}

// occ reads the 21 characters of the Options Symbology Initiative without the padding:
// root, year, month, day, C or P, strike in thousandths.
func occ(s string) (spelled, bool) {
	n := len(s) - 15
	if n < 1 || n > 6 || !upper(s[:n], 1, 6) || !digits(s[n:n+6]) || !digits(s[n+7:]) || s[n+6] != 'C' && s[n+6] != 'P' {
		return spelled{}, false
	}
	if !date(s[n:n+6]) || strings.Trim(s[n+7:], "0") == "" {
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

// date reports whether six digits are a year of this century, a month and a day of it.
func date(s string) bool {
	month, day := s[2:4], s[4:]
	switch month {
	case "04", "06", "09", "11":
		return day >= "01" && day <= "30"
	case "02":
		return day >= "01" && day <= "29"
	case "01", "03", "05", "07", "08", "10", "12":
		return day >= "01" && day <= "31"
	}
	return false
}

// otherQuote reports whether a pair may be quoted in a currency that ends like one of
// quoteCurrencies. BTCFDUSD is BTC in FDUSD, not BTCFD in USD, and BTCTUSD may be either;
// but DOTUSD is not DO in TUSD. Kraken's old names have a letter before the currency:
// XXBTZUSD would be a second name of XBTUSD.
func otherQuote(s string) bool {
	for _, q := range []string{"FDUSD", "PYUSD", "RLUSD", "ZUSD", "ZEUR", "ZGBP"} {
		if strings.HasSuffix(s, q) {
			return true
		}
	}
	coins := []string{"BTC", "XBT", "ETH", "SOL", "XRP", "ADA", "BNB", "LTC", "DOGE", "USD", "USDT", "USDC", "EUR"}
	for _, q := range []string{"TUSD", "BUSD", "GUSD", "SUSD", "LUSD", "CUSD", "AEUR", "WBTC", "WETH", "BETH", "STETH"} {
		if base, found := strings.CutSuffix(s, q); found && slices.Contains(coins, base) {
			return true
		}
	}
	return false
}

// joined reads a pair without anything between.
func joined(s string) (spelled, bool) {
	if otherQuote(s) {
		return spelled{}, false
	}
	for _, q := range quoteCurrencies() {
		if base, found := strings.CutSuffix(s, q); found && upper(base, 2, 10) {
			return pair(base, q, true)
		}
	}
	return spelled{}, false
}

// coin writes a coin in its one spelling: XBT is BTC, XDG is DOGE.
func coin(s string) string {
	switch s {
	case "XBT":
		return "BTC"
	case "XDG":
		return "DOGE"
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
