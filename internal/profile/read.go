package profile

import (
	"slices"
	"strings"

	"github.com/broker-rails/broker-rails/internal/money"
)

// Read reads one call. The arguments are the raw JSON that the agent's host sent; nothing
// else about the call is looked at. A refusal leaves nothing to send.
func (p *Profile) Read(tool string, raw []byte) (Reading, *Refusal) {
	class, known := p.Class(tool)
	switch {
	case !known:
		return Reading{}, &Refusal{Reason: UnknownTool, Problem: "the profile does not name this tool"}
	case p.Denied(tool):
		return Reading{}, &Refusal{Reason: ClassDenied, Class: class, Problem: "calls of class " + string(class) + " are closed"}
	}
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	v, refusal := decode(raw, ArgumentsBytesMax)
	switch {
	case refusal != nil:
		return Reading{}, refusal
	case v.kind != '{':
		return Reading{}, &Refusal{Reason: MalformedCall, Problem: "arguments are not a JSON object"}
	case class == Read:
		return Reading{Tool: tool, Class: Read, arguments: v}, nil
	}
	return p.ruleset(tool).read(v)
}

// call is one object of arguments while it is read.
type call struct {
	rules     *ruleset
	object    *value // the caller's; defaults are written into it
	names     []string
	members   []*value // flat, by dotted names
	order     Order
	numbers   map[string]string // texts of figures by target, until units are known
	ratio     money.Quantity
	childTake money.Price
	childStop money.Price
	childLim  money.Price
	refusal   *Refusal
}

func (rs *ruleset) read(v *value) (Reading, *Refusal) {
	c := &call{rules: rs, object: v.clone(), numbers: map[string]string{}}
	c.flatten()
	if c.refusal != nil {
		return Reading{}, c.refusal
	}
	if len(rs.variants) > 0 {
		return c.variant(v)
	}
	c.arguments()
	if c.refusal != nil {
		return Reading{}, c.refusal
	}
	out := Reading{Tool: rs.tool, Class: rs.class, Via: rs.via, Keeps: rs.semantic == "patch", rules: rs}
	switch {
	case rs.legs != nil:
		c.legs()
	case rs.basket != nil:
		out.Basket = c.basket()
	}
	if c.refusal == nil && rs.basket == nil {
		c.consistent()
	}
	if c.refusal != nil {
		return Reading{}, c.refusal
	}
	out.Order, out.arguments = c.order, c.object
	out.Need = out.needs()
	return out, nil
}

// needs says what is not in the call and must be asked for before it is judged.
func (r *Reading) needs() Need {
	switch {
	case r.Class == Replace && r.Keeps:
		return NeedOrder
	case r.Order.RawID != "" && r.Order.Symbol == "":
		return NeedInstrument
	case r.Order.Target != nil, r.Order.Side == "position":
		return NeedPosition
	}
	return NeedNothing
}

// variant reads the one form that the call has.
func (c *call) variant(v *value) (Reading, *Refusal) {
	var found *ruleset
	for i := range c.rules.variants {
		if c.rules.variants[i].when.holds(c.text) {
			if found != nil {
				return Reading{}, &Refusal{Reason: VariantAmbiguous, Problem: "has two forms at once"}
			}
			found = c.rules.variants[i].rules
		}
	}
	if found == nil {
		return Reading{}, &Refusal{Reason: VariantAmbiguous, Problem: "has none of the tool's forms"}
	}
	merged := *found
	merged.open, merged.json = slices.Concat(c.rules.open, found.open), slices.Concat(c.rules.json, found.json)
	if merged.result == nil {
		merged.result = c.rules.result
	}
	if merged.lookup == nil {
		merged.lookup = c.rules.lookup
	}
	if merged.inject.name == "" {
		merged.inject = c.rules.inject
	}
	return merged.read(v)
}

// flatten lists the arguments, with the members of open objects by dotted names.
func (c *call) flatten() {
	for i, name := range c.object.names {
		m := c.object.members[i]
		switch {
		case slices.Contains(c.rules.open, name) && m.kind == '{':
			c.nested(name, m, 1)
		case slices.Contains(c.rules.json, name) && m.kind == '"':
			inner, refusal := decode([]byte(m.text), ArgumentsBytesMax)
			if refusal != nil {
				refusal.Field = name
				c.refusal = refusal
				return
			}
			c.nested(name, inner, 1)
		default:
			c.names, c.members = append(c.names, name), append(c.members, m)
		}
	}
}

