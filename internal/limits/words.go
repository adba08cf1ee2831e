package limits

import (
	"slices"
	"strconv"

	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/strict"
)

// How many symbols a list, and the overrides, may hold.
const (
	SymbolsMax   = 10_000
	OverridesMax = 1_000
)

var modeWords = [...]string{"", "paper", "live"}

func (m TradingMode) String() string {
	if int(m) < len(modeWords) {
		return modeWords[m]
	}
	return ""
}

// quoted writes text of the document into a message.
func quoted(s string) string { return strconv.Quote(printable(s)) }

// plainText returns a text, refusing what YAML reads as something else unquoted.
func plainText(n *node) (string, complaint) {
	switch {
	case n.Null:
		return "", nullComplaint
	case n.Shape != strict.Scalar:
		return "", complaint{Problem: "is not a text", At: n}
	case !n.IsText():
		return "", complaint{Problem: quoted(n.Text) + " is not a text in YAML", Hint: "put it in quotes", At: n}
	}
	return n.Text, complaint{}
}

// identifier is a text of 1 to most bytes in which each byte is in the set.
func identifier(most int, form, pattern string, allowed func(c byte) bool) figure[string] {
	return figure[string]{
		kind: KindText, schema: `{"type":"string","pattern":"` + pattern + `"}`,
		read: func(n *node) (string, complaint) {
			text, c := plainText(n)
			if c.Found() {
				return "", c
			}
			if len(text) == 0 || len(text) > most {
				return "", complaint{Problem: "is not " + form}
			}
			if !isAlnum(text[0]) {
				return "", complaint{Problem: "is not " + form}
			}
			for i := range len(text) {
				if !allowed(text[i]) {
					return "", complaint{Problem: "is not " + form}
				}
			}
			return text, complaint{}
		},
		write:  appendText,
		effect: changed[string],
	}
}

func changed[T comparable](before, after T) Effect {
	if before == after {
		return Same
	}
	return Changes
}

// appendText writes a text whose bytes need no escape in JSON.
func appendText(b []byte, s string) []byte { return append(append(append(b, '"'), s...), '"') }

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlnum(c byte) bool { return isUpper(c) || isDigit(c) || c >= 'a' && c <= 'z' }

func accountID() figure[string] {
	f := identifier(64, "1 to 64 letters, digits and . _ : -, beginning with a letter or digit", `^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$`,
		func(c byte) bool { return isAlnum(c) || c == '.' || c == '_' || c == ':' || c == '-' })
	read := f.read
	f.read = func(n *node) (string, complaint) {
		text, c := read(n)
		if !c.Found() && lower(text) == offWord {
			return "", complaint{Problem: "cannot be off", Hint: "write the account's id"}
		}
		return text, c
	}
	return f
}

func currency() figure[string] {
	f := identifier(3, "a currency code of three capital letters", `^[A-Z]{3}$`, isUpper)
	read := f.read
	f.read = func(n *node) (string, complaint) {
		text, c := read(n)
		if !c.Found() && len(text) != 3 {
			return "", complaint{Problem: "is not a currency code of three capital letters"}
		}
		return text, c
	}
	return f
}

// oneOf is a text out of a closed list, kept as a small number.
func oneOf[T word]() figure[T] {
	words := wordsOf[T]()
	return figure[T]{
		kind: KindWord, schema: `{"enum":` + string(appendTexts(nil, words)) + `}`,
		read: func(n *node) (T, complaint) {
			i, c := wordIndex(n, words)
			return T(i + 1), c
		},
		write:  func(b []byte, v T) []byte { return appendText(b, words[v-1]) },
		effect: changed[T],
	}
}

func wordIndex(n *node, words []string) (int, complaint) {
	text, c := plainText(n)
	if c.Found() {
		return 0, c
	}
	i := slices.Index(words, text)
	if i < 0 {
		c = complaint{Problem: quoted(text) + " is not known", At: n}
		if near := nearest(text, words); near != "" {
			c.Hint = "did you mean " + near + "?"
		} else {
			c.Hint = "known are " + string(appendTexts(nil, words))
		}
		return 0, c
	}
	return i, complaint{}
}

// calendar is a text, but only calendars that exist are accepted.
func calendar() figure[string] {
	known := []string{"XNYS"}
	return figure[string]{
		kind: KindWord, schema: `{"enum":["XNYS"]}`,
		read: func(n *node) (string, complaint) {
			i, c := wordIndex(n, known)
			if c.Found() {
				return "", c
			}
			return known[i], c
		},
		write:  appendText,
		effect: changed[string],
	}
}

func version() figure[int] {
	f := count(1, 1)
	f.kind, f.direction, f.schema = KindVersion, DirectionNone, `{"enum":[1,"1"]}`
	f.effect = changed[int]
	read := f.read
	f.read = func(n *node) (int, complaint) {
		v, c := read(n)
		if c.Found() && !n.Null {
			return 0, complaint{Problem: "is not a version that is known", Hint: "write 1"}
		}
		return v, c
	}
	return f
}

func flag(d Direction) figure[bool] {
	return figure[bool]{
		kind: KindFlag, direction: d, schema: `{"type":"boolean"}`,
		read: func(n *node) (bool, complaint) {
			switch {
			case n.Null:
				return false, nullComplaint
			case n.Shape == strict.Scalar && !n.Quoted && n.Text == "true":
				return true, complaint{}
			case n.Shape == strict.Scalar && !n.Quoted && n.Text == "false":
				return false, complaint{}
			}
			return false, complaint{Problem: "is neither true nor false", Hint: "write true or false, without quotes"}
		},
		write: strconv.AppendBool,
		effect: func(before, after bool) Effect {
			switch {
			case before == after:
				return Same
			case after == (d == TrueTightens):
				return Tightens
			}
			return Loosens
		},
	}
}

