package profile

import (
	"errors"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/strict"
)

const (
	headText = "profile: 1\nid: x\nbroker: X\nread: [get_order]\n"
	sideText = `side: {to: side, type: text, map: {buy: buy}, absent: refuse}`
	goodRule = `result: {from: json, rules: [{has: [id], outcome: accepted, id: id}]}`
)

// deal is a document with one tool, whose lines are given.
func deal(lines ...string) string {
	return headText + "tools:\n  deal:\n    class: order.place\n    " + strings.Join(lines, "\n    ") + "\n"
}

func argued(argument string) string { return deal("args: {"+argument+"}", goodRule) }

// Every refusal of the loader has its place and says what to write.
func TestLoadRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a version that is not known", strings.Replace(headText, "profile: 1", "profile: 2", 1), "1:10: profile: is not a version that is known; write 1"},
		{"a version as a text", strings.Replace(headText, "profile: 1", `profile: "1"`, 1), "profile: is not a version"},
		{"no id", "profile: 1\nbroker: X\nread: [a]\n", "id: is missing"},
		{"an id that is a path", strings.Replace(headText, "id: x", "id: a/b", 1), "2:5: id: is not 1 to 64 letters"},
		{"a word at the top that is not known", headText + "tols: {}\n", "5:1: tols: is not a known key; did you mean tools?"},
		{"no tool at all", "profile: 1\nid: x\nbroker: X\n", "names no tool"},
		{"a tool in two places", headText + "deny: {auth: [get_order]}\n", "names the tool get_order in two places"},
		{"a denied class that reads", headText + "deny: {read: [x]}\n", "deny.read: is not a class"},
		{"an alias", headText + "tools: &t {}\n", "an anchor is not accepted"},
		{"a class that is not known", headText + "tools: {deal: {class: order.plaice}}\n", "class: is not a class that can be mapped"},
		{"no rules for replies", deal("args: {" + sideText + "}"), "result: is missing"},
		{"a key of a tool that is not known", deal("argz: {}", goodRule), "argz: is not a known key; did you mean args?"},
		{"a target that is not known", argued(`a: {to: kwantity, type: integer}`), `to: "kwantity" is not known; did you mean quantity?`},
		{"an argument without a target", argued(`a: {type: text}`), "to: is missing; say what the argument means"},
		{"an argument without a type", argued(`a: {to: none}`), "type: is missing; known are text"},
		{"a quantity without a unit", argued(`a: {to: quantity, type: integer}`), "unit: is missing; known for quantity are shares"},
		{"a unit that does not fit", argued(`a: {to: notional, type: number, unit: shares}`), "unit: does not fit notional"},
		{"a unit where there is none", argued(`a: {to: limit_price, type: number, unit: USD}`), "unit: does not fit limit_price"},
		{"words without a map", argued(`a: {to: side, type: text}`), "map: is missing; list the words that the server takes"},
		{"a word that is not one of ours", argued(`a: {to: side, type: text, map: {B: bye}}`), `map.B: "bye" is not known; did you mean buy?`},
		{"a symbol without a spelling", argued(`a: {to: symbol, type: text}`), "symbol: is missing; name the spellings"},
		{"a spelling that is not known", argued(`a: {to: symbol, type: text, symbol: [ticker]}`), "ticker is not a spelling that is known"},
		{"an id without a form", argued(`a: {to: order_id, type: text}`), "id: is missing; an id without a form could be a path"},
		{"a sign on a price", argued(`a: {to: limit_price, type: number, sign: true}`), "sign: is for a quantity"},
		{"a default that is not written", argued(`a: {to: side, type: text, map: {B: buy}, absent: default}`), "default: goes with absent: default"},
		{"a default that is not in the map", argued(`a: {to: side, type: text, map: {B: buy}, absent: default, default: S}`), "default: is not in the map"},
		{"a side left to the server", argued(`a: {to: side, type: text, map: {B: buy}, absent: none}`), "leaves open what the server does without a"},
		{"a place that keeps", argued(`a: {to: limit_price, type: number, absent: keep}`), "only a replace has something to keep"},
		{"an answer twice", deal(`args: {a: {to: limit_price, type: number}}`, `forbid: {a: "no"}`, goodRule), "gives a two answers"},
		{"an exception without a reason", deal(`forbid: {a: ""}`, goodRule), "gives no reason for a"},
		{"a member of an object that is closed", argued(`a.b: {to: limit_price, type: number}`), "a.b is a member of an object that is not open"},
		{"a condition on no argument", deal(`refuse: [{if: {present: [qyt]}, reason: enum, field: qty}]`, goodRule), "has a condition on qyt, which is no argument here"},
		{"a condition on a word that is not in the map", deal("args: {"+sideText+", q: {to: quantity, type: integer, unit: shares, unit_when: [{if: {is: {side: sel}}, unit: base}]}}", goodRule), "side being sel, which its map does not have"},
		{"a fill of no argument", deal("args: {"+sideText+"}", `fill: [{if: {present: [side]}, argument: x, word: y}]`, goodRule), "writes what x does not take"},
		{"a reason that is not known", deal("args: {"+sideText+"}", `refuse: [{if: {present: [side]}, reason: enumm}]`, goodRule), "did you mean enum?"},
		{"a target fixed and given", deal("args: {"+sideText+"}", "set: {side: buy}", goodRule), "fixes side, which side decides"},
		{"our id in no argument", deal("args: {"+sideText+"}", "inject: {argument: tag, form: uuid}", goodRule), "writes tag, which is no argument here"},
		{"our id without a form", deal(`args: {tag: {to: client_order_id, type: text}}`, "inject: {argument: tag}", goodRule), "inject.form: is missing"},
		{"a lookup by a tool that does not read", deal("args: {"+sideText+"}", "lookup: {tool: deal, arguments: {}, result: {from: json, rules: [{has: [id], outcome: accepted, id: id}]}}", goodRule), "asks a tool that is not one of those that read"},
		{"a lookup without rules", deal("args: {"+sideText+"}", "lookup: {tool: get_order, arguments: {}}", goodRule), "result: is missing; say how the answer is read"},
		{"a list without a match", deal("args: {"+sideText+"}", "lookup: {tool: get_order, arguments: {}, list: orders, result: {from: json, rules: [{has: [id], outcome: accepted, id: id}]}}", goodRule), "has list or match alone"},
		{"a need met by a tool that does not read", deal("args: {"+sideText+"}", "via: deal", goodRule), "via: is not one of the tools that read"},
		{"a reply read nowhere", deal("args: {"+sideText+"}", "result: {rules: [{has: [id], outcome: accepted, id: id}]}"), "from: is missing; name the one place"},
		{"a reply without rules", deal("args: {"+sideText+"}", "result: {from: json, rules: []}"), "rules: is missing"},
		{"a rule without an outcome", deal("args: {"+sideText+"}", "result: {from: json, rules: [{has: [id]}]}"), "outcome: is missing"},
		{"a rule that always holds", deal("args: {"+sideText+"}", "result: {from: json, rules: [{outcome: rejected}]}"), "a rule that matches every reply proves nothing"},
		{"an acceptance without an id", deal("args: {"+sideText+"}", "result: {from: json, rules: [{has: [id], outcome: accepted}]}"), "say where the broker's id stands, or write no_id"},
		{"an acceptance with an id and a reason for none", deal("args: {"+sideText+"}", "result: {from: json, rules: [{has: [id], outcome: accepted, id: id, no_id: x}]}"), "id: is missing"},
		{"a question without its token", deal("args: {"+sideText+"}", "result: {from: json, rules: [{has: [id], outcome: pending_confirmation}]}"), "a question without its token cannot be answered"},
		{"shared rules that are not there", deal("args: {"+sideText+"}", "result: order"), "names no entry of results"},
		{"a change without semantics", headText + "tools: {deal: {class: order.replace, args: {id: {to: order_id, type: text, id: uuid}}, " + goodRule + "}}\n", "semantics: is missing"},
		{"a confirmation without its token", headText + "tools: {deal: {class: order.confirm, " + goodRule + "}}\n", "confirm: is missing"},
		{"a confirmation of no argument", headText + "tools: {deal: {class: order.confirm, confirm: {token: t, issued_by: [deal]}, " + goodRule + "}}\n", "names no argument that is a token"},
		{"a token that no tool issues", headText + "tools: {deal: {class: order.confirm, args: {t: {to: token, type: text, id: hex}}, confirm: {token: t, issued_by: [preview]}, " + goodRule + "}}\n", "preview issues no token"},
		{"a confirmation issued by nothing", headText + "tools: {deal: {class: order.confirm, args: {t: {to: token, type: text, id: hex}}, confirm: {token: t}, " + goodRule + "}}\n", "issued_by: is missing"},
		{"arguments beside forms", deal("args: {"+sideText+"}", "variants: [{if: {present: [side]}, rules: {args: {"+sideText+"}}}]", goodRule), "stands beside variants, which do not inherit it"},
		{"legs without a limit", deal("args: {"+sideText+"}", "legs: {in: legs, max: 99, rules: {}}", goodRule), "max: is not a whole number from 1 to 16"},
		{"an environment without its words", headText + "upstream: {environment: {tool: get_order, path: a}}\n", "needs a path and words beside it"},
		{"a number where a text should be", deal("args: {a: {to: side, type: text, map: {buy: buy}, default: 1, absent: default}}", goodRule), "is not a text in YAML; put it in quotes"},
	} {
		p, err := Load("x.yaml", []byte(c.text))
		if err == nil {
			t.Errorf("%s: loads as %v", c.name, p.Tools())
			continue
		}
		if p != nil {
			t.Errorf("%s: refused, with a profile", c.name)
		}
		found, all := false, errors.Join(err).Error()
		var problems strict.Errors
		if !errors.As(err, &problems) {
			t.Errorf("%s: not errors with places: %v", c.name, err)
		}
		for _, e := range problems {
			found = found || strings.Contains(e.Error(), c.want)
			if e.Line == 0 || e.Column == 0 || e.Name != "x.yaml" {
				t.Errorf("%s: without its place: %v", c.name, e)
			}
		}
		if !found {
			t.Errorf("%s: got\n%s\nwant %q", c.name, all, c.want)
		}
	}
	if _, err := Load("x.yaml", []byte(argued(sideText))); err != nil {
		t.Errorf("the document that all others are made of: %v", err)
	}
}

