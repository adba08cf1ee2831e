package profile

import (
	"slices"
	"strings"

	"github.com/broker-rails/broker-rails/internal/strict"
)

// whole checks what the keys of a tool come to together.
func (r *loader) whole(f strict.Fields, rs, outer *ruleset) {
	answersOnce(f, rs, outer)
	conditioned(f, rs)
	sources(f, rs)
	r.elsewhere(f, rs)
	if len(rs.variants) > 0 {
		wholeForms(f, rs)
		return
	}
	switch {
	case outer == nil && orders(rs.class) && rs.result == nil:
		f.Refuse("result", "is missing", "without one every reply would leave the order in doubt")
	case rs.class == Replace && rs.semantic == "":
		f.Refuse("semantics", "is missing", "write patch when what is not said stays, full when it does not")
	case rs.class == Confirm && rs.confirm == nil:
		f.Refuse("confirm", "is missing", "say which argument is the token, and which tools issue it")
	}
}

// answersOnce refuses an argument that stands in two places, and an exception without a reason.
func answersOnce(f strict.Fields, rs, outer *ruleset) {
	var seen []string
	for i := range rs.args {
		seen = append(seen, rs.args[i].name)
	}
	for _, n := range slices.Concat(rs.ignore, rs.forbid) {
		seen = append(seen, n.name)
		if n.reason == "" {
			f.Refuse("ignore", "gives no reason for "+strict.Printable(n.name), "write why nothing depends on it")
		}
	}
	for _, n := range rs.force {
		seen = append(seen, n.name)
	}
	seen = append(seen, rs.secret...)
	slices.Sort(seen)
	for i := 1; i < len(seen); i++ {
		if seen[i] == seen[i-1] {
			f.Refuse("args", "gives "+strict.Printable(seen[i])+" two answers", "an argument is mapped, ignored, forced, forbidden or secret")
		}
	}
	for _, name := range seen {
		if strings.Contains(name, ".") && !rs.opens(name) && (outer == nil || !outer.opens(name)) {
			f.Refuse("args", strict.Printable(name)+" is a member of an object that is not open", "write the object under open, or under json when it is a text")
		}
	}
}

// answered reports whether a ruleset or one of its forms has an answer for a name, or for
// a member of it.
func (rs *ruleset) answered(name string) bool {
	all := []string{rs.inject.name}
	for i := range rs.args {
		all = append(all, rs.args[i].name)
	}
	for _, n := range slices.Concat(rs.ignore, rs.forbid) {
		all = append(all, n.name)
	}
	for _, n := range rs.force {
		all = append(all, n.name)
	}
	for _, l := range []*list{rs.legs, rs.basket} {
		if l != nil {
			all = append(all, l.in)
		}
	}
	return slices.ContainsFunc(all, func(n string) bool { return n == name || strings.HasPrefix(n, name+".") }) ||
		slices.ContainsFunc(rs.variants, func(v variant) bool { return v.rules.answered(name) })
}

// conditioned refuses conditions over what is no argument: they would never hold, and what they
// refuse would pass.
func conditioned(f strict.Fields, rs *ruleset) {
	check := func(key string, c *condition) {
		names := slices.Concat(c.present, c.presentAny, c.absent)
		for _, w := range c.is {
			names = append(names, w.name)
			a := rs.argument(w.name)
			for _, word := range w.words {
				// A word that no map has is refused anyway; a rule may give a better reason.
				if key != "refuse" && a != nil && len(a.words) > 0 && !slices.ContainsFunc(a.words, func(w Word) bool { return w.From == word }) {
					f.Refuse(key, "has a condition on "+strict.Printable(w.name)+" being "+strict.Printable(word)+", which its map does not have", "")
				}
			}
		}
		for _, n := range names {
			if !rs.answered(n) {
				f.Refuse(key, "has a condition on "+strict.Printable(n)+", which is no argument here", "")
			}
		}
	}
	for i := range rs.fill {
		check("fill", &rs.fill[i].when)
		a := rs.argument(rs.fill[i].name)
		if a == nil || len(a.words) > 0 && !slices.ContainsFunc(a.words, func(w Word) bool { return w.From == rs.fill[i].word }) {
			f.Refuse("fill", "writes what "+strict.Printable(rs.fill[i].name)+" does not take", "name an argument, and a word of its map")
		}
	}
	for i := range rs.refuse {
		check("refuse", &rs.refuse[i].when)
	}
	for i := range rs.args {
		for j := range rs.args[i].units {
			check("args", &rs.args[i].units[j].when)
		}
	}
	for i := range rs.variants {
		check("variants", &rs.variants[i].when)
	}
	if rs.inject.name != "" && len(rs.variants) == 0 {
		bare := *rs
		bare.inject = inject{}
		if !bare.answered(rs.inject.name) {
			f.Refuse("inject", "writes "+strict.Printable(rs.inject.name)+", which is no argument here", "")
		}
	}
}

