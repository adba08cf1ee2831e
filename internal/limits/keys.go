package limits

import (
	"strings"

	"github.com/broker-rails/broker-rails/internal/strict"
)

// Kind says what a key's value is made of.
type Kind uint8

// Kinds of value.
const (
	KindNone              Kind = iota
	KindVersion                // the number 1
	KindText                   // an identifier
	KindWord                   // one of a closed list of words
	KindWords                  // a list of such words
	KindSymbols                // a list of symbols
	KindFlag                   // true or false
	KindSwitch                 // on or off
	KindCount                  // a whole number
	KindQuantity               // decimal, in units
	KindNotional               // decimal, in the document's currency
	KindPercent                // decimal, in hundredths
	KindBasisPoints            // decimal, in ten-thousandths
	KindDuration               // a whole number and ms, s, m or h
	KindPriceStep              // us_equity or a decimal, in currency per unit
	KindTimeWindow             // from and to, as HH:MM
	KindDenialStorm            // denials and window
	KindRepeatedExecution      // cycles and window
	KindReserved               // an empty list
	KindOverrides              // symbols with sections of their own
)

var kindWords = [...]string{
	"", "version", "text", "word", "words", "symbols", "flag", "switch", "count", "quantity", "notional",
	"percent", "basis points", "duration", "price step", "time window", "denial storm",
	"repeated execution", "reserved", "overrides",
}

func (k Kind) String() string {
	if int(k) < len(kindWords) {
		return kindWords[k]
	}
	return ""
}

// Direction says which way a key's value moves to allow less. For every key that
// can be off, off allows the most.
type Direction uint8

// Directions.
const (
	DirectionNone    Direction = iota // neither way is tighter: account, mode
	LowerTightens                     // maxima and bands
	HigherTightens                    // minima and look-back windows
	FalseTightens                     // allow_*
	TrueTightens                      // require_*, and a switch that is on
	FewerTightens                     // allow lists
	MoreTightens                      // deny lists
	NarrowerTightens                  // hours
	CoarserTightens                   // steps: a multiple of the old one is tighter
	SoonerTightens                    // counts within a window: fewer, or a longer window
	EachKeyTightens                   // overrides: by the keys inside
)

var directionWords = [...]string{
	"none", "lower", "higher", "false", "true", "fewer", "more", "narrower", "coarser", "sooner", "by its keys",
}

func (d Direction) String() string {
	if int(d) < len(directionWords) {
		return directionWords[d]
	}
	return ""
}

// Key is one key of the document, as the docs and the schema show it.
type Key struct {
	Path      string // dotted, such as size.max_order_qty
	Kind      Kind
	Direction Direction
	Off       bool   // the word off is accepted
	PerSymbol bool   // an override under symbols may tighten it
	Shipped   string // its value in the shipped document, as YAML
	About     string // one line, with the unit
}

// Section returns the part of the path before the dot; empty for a key of the
// document itself.
func (k Key) Section() string {
	section, _, found := strings.Cut(k.Path, ".")
	if !found {
		return ""
	}
	return section
}

// Name returns the last part of the path.
func (k Key) Name() string {
	if _, name, found := strings.Cut(k.Path, "."); found {
		return name
	}
	return k.Path
}

// Keys returns every key, in the order of the shipped document.
func Keys() []Key {
	keys := make([]Key, len(table))
	for i := range table {
		keys[i] = table[i].Key
	}
	return keys
}

// row is one key with all that the package does with it. The functions reach one
// field of a document; an override is read into a document of its own.
type row struct {
	Key
	section, name string
	schema        string // JSON schema of the value, without off
	read          func(*Document, *node) complaint
	write         func(*Document, []byte) []byte // appends the canonical JSON value
	set           func(*Document) bool           // false: an override did not name it
	off           func(*Document) bool
	copy          func(to, from *Document)
	effect        func(before, after *Document) Effect
}

// at completes a row with its place in the document.
func (r row) at(path, shipped, about string) row {
	r.Path, r.Shipped, r.About = path, shipped, about
	r.section, r.name = r.Key.Section(), r.Key.Name()
	return r
}

// perSymbol marks a row that overrides may tighten.
func (r row) perSymbol() row { r.PerSymbol = true; return r }

// figure is how one kind of value is read, written and compared.
type figure[T any] struct {
	kind      Kind
	direction Direction
	schema    string
	read      func(*node) (T, complaint)
	write     func([]byte, T) []byte
	effect    func(before, after T) Effect
}

// plain makes a row of a field that cannot be off.
func plain[T any](f figure[T], field func(*Document) *T) row {
	return row{
		Key:    Key{Kind: f.kind, Direction: f.direction},
		schema: f.schema,
		read: func(d *Document, n *node) (c complaint) {
			*field(d), c = f.read(n)
			return c
		},
		write:  func(d *Document, b []byte) []byte { return f.write(b, *field(d)) },
		set:    func(*Document) bool { return true },
		off:    func(*Document) bool { return false },
		copy:   func(to, from *Document) { *field(to) = *field(from) },
		effect: func(before, after *Document) Effect { return f.effect(*field(before), *field(after)) },
	}
}

// limit makes a row of a field that may be off.
func limit[T any](f figure[T], field func(*Document) *Limit[T]) row {
	return row{
		Key:    Key{Kind: f.kind, Direction: f.direction, Off: true},
		schema: f.schema,
		read: func(d *Document, n *node) (c complaint) {
			l := field(d)
			*l = Limit[T]{Set: true}
			if n.Shape == strict.Scalar && n.Text == offWord {
				return complaint{}
			}
			l.Value, c = f.read(n)
			l.On = !c.Found()
			return c
		},
		write: func(d *Document, b []byte) []byte {
			if l := field(d); l.On {
				return f.write(b, l.Value)
			}
			return append(b, `"off"`...)
		},
		set:  func(d *Document) bool { return field(d).Set },
		off:  func(d *Document) bool { return !field(d).On },
		copy: func(to, from *Document) { *field(to) = *field(from) },
		effect: func(before, after *Document) Effect {
			a, b := field(before), field(after)
			switch {
			case !a.On && !b.On:
				return Same
			case !a.On:
				return Tightens
			case !b.On:
				return Loosens
			}
			return f.effect(a.Value, b.Value)
		},
	}
}

const offWord = "off"

// stopPriceSide is the one limit with no figure: on or off.
func stopPriceSide() row {
	r := limit(figure[bool]{
		kind: KindSwitch, direction: TrueTightens, schema: `{"const":"on"}`,
		read: func(n *node) (bool, complaint) {
			if n.Shape == strict.Scalar && n.Text == "on" {
				return true, complaint{}
			}
			return false, complaint{Problem: "is neither on nor off", Hint: "write on or off"}
		},
		write:  func(b []byte, _ bool) []byte { return append(b, `"on"`...) },
		effect: func(_, _ bool) Effect { return Same },
	}, func(d *Document) *Limit[bool] { return &d.Collar.StopPriceSide })
	return r
}
