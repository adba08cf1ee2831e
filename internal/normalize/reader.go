package normalize

import (
	"unicode/utf8"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// reader takes typed values out of arguments and keeps the first refusal.
type reader struct {
	args    map[string]argument
	refusal *Refusal
}

func (r *reader) refuse(code Code, field, problem string) {
	if r.refusal == nil {
		r.refusal = &Refusal{Code: code, Field: field, Problem: problem}
	}
}

// text takes a string; ok is false when it is absent or refused.
func (r *reader) text(field string, required bool) (string, bool) {
	a, present := r.args[field]
	switch {
	case !present && required:
		r.refuse(ConflictingFields, field, "is missing")
		return "", false
	case !present:
		return "", false
	case a.kind != '"':
		r.refuse(MalformedCall, field, "is not text")
		return "", false
	}
	return a.text, true
}

func word[T any](r *reader, field string, parse func(string) (T, error)) T {
	var zero T
	text, ok := r.text(field, true)
	if !ok {
		return zero
	}
	v, err := parse(text)
	if err != nil {
		r.refuse(MalformedCall, field, "is not one of the words that the tool lists")
		return zero
	}
	return v
}

// symbol takes a symbol in any of its spellings.
func (r *reader) symbol() string {
	text, ok := r.text("symbol", true)
	if !ok {
		return ""
	}
	symbol, ok := Symbol(text)
	if !ok {
		r.refuse(MalformedCall, "symbol", "has a character that no symbol has, or is too long or empty")
		return ""
	}
	return symbol
}

// Symbol brings a symbol to its one spelling: ASCII letters raised, at most 32 bytes
// of letters, digits, dot, dash, slash and colon. A share class of one letter after a
// dash or slash is written with a dot, so that a limit on one spelling binds all.
func Symbol(text string) (string, bool) {
	if len(text) == 0 || len(text) > order.SymbolBytesMax {
		return "", false
	}
	b := []byte(text)
	for i, c := range b {
		switch {
		case 'a' <= c && c <= 'z':
			b[i] = c - 'a' + 'A'
		case 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case (c == '.' || c == '-' || c == '/' || c == ':') && i > 0 && i < len(b)-1:
		default:
			return "", false
		}
	}
	order.DotShareClass(b)
	return string(b), true
}

// number takes a JSON number by its literal text, or a string of the same form.
func (r *reader) number(field string) (string, bool) {
	a, present := r.args[field]
	switch {
	case !present:
		return "", false
	case a.kind == '"' || a.kind == '0':
		return a.text, true
	}
	r.refuse(MalformedCall, field, "is not a number")
	return "", false
}

func (r *reader) quantity(required bool) money.Quantity {
	text, ok := r.number("quantity")
	if !ok {
		if required {
			r.refuse(ConflictingFields, "quantity", "is missing")
		}
		return money.Quantity{}
	}
	q, err := money.ParseQuantity(text)
	if err != nil || !q.IsPositive() {
		r.refuse(InvalidNumber, "quantity", "is not a plain positive decimal")
		return money.Quantity{}
	}
	return q
}

// price takes an optional price; given tells that the argument was there.
func (r *reader) price(field string) (p money.Price, given bool) {
	if _, present := r.args[field]; !present {
		return money.Price{}, false
	}
	text, ok := r.number(field)
	if !ok {
		return money.Price{}, true
	}
	p, err := money.ParsePrice(text)
	if err != nil || !p.IsPositive() {
		r.refuse(InvalidNumber, field, "is not a plain positive decimal")
		return money.Price{}, true
	}
	return p, true
}

func (r *reader) flag(field string) bool {
	a, present := r.args[field]
	switch {
	case !present:
		return false
	case a.kind == 't':
		return true
	case a.kind == 'f':
		return false
	}
	r.refuse(MalformedCall, field, "is not true or false")
	return false
}

func (r *reader) clientOrderID() string {
	text, ok := r.text("client_order_id", false)
	if !ok {
		return ""
	}
	if !plainID(text, order.ClientOrderIDBytesMax, "._:-") {
		r.refuse(MalformedCall, "client_order_id", "is not 1 to 64 of the characters A-Z a-z 0-9 . _ : -")
		return ""
	}
	return text
}

func (r *reader) orderID() string {
	text, ok := r.text("order_id", true)
	if !ok {
		return ""
	}
	if !plainID(text, OrderIDBytesMax, "._:-/*") {
		r.refuse(MalformedCall, "order_id", "is not an order id as get_orders shows it")
		return ""
	}
	return text
}

func plainID(text string, most int, extra string) bool {
	if len(text) == 0 || len(text) > most {
		return false
	}
	for i := range len(text) {
		c := text[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		default:
			ok := false
			for j := range len(extra) {
				ok = ok || extra[j] == c
			}
			if !ok {
				return false
			}
		}
	}
	return true
}

func (r *reader) note() string {
	text, ok := r.text("note", false)
	if !ok {
		return ""
	}
	if utf8.RuneCountInString(text) > NoteCharactersMax {
		r.refuse(MalformedCall, "note", "is longer than 256 characters")
		return ""
	}
	return text
}