// The zero values refuse.
func TestFailClosedZeroProfile(t *testing.T) {
	var p Profile
	if _, refusal := p.Read("place_order", []byte(`{}`)); refusal == nil || refusal.Reason != UnknownTool {
		t.Errorf("an empty profile: %v", refusal)
	}
	var r Reading
	if _, refusal := r.Intent(); refusal == nil || r.Forward("x") != nil {
		t.Error("an empty reading is an order")
	}
	if _, ok := r.Lookup("x"); ok {
		t.Error("an empty reading is looked up")
	}
	if proof, known := (Lookup{}).Found(Reply{}); known || proof.Outcome != InDoubt {
		t.Error("an empty lookup finds something")
	}
	var tokens Tokens
	if _, refusal := tokens.Take(r, at(t, 15, 0, 0)); refusal == nil {
		t.Error("an empty token is taken")
	}
	if (&resultRule{}).outcome == Accepted || (Proof{}).Outcome == Accepted {
		t.Error("an empty proof proves")
	}
	if d, known := p.Describe("x"); known || len(d.Forms) > 0 {
		t.Errorf("an empty profile describes %+v", d)
	}
}

func TestLookups(t *testing.T) {
	kite := understood(t, loaded(t, "kite"), "place_order",
		`{"variety":"regular","exchange":"NSE","tradingsymbol":"INFY","transaction_type":"BUY","quantity":1,"product":"CNC","order_type":"MARKET"}`)
	l, ok := kite.Lookup("ours")
	if !ok || l.Tool != "get_orders" {
		t.Fatalf("%+v %v", l, ok)
	}
	own := kite.Injected("ours")
	for name, c := range map[string]struct {
		reply Reply
		want  Outcome
		known bool
	}{
		"there":            {Reply{Texts: []string{`[{"tag":"x","order_id":"1"},{"tag":"` + own + `","order_id":"2","status":"OPEN"}]`}}, Accepted, true},
		"rejected":         {Reply{Texts: []string{`[{"tag":"` + own + `","order_id":"2","status":"REJECTED"}]`}}, Rejected, true},
		"not there":        {Reply{Texts: []string{`[{"tag":"x","order_id":"1"}]`}}, InDoubt, false},
		"there twice":      {Reply{Texts: []string{`[{"tag":"` + own + `","order_id":"2"},{"tag":"` + own + `","order_id":"3"}]`}}, InDoubt, false},
		"no list":          {Reply{Texts: []string{`{"error":"x"}`}}, InDoubt, false},
		"an error":         {Reply{Texts: []string{`[]`}, IsError: true}, InDoubt, false},
		"an id for a text": {Reply{Texts: []string{`[{"tag":["` + own + `"],"order_id":"1"}]`}}, InDoubt, false},
	} {
		if p, known := l.Found(c.reply); p.Outcome != c.want || known != c.known {
			t.Errorf("%s: %+v %v", name, p, known)
		}
	}
	alpaca := understood(t, loaded(t, "alpaca-v2"), "place_stock_order", `{"symbol":"AAPL","side":"buy","qty":"1"}`)
	l, ok = alpaca.Lookup("ours")
	if !ok || string(l.Arguments) != `{"client_order_id":"`+alpaca.Injected("ours")+`"}` {
		t.Fatalf("asks %s", l.Arguments)
	}
	for id, want := range map[string]bool{alpaca.Injected("ours"): true, "another": false} {
		order := `{"data":{"id":"o-1","client_order_id":"` + id + `","status":"accepted","symbol":"AAPL","side":"buy","qty":"1","filled_qty":"0"}}`
		if p, known := l.Found(Reply{Structured: []byte(order)}); known != want {
			t.Errorf("asked for ours, answered with %s: %+v", id, p)
		}
	}
	if _, ok := kite.Lookup(""); ok {
		t.Error("an order without an id of ours is looked up")
	}
}
