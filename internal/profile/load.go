package profile

import (
	"slices"
	"strings"

	"github.com/broker-rails/broker-rails/internal/strict"
)

// loader reads a profile's document and collects what is wrong with it.
type loader struct {
	strict.Reader
	shared  map[string]*result // replies that several tools share
	readers []string
	later   []func(*Profile) // checks across tools
}

func (r *loader) profile(root *strict.Tree) *Profile {
	f := r.Fields(root, "", "profile", "id", "broker", "upstream", "read", "reads", "deny", "tools", "results")
	if version := f.At("profile"); version == nil || version.Text != "1" || !version.Number {
		f.Refuse("profile", "is not a version that is known", "write 1")
	}
	p := &Profile{ID: f.Need("id"), Broker: f.Need("broker")}
	if p.ID != "" && !plain(p.ID, 64) {
		f.Refuse("id", "is not 1 to 64 letters, digits and - _", "")
	}
	if up := f.At("upstream"); up != nil {
		r.upstream(p, up)
	}
	p.read = f.Texts("read", ToolsMax)
	r.readers = p.read
	r.reads(p, f.At("reads"))
	for _, group := range f.Pairs("deny", ToolsMax) {
		path := "deny." + group.Key
		if !plain(group.Key, 64) || group.Key == string(Read) {
			r.Refuse(group.At, path, "is not a class", "write the class, such as funds.withdraw")
		}
		for _, tool := range r.Texts(group.Value, path, ToolsMax) {
			p.denied = append(p.denied, denial{tool, Class(group.Key)})
		}
	}
	r.shared = map[string]*result{}
	for _, t := range f.Pairs("results", 32) {
		r.shared[t.Key] = r.result(t.Value, "results."+t.Key)
	}
	for _, t := range f.Pairs("tools", ToolsMax) {
		rs := r.ruleset(t.Value, "tools."+t.Key, t.Key, nil)
		p.tools = append(p.tools, rs)
	}
	slices.SortFunc(p.tools, func(a, b *ruleset) int { return strings.Compare(a.tool, b.tool) })
	r.once(p, root)
	for _, check := range r.later {
		check(p)
	}
	return p
}

// once refuses a tool that stands in two places: it would have two answers.
func (r *loader) once(p *Profile, root *strict.Tree) {
	all := p.Tools()
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			r.Refuse(root, "", "names the tool "+strict.Printable(all[i])+" in two places", "a tool is read, denied or mapped")
		}
	}
	if len(all) == 0 {
		r.Refuse(root, "", "names no tool", "a profile that names no tool refuses every call; leave it out")
	}
}

func (r *loader) upstream(p *Profile, t *strict.Tree) {
	f := r.Fields(t, "upstream", "servers", "prefixes", "environment")
	p.Servers, p.Prefixes = f.Texts("servers", 16), f.Texts("prefixes", 16)
	if f.At("environment") == nil {
		return
	}
	e := r.Fields(f.At("environment"), "upstream.environment", "value", "argument", "tool", "path", "words")
	p.Environment = Environment{
		Value: e.Word("value", "paper", "live"), Argument: e.Text("argument"),
		Tool: e.Text("tool"), Path: e.Text("path"), Words: r.words(e, "words", []string{"paper", "live"}),
	}
	if (p.Environment.Tool == "") != (p.Environment.Path == "") || p.Environment.Tool != "" && len(p.Environment.Words) == 0 {
		e.Refuse("tool", "needs a path and words beside it", "")
	}
}

// words reads a closed map; known limits its values, nil does not.
func (r *loader) words(f strict.Fields, key string, known []string) []Word {
	var out []Word
	for _, p := range f.Pairs(key, 256) {
		var to string
		if known == nil {
			to = r.Text(p.Value, f.Path(key)+"."+p.Key)
		} else {
			to = r.Word(p.Value, f.Path(key)+"."+p.Key, known...)
		}
		out = append(out, Word{p.Key, to})
	}
	return out
}

func rulesetKeys() []string {
	return []string{
		"class", "asset", "args", "ignore", "forbid", "secret", "force", "set", "fill", "refuse", "open", "json",
		"variants", "legs", "basket", "standing", "semantics", "via", "confirm", "inject", "result", "lookup",
	}
}

