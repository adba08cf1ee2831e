package lint

import (
	"fmt"
	"slices"
	"strings"
)

// story is a scenario as it is made up: what it begins with, and its steps. Its text is
// a scenario file.
type story struct {
	at        string // RFC 3339; empty: the scenario language's own beginning
	over      string // sections laid over the limits when the story begins, as YAML
	listed    []string
	cash      string
	equity    string // at the open; empty: what the account is worth at the first quotes
	today     int
	turnover  string // notional of today
	positions []string
	open      []string
	quotes    []string
	steps     []string
	units     number // of all orders in steps
	last      ask    // the order asked about
	how       string // what is so when it is asked about, where the order does not show it
}

// when says what is so.
func (s story) when(how string) story { s.how = how; return s }

// words tell people the order that is denied, and when.
func (s *story) words() string {
	text := s.last.words()
	switch {
	case text == "":
		return s.how
	case s.how == "":
		return text
	}
	return text + ", " + s.how
}

// with returns the story with one more step.
func (s story) with(step string) story {
	s.steps = append(slices.Clone(s.steps), step)
	return s
}

func (s story) placed(o ask) story {
	s.units, s.last = s.units.plus(o.quantity), o
	return s.with("order: {" + o.text() + "}")
}

// passes is placed, with the expectation that the order is allowed.
func (s story) passes(o ask) story {
	s.units = s.units.plus(o.quantity)
	return s.with("order: {" + o.text() + "}\n    expect: allowed")
}

func (s story) quoted(symbol, quote string) story {
	s.quotes = append(slices.Clone(s.quotes), symbol+": {"+quote+"}")
	return s
}

func (s story) holding(symbol string, quantity number) story {
	others := slices.DeleteFunc(slices.Clone(s.positions), func(p string) bool { return strings.HasPrefix(p, symbol+": ") })
	s.positions = append(others, fmt.Sprintf("%s: %q", symbol, quantity))
	return s
}

func (s story) working(id string, o ask) story {
	s.open = append(slices.Clone(s.open), fmt.Sprintf("{id: %s, symbol: %s, side: %s, quantity: %q, limit_price: %q}", id, o.symbol, o.side, o.quantity, o.limit))
	return s
}

// begins counts what a reader has to take in before the first step.
func (s *story) begins() int {
	n := len(s.positions) + len(s.open) + len(s.listed)
	for _, given := range []string{s.over, s.equity, s.turnover} {
		if given != "" {
			n++
		}
	}
	if s.today > 0 {
		n++
	}
	return n
}

// shorter is the order in which stories are tried.
func shorter(a, b story) int {
	for _, c := range [...]int{len(a.steps) - len(b.steps), a.begins() - b.begins(), a.units.cmp(b.units)} {
		if c != 0 {
			return c
		}
	}
	return 0
}

// header names the limits that the story runs under.
func (s *story) limits() string {
	if s.over == "" {
		return "limits: limits.yaml\n"
	}
	return "limits: {over: limits.yaml, " + s.over + "}\n"
}

// text writes the scenario file; the last step expects what is given.
func (s *story) text(name, about, expect string) string {
	var b strings.Builder
	for line := range strings.Lines(about) {
		b.WriteString("# " + strings.TrimRight(line, "\n") + "\n")
	}
	fmt.Fprintf(&b, "name: %s\n%s", name, s.limits())
	if s.at != "" {
		fmt.Fprintf(&b, "at: %s\n", s.at)
	}
	if len(s.listed) > 0 {
		fmt.Fprintf(&b, "instruments: {%s}\n", strings.Join(s.listed, ", "))
	}
	account := []string{fmt.Sprintf("cash: %q", s.cash)}
	if s.equity != "" {
		account = append(account, fmt.Sprintf("equity_at_open: %q", s.equity))
	}
	if s.today > 0 {
		account = append(account, fmt.Sprintf("orders_today: %d", s.today))
	}
	if s.turnover != "" {
		account = append(account, fmt.Sprintf("notional_today: %q", s.turnover))
	}
	if len(s.positions) > 0 {
		account = append(account, "positions: {"+strings.Join(s.positions, ", ")+"}")
	}
	fmt.Fprintf(&b, "account:\n  %s\n", strings.Join(account, "\n  "))
	if len(s.open) > 0 {
		fmt.Fprintf(&b, "  open_orders:\n    - %s\n", strings.Join(s.open, "\n    - "))
	}
	if len(s.quotes) > 0 {
		fmt.Fprintf(&b, "quotes: {%s}\n", strings.Join(s.quotes, ", "))
	}
	b.WriteString("steps:\n")
	for i, step := range s.steps {
		fmt.Fprintf(&b, "  - %s\n", step)
		if i == len(s.steps)-1 && expect != "" {
			fmt.Fprintf(&b, "    expect: %s\n", expect)
		}
	}
	return b.String()
}

// ask is one order.
type ask struct {
	symbol, side, kind, tif string
	quantity                number
	limit, stop             number // not set: none
	extended                bool
	id                      string
}

func (o ask) text() string {
	t := fmt.Sprintf("symbol: %s, side: %s, order_type: %s, quantity: %q", o.symbol, o.side, o.kind, o.quantity)
	if o.kind == "limit" || o.kind == "stop_limit" {
		t += fmt.Sprintf(", limit_price: %q", o.limit.money())
	}
	if o.kind == "stop" || o.kind == "stop_limit" {
		t += fmt.Sprintf(", stop_price: %q", o.stop.money())
	}
	t += ", time_in_force: " + o.tif
	if o.extended {
		t += ", extended_hours: true"
	}
	if o.id != "" {
		t += ", client_order_id: " + o.id
	}
	return t
}

// words tell the order to people.
func (o ask) words() string {
	if o.symbol == "" {
		return ""
	}
	text := o.side + " " + o.quantity.String() + " " + o.symbol
	if o.kind == "limit" || o.kind == "stop_limit" {
		text += " at " + o.limit.money()
	}
	if o.kind == "stop" || o.kind == "stop_limit" {
		text += " from " + o.stop.money()
	}
	if o.kind != "limit" {
		text += ", " + o.kind
	}
	return text
}

// locked is a quote whose both sides stand at one price.
func locked(p number) string { return fmt.Sprintf("bid: %q, ask: %q", p.money(), p.money()) }

func between(bid, ask number) string {
	return fmt.Sprintf("bid: %q, ask: %q", bid.money(), ask.money())
}
