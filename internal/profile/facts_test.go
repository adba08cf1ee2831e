package profile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/profiles"
)

// known are the facts of one tool, from the server's own schema, code or documentation.
type known struct {
	Class     string
	Arguments []string
	Required  []string
	Types     map[string]string
	Defaults  map[string]any
	Enums     map[string][]any
}

func facts(t *testing.T) (out map[string]map[string]known) {
	t.Helper()
	b, err := profiles.Files().ReadFile("vectors/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func loaded(t testing.TB, id string) *Profile {
	t.Helper()
	b, err := profiles.Files().ReadFile(id + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Load(id+".yaml", b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// forms of a tool: the ruleset itself, or each of its variants.
func (rs *ruleset) all() []*ruleset {
	if len(rs.variants) == 0 {
		return []*ruleset{rs}
	}
	var out []*ruleset
	for _, v := range rs.variants {
		out = append(out, v.rules.all()...)
	}
	return out
}

// What is written out where nothing is said is what the server would do; and no argument
// that the server has a default for is left to it where it decides the order.
func TestDefaultsAreTheServers(t *testing.T) {
	compared := 0
	for id, tools := range facts(t) {
		p := loaded(t, id)
		for name, fact := range tools {
			rs := p.ruleset(name)
			if rs == nil {
				continue
			}
			for _, form := range rs.all() {
				for i := range form.args {
					a := &form.args[i]
					theirs, has := fact.Defaults[a.name]
					switch {
					case a.absent == "default" && has && fmt.Sprint(theirs) != a.fallback && !impliedBy(form, a):
						t.Errorf("%s %s %s: %q is written out, the server's default is %v", id, name, a.name, a.fallback, theirs)
					case has && a.absent == "none" && !slices.ContainsFunc(form.set, func(w Word) bool { return w.From == a.to }):
						t.Errorf("%s %s %s: the server's default %v is left to it", id, name, a.name, theirs)
					}
					if has {
						compared++
					}
				}
			}
		}
	}
	if compared < 30 {
		t.Errorf("%d defaults compared", compared)
	}
}

// impliedBy reports whether a form itself leaves one word only: the server's default is
// then not of this form.
func impliedBy(form *ruleset, a *argument) bool {
	return form.legs != nil && a.to == "order_class" && len(a.words) == 1
}

// unread are words of servers that profiles refuse on purpose, with the reason.
func unread() map[string]string {
	return map[string]string{
		"kite variety co":                                              "a cover order has an exit of the broker's own",
		"kite variety iceberg":                                         "sent in parts",
		"kite variety auction":                                         "of a session that is not offered",
		"kite product MTF":                                             "borrows",
		"kite validity TTL":                                            "of a time in force that is not read",
		"ibkr-code-rabi secType OPT":                                   "needs expiry, strike and right, which name a contract that nothing resolves",
		"ibkr-code-rabi tif OPG":                                       "of the opening auction",
		"public instrument_type OPTION":                                "the symbol is of a share",
		"public instrument_type CRYPTO":                                "the symbol is of a share",
		"public time_in_force GTD":                                     "needs a date that is not read",
		"longbridge time_in_force GTD":                                 "needs a date that is not read",
		"longbridge order_type ELO":                                    "of Hong Kong's auctions and odd lots, or trailing",
		"longbridge order_type AO":                                     "of Hong Kong's auctions and odd lots, or trailing",
		"longbridge order_type ALO":                                    "of Hong Kong's auctions and odd lots, or trailing",
		"longbridge order_type ODD":                                    "of Hong Kong's auctions and odd lots, or trailing",
		"longbridge order_type TSLPAMT":                                "of Hong Kong's auctions and odd lots, or trailing",
		"longbridge order_type TSLPPCT":                                "of Hong Kong's auctions and odd lots, or trailing",
		"longbridge order_type SLO":                                    "of Hong Kong's auctions and odd lots, or trailing",
		"robinhood-official time_in_force gfw":                         "ends with the week",
		"robinhood-official time_in_force gfm":                         "ends with the month",
		"robinhood-official type stop_limit":                           "a stop of several legs",
		"robinhood-official type stop_market":                          "a stop of several legs",
		"robinhood-official market_hours regular_curb_hours":           "of a session that is not offered",
		"robinhood-official market_hours regular_curb_overnight_hours": "of a session that is not offered",
	}
}

// Every word that a server lists is mapped, or refused on purpose.
func TestMapsCoverTheServersWords(t *testing.T) {
	compared := 0
	for id, tools := range facts(t) {
		p := loaded(t, id)
		for name, fact := range tools {
			rs := p.ruleset(name)
			if rs == nil {
				continue
			}
			for arg, listed := range fact.Enums {
				var words []string
				for _, w := range listed {
					words = append(words, fmt.Sprint(w))
				}
				var mapped []string
				for _, form := range rs.all() {
					if a := form.argument(arg); a != nil {
						for _, w := range a.words {
							mapped = append(mapped, w.From)
						}
					}
				}
				if mapped == nil {
					continue // ignored, forced or forbidden
				}
				for _, w := range words {
					compared++
					if !slices.Contains(mapped, w) && unread()[id+" "+arg+" "+w] == "" {
						t.Errorf("%s %s %s: %q is neither mapped nor refused on purpose", id, name, arg, w)
					}
				}
				for _, w := range mapped {
					// Alpaca's option tool takes simple; its description names only the other.
					if !slices.Contains(words, w) && w != "simple" {
						t.Errorf("%s %s %s: %q is not in the server's list", id, name, arg, w)
					}
				}
			}
		}
	}
	if compared < 150 {
		t.Errorf("%d words compared", compared)
	}
}

// An argument is read as a type that the server has for it.
func TestTypesAreTheServers(t *testing.T) {
	fits := map[string][]string{
		"text": {"string"}, "decimal_text": {"string"}, "number": {"number", "integer"}, "integer": {"integer", "number"},
		"flag": {"boolean"}, "decimal": {"number", "string", "integer"},
	}
	compared := 0
	for id, tools := range facts(t) {
		p := loaded(t, id)
		for name, fact := range tools {
			rs := p.ruleset(name)
			if rs == nil {
				continue
			}
			for _, form := range rs.all() {
				for i := range form.args {
					a := &form.args[i]
					theirs := fact.Types[a.name]
					if theirs == "" {
						continue
					}
					compared++
					if !slices.ContainsFunc(strings.Split(theirs, "|"), func(s string) bool { return slices.Contains(fits[a.kind], s) }) {
						t.Errorf("%s %s %s is read as %s, the server takes %s", id, name, a.name, a.kind, theirs)
					}
				}
			}
		}
	}
	if compared < 150 {
		t.Errorf("%d types compared", compared)
	}
}

// Every tool that reaches the market says how its replies are read, and every rule that
// accepts an order says where its id stands or why there is none. Load holds both; this
// holds Load to it for what is shipped.
func TestEveryOrderHasAnAnswer(t *testing.T) {
	for id := range facts(t) {
		for _, rs := range loaded(t, id).tools {
			if !orders(rs.class) {
				continue
			}
			if rs.result == nil && !slices.ContainsFunc(rs.variants, func(v variant) bool { return v.rules.result != nil }) {
				t.Errorf("%s %s reads no reply", id, rs.tool)
				continue
			}
			if rs.result == nil {
				continue
			}
			for _, r := range rs.result.rules {
				if r.outcome == Accepted && r.id == "" && r.noID == "" {
					t.Errorf("%s %s accepts an order without an id", id, rs.tool)
				}
			}
		}
	}
}