// sources refuses a target that the tool fixes and an argument decides as well. An argument
// may decide it where the tool's own word is what the server does without it.
func sources(f strict.Fields, rs *ruleset) {
	fixed := func(to string) bool {
		return slices.ContainsFunc(rs.set, func(w Word) bool { return w.From == to })
	}
	for i := range rs.args {
		a := &rs.args[i]
		switch {
		case fixed(a.to) && a.absent != "none":
			f.Refuse("set", "fixes "+a.to+", which "+strict.Printable(a.name)+" decides", "leave one out")
		case a.absent == "keep" && rs.class != Replace:
			f.Refuse("args", "lets "+strict.Printable(a.name)+" keep what it was", "only a replace has something to keep")
		case a.absent == "none" && !fixed(a.to) && slices.Contains(decided(), a.to):
			// What the server would fill in by itself decides what is sent: it is written out.
			f.Refuse("args", "leaves open what the server does without "+strict.Printable(a.name), "write absent: refuse, or default and the server's default")
		}
	}
}

// decided are targets without which an order is not known.
func decided() []string { return []string{"side", "order_type", "time_in_force", "environment"} }

// elsewhere checks what a tool says of other tools.
func (r *loader) elsewhere(f strict.Fields, rs *ruleset) {
	if rs.via != "" && !slices.Contains(r.readers, rs.via) {
		f.Refuse("via", "is not one of the tools that read", "write it under read too")
	}
	if rs.lookup != nil {
		if !slices.Contains(r.readers, rs.lookup.tool) {
			f.Refuse("lookup", "asks a tool that is not one of those that read", "write it under read too")
		}
		if (rs.lookup.list == "") != (rs.lookup.match == "") {
			f.Refuse("lookup", "has list or match alone", "a list is searched by the member that holds our id")
		}
	}
	if rs.confirm != nil {
		if a := rs.argument(rs.confirm.token); a == nil || a.to != "token" {
			f.Refuse("confirm", "names no argument that is a token", "")
		}
		for _, tool := range rs.confirm.by {
			r.later = append(r.later, func(p *Profile) {
				if by := p.ruleset(tool); by == nil || !by.asks() {
					f.Refuse("confirm", strict.Printable(tool)+" issues no token", "its result needs a rule with the outcome pending_confirmation")
				}
			})
		}
	}
}

// asks reports whether a reply to the tool can be a question with a token.
func (rs *ruleset) asks() bool {
	return rs.result != nil && slices.ContainsFunc(rs.result.rules, func(r resultRule) bool { return r.outcome == PendingConfirmation })
}

// wholeForms refuses what a tool with forms would not be read by: each form says it itself.
func wholeForms(f strict.Fields, rs *ruleset) {
	for _, part := range []struct {
		key   string
		there bool
	}{
		{"args", len(rs.args) > 0}, {"ignore", len(rs.ignore) > 0}, {"forbid", len(rs.forbid) > 0}, {"secret", len(rs.secret) > 0},
		{"force", len(rs.force) > 0}, {"set", len(rs.set) > 0}, {"fill", len(rs.fill) > 0}, {"refuse", len(rs.refuse) > 0},
		{"legs", rs.legs != nil}, {"basket", rs.basket != nil}, {"confirm", rs.confirm != nil},
	} {
		if part.there {
			f.Refuse(part.key, "stands beside variants, which do not inherit it", "write it in each form")
		}
	}
}
