package profile

import (
	"slices"
	"strings"
)

// ruleset is how one tool, or one form of it, is read.
type ruleset struct {
	tool     string
	class    Class
	asset    string // class of instrument that the tool is for; empty: any that the spelling gives
	args     []argument
	ignore   []named
	forbid   []named
	secret   []string
	force    []forced
	set      []Word // targets that the tool itself fixes
	fill     []fill
	refuse   []refusal
	open     []string // objects whose members are arguments, by dotted names
	json     []string // texts that hold JSON, read as open objects
	variants []variant
	legs     *list
	basket   *list
	standing bool
	semantic string // of a replace: patch or full
	via      string // the read tool that meets the need
	confirm  *confirm
	inject   inject
	result   *result
	lookup   *lookup
}

// argument is one argument of a tool and what it says.
type argument struct {
	name     string
	to       string
	kind     string
	words    []Word
	fallback string // the server's own default, spelled as an argument
	absent   string // refuse, default, keep or none
	nullable bool   // null is the same as absent
	unit     string
	units    []unitRule
	spelling []string
	id       string
	sign     bool // the side is the sign
}

type named struct{ name, reason string }

type forced struct {
	name string
	to   *value
}

type fill struct {
	when condition
	name string
	word string
}

type refusal struct {
	when   condition
	reason Reason
	field  string
}

type unitRule struct {
	when condition
	unit string
}

type variant struct {
	when  condition
	rules *ruleset
}

type list struct {
	in    string
	most  int
	rules *ruleset
}

type confirm struct {
	token string   // the argument
	by    []string // tools that issue it
	bind  []string // arguments that must be those of the preview
}

type inject struct {
	name       string
	form       string // uuid, alnum20, alnum32, plain
	idempotent bool   // the server refuses or returns the same order for the same id
}

type lookup struct {
	tool      string
	arguments *value // texts $client_order_id, $order_id, $symbol and $account are replaced
	list      string // path of a list to search; empty: the answer is the order
	match     string // in the list: the member that holds our id
	result    *result
}

// condition is over the arguments' texts after defaults: all parts must hold.
type condition struct {
	is         []oneOf
	present    []string
	presentAny []string
	absent     []string
}

// oneOf is an argument and the words that it may have.
type oneOf struct {
	name  string
	words []string
}

func (c *condition) holds(of func(name string) (text string, given bool)) bool {
	for _, w := range c.is {
		text, given := of(w.name)
		if !given || !slices.Contains(w.words, text) {
			return false
		}
	}
	for _, n := range c.present {
		if _, given := of(n); !given {
			return false
		}
	}
	for _, n := range c.absent {
		if _, given := of(n); given {
			return false
		}
	}
	if len(c.presentAny) == 0 {
		return true
	}
	return slices.ContainsFunc(c.presentAny, func(n string) bool { _, given := of(n); return given })
}

// opens reports whether a name is that of a member of an open object, or of one that
// stands in a text.
func (rs *ruleset) opens(name string) bool {
	head, _, nested := strings.Cut(name, ".")
	return nested && (slices.Contains(rs.open, head) || slices.Contains(rs.json, head))
}

// names reports whether an argument gives a target.
func (rs *ruleset) names(to string) bool {
	return slices.ContainsFunc(rs.args, func(a argument) bool { return a.to == to })
}

func (rs *ruleset) argument(name string) *argument {
	for i := range rs.args {
		if rs.args[i].name == name {
			return &rs.args[i]
		}
	}
	return nil
}

// known returns every name that the ruleset has an answer for, sorted.
func (rs *ruleset) known() []string {
	var all []string
	add := func(name string) {
		if name, _, _ = strings.Cut(name, "."); name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	for _, a := range rs.args {
		add(a.name)
	}
	for _, n := range slices.Concat(rs.ignore, rs.forbid) {
		add(n.name)
	}
	for _, f := range rs.force {
		add(f.name)
	}
	for _, n := range slices.Concat(rs.secret, rs.open, rs.json) {
		add(n)
	}
	for _, l := range []*list{rs.legs, rs.basket} {
		if l != nil {
			add(l.in)
		}
	}
	for _, v := range rs.variants {
		for _, n := range v.rules.known() {
			add(n)
		}
	}
	slices.Sort(all)
	return all
}

// Closed words of the language.
func targets() []string {
	return []string{
		"symbol", "asset_class", "venue", "currency", "side", "effect", "order_type", "time_in_force", "session", "product",
		"order_class", "quantity", "notional", "percent", "target", "limit_price", "stop_price", "trail_amount",
		"trail_percent", "net_price", "client_order_id", "order_id", "token", "account", "environment", "expire_at",
		"raw_id", "reduce", "ratio", "take_profit.limit_price", "stop_loss.stop_price", "stop_loss.limit_price", "none",
	}
}

func kinds() []string {
	return []string{"text", "decimal", "decimal_text", "number", "integer", "flag"}
}

// canonical are the words that a target with a closed list may have; nil: any text.
func canonical(to string) []string {
	switch to {
	case "asset_class":
		return []string{"equity", "option", "crypto", "derivative", "commodity", "future"}
	case "side":
		return []string{"buy", "sell", "sell_short", "buy_to_cover"}
	case "effect":
		return []string{"open", "close"}
	case "order_type":
		return []string{"market", "limit", "stop", "stop_limit", "trailing"}
	case "time_in_force":
		return []string{"day", "gtc", "ioc", "fok", "gtd", "opg", "cls"}
	case "session":
		return []string{"regular", "extended", "overnight", "after_market"}
	case "order_class":
		return []string{"simple", "bracket", "oto", "oco", "multileg"}
	case "environment":
		return []string{"paper", "live"}
	case "reduce":
		return []string{"true", "false"}
	}
	return nil
}
