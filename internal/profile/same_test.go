package profile

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/profiles"
)

func everyProfile(t testing.TB) []*Profile {
	t.Helper()
	names, err := fs.Glob(profiles.Files(), "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var out []*Profile
	for _, name := range names {
		out = append(out, loaded(t, strings.TrimSuffix(name, ".yaml")))
	}
	return out
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// holds checks what must be true of every call that has a reading: what goes on reads as
// the very same order, and goes on unchanged; it holds no name that the profile has no
// answer for, none twice, and no null.
func holds(t failer, p *Profile, tool string, raw []byte) (read bool) {
	t.Helper()
	r, refusal := p.Read(tool, raw)
	if refusal != nil {
		if string(r.Forward("x")) != "" || r.Class != "" {
			t.Fatalf("%s %s: refused, with something to send: %s", p.ID, tool, raw)
		}
		return false
	}
	if r.Class == Read {
		return false
	}
	sent := r.Forward("")
	again, refusal := p.Read(tool, sent)
	if refusal != nil {
		t.Fatalf("%s %s: %s goes on as %s, which is refused: %v", p.ID, tool, raw, sent, refusal)
	}
	if !slices.Equal(r.Facts(), again.Facts()) || r.Need != again.Need || r.Class != again.Class {
		t.Fatalf("%s %s: %s was judged as %v and goes on as %s, which says %v", p.ID, tool, raw, r.Facts(), sent, again.Facts())
	}
	if twice := again.Forward(""); string(twice) != string(sent) {
		t.Fatalf("%s %s: %s goes on as %s and then as %s", p.ID, tool, raw, sent, twice)
	}
	v, refusal := decode(sent, ArgumentsBytesMax*2)
	if refusal != nil {
		t.Fatalf("%s %s: what goes on is not JSON: %s", p.ID, tool, sent)
	}
	names, _ := p.Arguments(tool)
	for i, n := range v.names {
		if !slices.Contains(names, n) {
			t.Fatalf("%s %s: %s holds %s, which is not mapped", p.ID, tool, sent, n)
		}
		if v.members[i].kind == 'n' {
			t.Fatalf("%s %s: %s holds null", p.ID, tool, sent)
		}
	}
	own, _ := decode(r.Forward("rails-0001"), ArgumentsBytesMax*2)
	if r.rules.inject.name != "" && own.path(r.rules.inject.name).text != r.Injected("rails-0001") {
		t.Fatalf("%s %s: our id does not go on: %s", p.ID, tool, r.Forward("rails-0001"))
	}
	return true
}

// plausible draws a value that an argument may well have, and now and then one that it may
// not.
func plausible(t *rapid.T, a *argument) *value {
	if rapid.IntRange(0, 39).Draw(t, "odd") == 0 {
		return rapid.SampledFrom([]*value{
			text(""), text("10 "), text("１０"), text("NaN"), text("1e3"), text("../x"), {kind: '0', text: "1E400"}, {kind: '0', text: "-0"},
			{kind: '0', text: "0.1"}, {kind: 't', text: "true"}, {kind: 'n', text: "null"}, {kind: '['}, {kind: '{'}, text("BTC/USD"), text("aapl"),
			text("AAPL250321C00150000"), text(strings.Repeat("9", 30)), {kind: '0', text: "0.123456789012345678901234567890"},
		}).Draw(t, "value")
	}
	if len(a.words) > 0 {
		return a.literal(rapid.SampledFrom(a.words).Draw(t, "word").From)
	}
	switch a.kind {
	case "number", "integer":
		return &value{kind: '0', text: rapid.SampledFrom([]string{"1", "10", "150", "50", "7", "99.5", "0.25", "-3"}).Draw(t, "number")}
	case "flag":
		return rapid.SampledFrom([]*value{{kind: 't', text: "true"}, {kind: 'f', text: "false"}}).Draw(t, "flag")
	case "decimal", "decimal_text":
		return text(rapid.SampledFrom([]string{"1", "10", "150.50", "0.5", "-1.20"}).Draw(t, "decimal"))
	}
	candidates := []string{"61e69015-8549-4bfd-b9c3-01e75843f47d", "123456", "a1B2", "abcdef0123456789", "USD", "2026-12-31"}
	fits := func(s string) bool { return a.id == "" || wellFormed(a.id, s) }
	if a.to == "symbol" {
		candidates = []string{
			"AAPL", "brk.b", "BRK/B", "BRK B", "700.HK", "AAPL.US", "US.AAPL", "AAPL_US_EQ", "AAPL250321C00150000", "AAPL  250321C00150000", "BTC/USD",
			"BTC-USD", "BTCUSDT", "XBTUSD", "BTC-USDT", "BTC-USDT-SWAP", "BTC", "INFY",
		}
		fits = func(s string) bool { _, reason := a.symbol(s, ""); return reason == "" }
	}
	return text(rapid.SampledFrom(slices.DeleteFunc(candidates, func(s string) bool { return !fits(s) })).Draw(t, "text"))
}

func drawn(t *rapid.T, rs *ruleset) *value {
	v := &value{kind: '{'}
	c := &call{rules: rs, object: v}
	for i := range rs.args {
		a := &rs.args[i]
		if a.absent == "refuse" || rapid.IntRange(0, 3).Draw(t, "given") == 0 {
			c.write(a.name, plausible(t, a))
		}
	}
	for _, n := range slices.Concat(rs.ignore, rs.forbid) {
		if rapid.IntRange(0, 9).Draw(t, "other") == 0 {
			c.write(n.name, rapid.SampledFrom([]*value{{kind: 'n', text: "null"}, text("x"), {kind: '0', text: "1"}, {kind: '{'}}).Draw(t, "unread"))
		}
	}
	for _, l := range []*list{rs.legs, rs.basket} {
		if l == nil {
			continue
		}
		items := &value{kind: '['}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			items.members = append(items.members, drawn(t, l.rules))
		}
		v.set(l.in, items)
	}
	return v
}

// Whatever a profile reads, it forwards what it read. Every mapped tool of every profile.
func TestJudgedIsForwarded(t *testing.T) {
	tools, heard := 0, 0
	for _, p := range everyProfile(t) {
		for _, rs := range p.tools {
			tools++
			t.Run(p.ID+" "+rs.tool, func(t *testing.T) {
				read := 0
				rapid.Check(t, func(t *rapid.T) {
					forms := rs.all()
					form := *rapid.SampledFrom(forms).Draw(t, "form")
					form.open, form.json = slices.Concat(rs.open, form.open), slices.Concat(rs.json, form.json)
					if holds(t, p, rs.tool, drawn(t, &form).appendTo(nil)) {
						read++
					}
				})
				if read > 0 {
					heard++
				} else {
					t.Logf("%s %s: no call was read", p.ID, rs.tool)
				}
			})
		}
	}
	if heard < tools*9/10 {
		t.Errorf("of %d tools only %d had a call that was read", tools, heard)
	}
}
