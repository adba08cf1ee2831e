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
	taken     []string          // targets that an argument has given
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
	case r.Class == Replace && (r.Keeps || r.Order.Symbol == ""):
		return NeedOrder
	case unresolved(&r.Order), slices.ContainsFunc(r.Order.Legs, func(o Order) bool { return unresolved(&o) }),
		slices.ContainsFunc(r.Basket, func(o Order) bool { return unresolved(&o) }):
		return NeedInstrument
	case r.Order.Target != nil, r.Order.Side == "position":
		return NeedPosition
	}
	return NeedNothing
}

func unresolved(o *Order) bool { return o.RawID != "" && o.Symbol == "" }

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
		case strings.Contains(name, "."):
			c.dotted()
		case slices.Contains(c.rules.open, name) && m.kind == '{':
			c.nested(name, m, 1)
		case slices.Contains(c.rules.json, name) && m.kind == '"':
			inner, refusal := decode([]byte(m.text), ArgumentsBytesMax)
			if refusal != nil {
				refusal.Field = name
				c.refusal = refusal
				return
			}
			// What goes on is our own spelling of it, not the agent's text.
			inner.encoded = true
			c.object.members[i] = inner
			c.nested(name, inner, 1)
		default:
			c.names, c.members = append(c.names, name), append(c.members, m)
		}
	}
}

// dotted refuses a name that would read like the member of an object.
func (c *call) dotted() {
	c.refuse(UnmappedArgument, "", "an argument's name holds a dot")
}

// nested lists the members of an open object. An object without members is listed itself:
// it may be what chooses a form.
func (c *call) nested(path string, v *value, depth int) {
	if v.kind != '{' || depth > OpenDepthMax || len(v.names) == 0 {
		c.names, c.members = append(c.names, path), append(c.members, v)
		return
	}
	for i, name := range v.names {
		if strings.Contains(name, ".") {
			c.dotted()
			return
		}
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
		if _, given := c.text(a.name); !given && a.absent == "default" && (a.nullable || !c.has(a.name)) {
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
				c.drop(name) // null: the server takes it as not said
				continue
			}
			c.refuse(c.forbidden(name), name, "may not be set")
		case slices.ContainsFunc(rs.force, func(f forced) bool { return f.name == name }):
			if m := c.members[i]; m.kind != forcedTo(rs, name).kind || m.text != forcedTo(rs, name).text {
				c.refuse(ForbiddenArgument, name, "may not be set otherwise than the profile does")
			}
		case slices.ContainsFunc(rs.ignore, func(n named) bool { return n.name == name }):
			c.ignored(name, c.members[i])
		case rs.argument(name) != nil,
			rs.legs != nil && rs.legs.in == top, rs.basket != nil && rs.basket.in == top:
		default:
			c.refuse(UnmappedArgument, "", "an argument is not mapped; known are "+strings.Join(rs.known(), ", "))
		}
	}
}

// ignored lets an argument through that nothing depends on: a text, a figure or a flag.
// An object or a list could hold an order. What a confirmation is bound to is compared as
// a whole with what was asked, so it may have any shape.
func (c *call) ignored(name string, v *value) {
	bound := c.rules.confirm != nil && slices.Contains(c.rules.confirm.bind, name)
	switch {
	case v.kind == 'n':
		c.drop(name)
	case bound:
	case v.kind == '{' || v.kind == '[':
		c.refuse(TypeMismatch, name, "is not one text, number or flag")
	case len(v.text) > LabelBytesMax:
		c.refuse(MalformedCall, name, "is too long")
	}
}

// has reports whether an argument stands in the call, if only as null.
func (c *call) has(name string) bool { return slices.Contains(c.names, name) }

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
	for c.rules.opens(name) {
		head, tail, nested := strings.Cut(rest, ".")
		if !nested {
			break
		}
		inner := at.get(head)
		if inner == nil || inner.kind != '{' {
			inner = &value{kind: '{', encoded: at == c.object && slices.Contains(c.rules.json, head)}
			at.set(head, inner)
		}
		at, rest = inner, tail
	}
	at.set(rest, to)
}

// drop takes an argument out of what goes on, and the objects that held nothing else.
func (c *call) drop(name string) {
	if c.rules.opens(name) {
		dropIn(c.object, strings.Split(name, "."))
		return
	}
	c.object.remove(name)
}

func dropIn(at *value, path []string) {
	if len(path) > 1 {
		inner := at.get(path[0])
		if inner == nil {
			return
		}
		dropIn(inner, path[1:])
		if len(inner.names) > 0 {
			return
		}
	}
	at.remove(path[0])
}