func (c *call) nested(path string, v *value, depth int) {
	if v.kind != '{' || depth > 4 {
		c.names, c.members = append(c.names, path), append(c.members, v)
		return
	}
	for i, name := range v.names {
		c.nested(path+"."+name, v.members[i], depth+1)
	}
}

func (c *call) refuse(reason Reason, field, problem string) {
	if c.refusal == nil {
		c.refusal = &Refusal{Reason: reason, Field: field, Problem: problem}
	}
}

// text returns an argument's text for a condition. An object is given when one of its
// members is.
func (c *call) text(name string) (string, bool) {
	for i, n := range c.names {
		if n == name {
			return c.members[i].text, c.members[i].kind != 'n'
		}
		if strings.HasPrefix(n, name+".") {
			return "", true
		}
	}
	return "", false
}

// arguments reads every argument in the profile's order, after none was found that the
// profile has no answer for.
func (c *call) arguments() {
	rs := c.rules
	c.unanswered()
	for _, f := range rs.force {
		c.put(f.name, f.to)
	}
	for i := range rs.args {
		a := &rs.args[i]
		if _, given := c.text(a.name); !given && a.absent == "default" {
			c.put(a.name, a.literal(a.fallback))
		}
	}
	for _, f := range rs.fill {
		if f.when.holds(c.text) {
			c.put(f.name, text(f.word))
		}
	}
	for i := range rs.refuse {
		if r := &rs.refuse[i]; r.when.holds(c.text) {
			c.refuse(r.reason, r.field, "cannot be taken so")
		}
	}
	for _, w := range rs.set {
		c.order.take(w.From, w.To)
	}
	for i := range rs.args {
		if c.refusal == nil {
			c.argument(&rs.args[i])
		}
	}
	if c.refusal == nil {
		c.figures()
	}
}

// unanswered refuses what the profile does not map, and what no agent may set.
func (c *call) unanswered() {
	rs := c.rules
	for i, name := range c.names {
		top, _, _ := strings.Cut(name, ".")
		switch {
		case slices.Contains(rs.secret, name):
			c.refuse(SecretArgument, name, "is a credential, which no call may carry")
		case slices.ContainsFunc(rs.forbid, func(n named) bool { return n.name == name }):
			if c.members[i].kind == 'n' {
				continue // null: the server takes it as not said
			}
			c.refuse(c.forbidden(name), name, "may not be set")
		case slices.ContainsFunc(rs.force, func(f forced) bool { return f.name == name }):
			if m := c.members[i]; m.kind != forcedTo(rs, name).kind || m.text != forcedTo(rs, name).text {
				c.refuse(ForbiddenArgument, name, "may not be set otherwise than the profile does")
			}
		case rs.argument(name) != nil,
			slices.ContainsFunc(rs.ignore, func(n named) bool { return n.name == name }),
			rs.legs != nil && rs.legs.in == top, rs.basket != nil && rs.basket.in == top:
		default:
			c.refuse(UnmappedArgument, "", "an argument is not mapped; known are "+strings.Join(rs.known(), ", "))
		}
	}
}

// forbidden tells an argument that only moves the risk from one that holds orders of its
// own, which nothing here could map.
func (c *call) forbidden(name string) Reason {
	for _, n := range c.rules.forbid {
		if n.name == name && strings.HasPrefix(n.reason, "unmapped: ") {
			return UnmappedArgument
		}
	}
	return ForbiddenArgument
}

func forcedTo(rs *ruleset, name string) *value {
	for _, f := range rs.force {
		if f.name == name {
			return f.to
		}
	}
	return &value{}
}

// put writes an argument into the call, as if the agent had spelled it.
func (c *call) put(name string, to *value) {
	for i, n := range c.names {
		if n == name {
			c.members[i] = to
			c.write(name, to)
			return
		}
	}
	c.names, c.members = append(c.names, name), append(c.members, to)
	c.write(name, to)
}

// write brings a value into the object that goes on.
func (c *call) write(name string, to *value) {
	at, rest := c.object, name
	for {
		head, tail, nested := strings.Cut(rest, ".")
		if !nested || !slices.Contains(c.rules.open, strings.SplitN(name, ".", 2)[0]) {
			at.set(rest, to)
			return
		}
		inner := at.get(head)
		if inner == nil {
			inner = &value{kind: '{'}
			at.set(head, inner)
		}
		at, rest = inner, tail
	}
}

func (c *call) drop(name string) {
	for i, n := range c.object.names {
		if n == name {
			c.object.names = slices.Delete(c.object.names, i, i+1)
			c.object.members = slices.Delete(c.object.members, i, i+1)
			return
		}
	}
}