// word is a closed list of words that counts from one.
type word interface {
	~uint8
	String() string
}

func wordsOf[T word]() (words []string) {
	for v := T(1); v.String() != ""; v++ {
		words = append(words, v.String())
	}
	return words
}

// listOf is a list without repeats, kept sorted.
func listOf[T word]() figure[[]T] {
	words := wordsOf[T]()
	return figure[[]T]{
		kind: KindWords, direction: FewerTightens, schema: listSchema(`{"enum":` + string(appendTexts(nil, words)) + `}`),
		read: func(n *node) ([]T, complaint) {
			if c := isList(n); c.Found() {
				return nil, c
			}
			all := make([]T, 0, len(words))
			for _, item := range n.Values {
				i, c := wordIndex(item, words)
				switch {
				case c.Found():
					return nil, inList(c, item)
				case slices.Contains(all, T(i+1)):
					return nil, complaint{Problem: "lists " + words[i] + " twice", At: item}
				}
				all = append(all, T(i+1))
			}
			slices.Sort(all)
			return all, complaint{}
		},
		write: func(b []byte, v []T) []byte {
			b = append(b, '[')
			for i, item := range v {
				if i > 0 {
					b = append(b, ',')
				}
				b = appendText(b, words[item-1])
			}
			return append(b, ']')
		},
		effect: func(before, after []T) Effect { return subset(before, after, FewerTightens) },
	}
}

func isList(n *node) complaint {
	switch {
	case n.Null:
		return nullComplaint
	case n.Shape != strict.List:
		return complaint{Problem: "is not a list", Hint: "write [...]; [] allows nothing"}
	}
	return complaint{}
}

// inList gives a complaint about an item the item's own place.
func inList(c complaint, item *node) complaint {
	if c.Problem == nullComplaint.Problem {
		c = complaint{Problem: "holds an item without a value"}
	}
	c.At = item
	return c
}

// subset compares sorted lists as sets.
func subset[T ~uint8 | ~string](before, after []T, d Direction) Effect {
	less, more := false, false
	for _, v := range before {
		_, found := slices.BinarySearch(after, v)
		less = less || !found
	}
	for _, v := range after {
		_, found := slices.BinarySearch(before, v)
		more = more || !found
	}
	switch {
	case less && more:
		return Changes
	case less == more:
		return Same
	case less == (d == FewerTightens):
		return Tightens
	}
	return Loosens
}

func symbols(d Direction) figure[[]string] {
	return figure[[]string]{
		kind: KindSymbols, direction: d, schema: listSchema(symbolSchema),
		read: func(n *node) ([]string, complaint) {
			if c := isList(n); c.Found() {
				return nil, c
			}
			if len(n.Values) > SymbolsMax {
				return nil, complaint{Problem: "lists more than " + strconv.Itoa(SymbolsMax) + " symbols"}
			}
			all := make([]string, 0, len(n.Values))
			for _, item := range n.Values {
				symbol, c := readSymbol(item)
				if c.Found() {
					return nil, inList(c, item)
				}
				all = append(all, symbol)
			}
			slices.Sort(all)
			for i := 1; i < len(all); i++ {
				if all[i] == all[i-1] {
					return nil, complaint{Problem: "lists " + all[i] + " twice"}
				}
			}
			return all, complaint{}
		},
		write:  appendTexts,
		effect: func(before, after []string) Effect { return subset(before, after, d) },
	}
}

// readSymbol reads one symbol in its one spelling: upper case, folded in ASCII only, and
// a share class after a dot, so that BRK-B in a list binds an order for BRK.B.
func readSymbol(n *node) (string, complaint) {
	text, c := plainText(n)
	if c.Found() {
		return "", c
	}
	const form = "is not a symbol: 1 to 32 letters, digits and . / -, beginning with a letter or digit"
	if len(text) == 0 || len(text) > order.SymbolBytesMax || !isAlnum(text[0]) {
		return "", complaint{Problem: quoted(text) + " " + form}
	}
	b := []byte(text)
	for i, c := range b {
		switch {
		case c >= 'a' && c <= 'z':
			b[i] = c - 'a' + 'A'
		case !isAlnum(c) && c != '.' && c != '/' && c != '-':
			return "", complaint{Problem: quoted(text) + " " + form}
		}
	}
	order.DotShareClass(b)
	return string(b), complaint{}
}

func appendTexts(b []byte, texts []string) []byte {
	b = append(b, '[')
	for i, t := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, t)
	}
	return append(b, ']')
}

// reserved is a list that must stay empty in this version.
func reserved() figure[[]string] {
	return figure[[]string]{
		kind: KindReserved, schema: `{"type":"array","maxItems":0}`,
		read: func(n *node) ([]string, complaint) {
			if c := isList(n); c.Found() {
				return nil, c
			}
			if len(n.Values) > 0 {
				return nil, complaint{Problem: "is not empty", Hint: "nothing can be held for a person in this version; write []"}
			}
			return []string{}, complaint{}
		},
		write:  appendTexts,
		effect: func(_, _ []string) Effect { return Same },
	}
}
