package order

import "fmt"

// The words below are the ones that tools, the limits document and the journal use.
var (
	actionWords = [...]string{"", "new", "replace", "cancel"}
	sideWords   = [...]string{"", "buy", "sell"}
	typeWords   = [...]string{"", "limit", "market", "stop", "stop_limit"}
	tifWords    = [...]string{"", "day", "gtc", "ioc", "gtd"}
	classWords  = [...]string{"", "us_equity", "us_option", "crypto", "future", "forex"}
)

// UnknownWordError says that a text is not one of a closed list of words.
type UnknownWordError struct {
	Kind string   // what was being read, such as "side"
	Know []string // the words that would have been understood
}

func (e *UnknownWordError) Error() string {
	return fmt.Sprintf("%s is not one of %v", e.Kind, e.Know)
}

func wordOf(words []string, i uint8) string {
	if int(i) < len(words) {
		return words[i]
	}
	return ""
}

// lookup finds text in words, byte for byte: no case folding, no trimming.
func lookup(kind string, words []string, text string) (uint8, error) {
	if text != "" {
		for i, w := range words {
			if w == text {
				return uint8(i), nil
			}
		}
	}
	return 0, &UnknownWordError{Kind: kind, Know: words[1:]}
}

func marshalWord(kind string, words []string, i uint8) ([]byte, error) {
	if i == 0 || int(i) >= len(words) {
		return nil, &UnknownWordError{Kind: kind, Know: words[1:]}
	}
	return []byte(words[i]), nil
}

func (a Action) String() string      { return wordOf(actionWords[:], uint8(a)) }
func (s Side) String() string        { return wordOf(sideWords[:], uint8(s)) }
func (t Type) String() string        { return wordOf(typeWords[:], uint8(t)) }
func (t TimeInForce) String() string { return wordOf(tifWords[:], uint8(t)) }
func (c AssetClass) String() string  { return wordOf(classWords[:], uint8(c)) }

// ParseAction reads new, replace or cancel.
func ParseAction(text string) (Action, error) {
	i, err := lookup("action", actionWords[:], text)
	return Action(i), err
}

// ParseSide reads buy or sell.
func ParseSide(text string) (Side, error) {
	i, err := lookup("side", sideWords[:], text)
	return Side(i), err
}

// ParseType reads limit, market, stop or stop_limit.
func ParseType(text string) (Type, error) {
	i, err := lookup("order_type", typeWords[:], text)
	return Type(i), err
}

// ParseTimeInForce reads day, gtc, ioc or gtd.
func ParseTimeInForce(text string) (TimeInForce, error) {
	i, err := lookup("time_in_force", tifWords[:], text)
	return TimeInForce(i), err
}

// ParseAssetClass reads us_equity, us_option, crypto, future or forex.
func ParseAssetClass(text string) (AssetClass, error) {
	i, err := lookup("asset_class", classWords[:], text)
	return AssetClass(i), err
}

// MarshalText writes the word; the zero action is an error.
func (a Action) MarshalText() ([]byte, error) { return marshalWord("action", actionWords[:], uint8(a)) }

// UnmarshalText reads the word, byte for byte.
func (a *Action) UnmarshalText(b []byte) (err error) { *a, err = ParseAction(string(b)); return err }

// MarshalText writes the word; the empty word for no side (a cancel has none).
func (s Side) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word, byte for byte; the empty word is no side.
func (s *Side) UnmarshalText(b []byte) (err error) {
	if len(b) == 0 {
		*s = SideNone
		return nil
	}
	*s, err = ParseSide(string(b))
	return err
}

// MarshalText writes the word; the empty word for no type (a cancel has none).
func (t Type) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads the word, byte for byte; the empty word is no type.
func (t *Type) UnmarshalText(b []byte) (err error) {
	if len(b) == 0 {
		*t = TypeNone
		return nil
	}
	*t, err = ParseType(string(b))
	return err
}

// MarshalText writes the word; the empty word for none (a cancel has none).
func (t TimeInForce) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads the word, byte for byte; the empty word is none.
func (t *TimeInForce) UnmarshalText(b []byte) (err error) {
	if len(b) == 0 {
		*t = TimeInForceNone
		return nil
	}
	*t, err = ParseTimeInForce(string(b))
	return err
}

// MarshalText writes the word; the empty word for an unknown class.
func (c AssetClass) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the word, byte for byte; the empty word is an unknown class.
func (c *AssetClass) UnmarshalText(b []byte) (err error) {
	if len(b) == 0 {
		*c = ClassNone
		return nil
	}
	*c, err = ParseAssetClass(string(b))
	return err
}