// ruleset reads one tool, or a form of it within outer.
func (r *loader) ruleset(t *strict.Tree, path, tool string, outer *ruleset) *ruleset {
	f := r.Fields(t, path, rulesetKeys()...)
	rs := &ruleset{tool: tool, class: Class(f.Text("class"))}
	if outer != nil && rs.class == "" {
		rs.class = outer.class
	}
	if !slices.Contains(classes(), rs.class) {
		hint := "known are " + joinClasses()
		f.Refuse("class", "is not a class that can be mapped", hint)
	}
	rs.asset = f.Word("asset", canonical("asset_class")...)
	for _, a := range f.Pairs("args", ArgumentsMax) {
		rs.args = append(rs.args, r.argument(a, path+".args."+a.Key))
	}
	rs.ignore, rs.forbid = r.named(f, "ignore"), r.named(f, "forbid")
	rs.secret, rs.open, rs.json = f.Texts("secret", 16), f.Texts("open", 8), f.Texts("json", 4)
	for _, p := range f.Pairs("force", 16) {
		rs.force = append(rs.force, forced{p.Key, r.literal(p.Value, path+".force."+p.Key)})
	}
	for _, p := range f.Pairs("set", 16) {
		rs.set = append(rs.set, Word{r.Word(p.At, path+".set", targets()...), r.setWord(p, path)})
	}
	r.conditional(f, rs)
	rs.standing, rs.semantic, rs.via = f.Flag("standing"), f.Word("semantics", "patch", "full"), f.Text("via")
	r.parts(f, rs, path)
	r.outcome(f, rs, path)
	r.whole(f, rs, outer)
	return rs
}

func (r *loader) setWord(p strict.Pair, path string) string {
	known := canonical(p.Key)
	if p.Key == "side" {
		known = append(known, "position")
	}
	if known == nil {
		return r.Text(p.Value, path+".set."+p.Key)
	}
	return r.Word(p.Value, path+".set."+p.Key, known...)
}

func (r *loader) named(f strict.Fields, key string) (out []named) {
	for _, p := range f.Pairs(key, ArgumentsMax) {
		out = append(out, named{p.Key, r.Text(p.Value, f.Path(key)+"."+p.Key)})
	}
	return out
}

// literal reads a forced value: a text, a number or true or false.
func (r *loader) literal(t *strict.Tree, path string) *value {
	switch {
	case t.Shape != strict.Scalar || t.Null || t.Other:
		r.Refuse(t, path, "is not a text, a number or true or false", "")
		return text("")
	case t.Bool && (t.Text == "true" || t.Text == "false"):
		return &value{kind: kindOfFlag(t.Text), text: t.Text}
	case t.Number:
		return &value{kind: '0', text: t.Text}
	}
	return text(t.Text)
}

// conditional reads what depends on other arguments.
func (r *loader) conditional(f strict.Fields, rs *ruleset) {
	for _, t := range f.Items("fill", RulesMax) {
		g := r.Fields(t, f.Path("fill"), "if", "argument", "word")
		rs.fill = append(rs.fill, fill{r.condition(g, "if"), g.Need("argument"), g.Need("word")})
	}
	for _, t := range f.Items("refuse", RulesMax) {
		g := r.Fields(t, f.Path("refuse"), "if", "reason", "field")
		rs.refuse = append(rs.refuse, refusal{r.condition(g, "if"), Reason(g.Word("reason", reasons()...)), g.Text("field")})
	}
	for _, t := range f.Items("variants", 16) {
		g := r.Fields(t, f.Path("variants"), "if", "rules")
		rs.variants = append(rs.variants, variant{r.condition(g, "if"), r.ruleset(g.At("rules"), f.Path("variants.rules"), rs.tool, rs)})
	}
}

func (r *loader) condition(f strict.Fields, key string) (c condition) {
	if f.At(key) == nil {
		return c
	}
	g := r.Fields(f.At(key), f.Path(key), "is", "present", "present_any", "absent")
	for _, p := range g.Pairs("is", 16) {
		words := []string{}
		if p.Value.Shape == strict.List {
			words = r.Texts(p.Value, g.Path("is")+"."+p.Key, 32)
		} else {
			words = append(words, r.Text(p.Value, g.Path("is")+"."+p.Key))
		}
		c.is = append(c.is, oneOf{p.Key, words})
	}
	c.present, c.presentAny, c.absent = g.Texts("present", 16), g.Texts("present_any", 16), g.Texts("absent", 16)
	return c
}

// parts reads legs and baskets: lists of objects with rules of their own.
func (r *loader) parts(f strict.Fields, rs *ruleset, path string) {
	part := func(key string, most int) *list {
		if f.At(key) == nil {
			return nil
		}
		g := r.Fields(f.At(key), f.Path(key), "in", "max", "rules")
		inner := r.ruleset(g.At("rules"), path+"."+key+".rules", rs.tool, rs)
		return &list{in: g.Need("in"), most: g.Count("max", 1, most), rules: inner}
	}
	rs.legs, rs.basket = part("legs", LegsMax), part("basket", BasketMax)
}

// orders reports whether calls of a class reach the market.
func orders(c Class) bool {
	return c == Place || c == Replace || c == Cancel || c == Close || c == Confirm
}

func classes() []Class {
	return []Class{Place, Preview, Confirm, Replace, Cancel, CancelAll, Close, Draft, Conditional}
}

func joinClasses() string {
	texts := make([]string, 0, 9)
	for _, c := range classes() {
		texts = append(texts, string(c))
	}
	return strings.Join(texts, ", ")
}

// plain reports whether a text is 1 to most bytes of letters, digits and - _ and dot.
func plain(s string, most int) bool {
	return len(s) > 0 && len(s) <= most && !strings.ContainsFunc(s, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.'
	})
}
