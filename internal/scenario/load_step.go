package scenario

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/normalize"
	"github.com/broker-rails/broker-rails/internal/order"
)

// kinds are the names of steps, each a key of a step's mapping.
func kinds() []string {
	return []string{
		string(kindOrder), string(kindCall), string(kindRaw), string(kindReplace), string(kindCancel),
		string(kindAdvance), string(kindWallClock), string(kindQuote), string(kindBroker), string(kindFill),
		string(kindExternal), string(kindReconcile), string(kindMode), string(kindLimits), string(kindRestart), string(kindCrash),
	}
}

// step reads one step: exactly one thing that it does, what is expected of it, and
// with a call perhaps where the process crashes.
func (r *reader) step(t *limits.Tree, path string) step {
	f := r.mapping(t, path, append(kinds(), "expect")...)
	s := step{line: t.Line}
	for _, name := range kinds() {
		if !f.has(name) || kind(name) == kindCrash && s.kind.calls() {
			continue
		}
		if s.kind != "" {
			r.add(f.of[name], path, "does two things, "+string(s.kind)+" and "+name, "write two steps")
			return s
		}
		s.kind = kind(name)
	}
	if s.kind == "" {
		r.add(t, path, "does nothing", "one of "+strings.Join(kinds(), ", "))
		return s
	}
	if e := f.of["expect"]; e != nil {
		s.expect = r.expectation(e, join(path, "expect"))
	}
	if c := f.of[string(kindCrash)]; c != nil {
		s.crash = r.word(c, join(path, "crash"), crashBeforeSend, crashAfterSend)
	}
	v, at := f.of[string(s.kind)], join(path, string(s.kind))
	switch {
	case s.kind.calls():
		r.call(&s, v, at)
	default:
		r.happening(&s, v, at)
	}
	return s
}

// calls reports whether a step is a tool call.
func (k kind) calls() bool {
	return slices.Contains([]kind{kindOrder, kindCall, kindRaw, kindReplace, kindCancel}, k)
}

// call reads a step that is a tool call.
func (r *reader) call(s *step, v *limits.Tree, at string) {
	switch s.kind {
	case kindOrder:
		s.tool, s.raw = normalize.PlaceOrder, r.order(v, at)
	case kindRaw:
		s.tool, s.raw = normalize.PlaceOrder, []byte(r.text(v, at))
	case kindCancel:
		s.tool, s.target = normalize.CancelOrder, r.text(v, at)
	case kindReplace:
		f := r.mapping(v, at, "order", "quantity", "limit_price", "stop_price")
		s.tool, s.target = normalize.ReplaceOrder, f.text("order", true)
		var o object
		for _, name := range []string{"quantity", "limit_price", "stop_price"} {
			if f.has(name) {
				o.member(name, f.of[name])
			}
		}
		s.raw = o.closed()
	case kindCall:
		f := r.mapping(v, at, "tool", "arguments")
		s.tool = f.text("tool", true)
		if a := f.of["arguments"]; a != nil {
			s.raw = appendJSON(nil, a)
			if a.Shape == limits.Mapping {
				s.arguments = a
			}
		}
	}
}

// order writes the arguments of place_order. What may be left out is filled in. A key
// that is no argument goes to the gate as it stands, so that its refusal can be tried;
// one that looks like a slip of the pen is a problem.
func (r *reader) order(t *limits.Tree, at string) []byte {
	known := normalize.Fields(normalize.PlaceOrder)
	var o object
	given := map[string]bool{}
	for _, e := range r.entries(t, at) {
		if near := limits.Nearest(e.name, known); !slices.Contains(known, e.name) && near != "" {
			r.add(e.key, join(at, printable(e.name)), "is not a known key", "did you mean "+near+"?")
		}
		given[e.name] = true
		o.member(e.name, e.value)
	}
	for _, d := range [][2]string{{"order_type", "limit"}, {"time_in_force", "day"}} {
		if !given[d[0]] {
			o.text(d[0], d[1])
		}
	}
	return o.closed()
}

// object writes a JSON object.
type object struct{ b []byte }

func (o *object) name(name string) {
	if o.b == nil {
		o.b = append(o.b, '{')
	} else {
		o.b = append(o.b, ',')
	}
	o.b = append(quoted(o.b, name), ':')
}

func (o *object) member(name string, t *limits.Tree) {
	o.name(name)
	o.b = appendJSON(o.b, t)
}

func (o *object) text(name, text string) {
	o.name(name)
	o.b = quoted(o.b, text)
}

func (o *object) closed() []byte {
	if o.b == nil {
		return []byte("{}")
	}
	return append(o.b, '}')
}

// quoted appends a JSON string. The text is valid UTF-8: the whole file is.
func quoted(b []byte, text string) []byte {
	out, err := jsontext.AppendQuote(b, text)
	if err != nil {
		return append(b, `""`...)
	}
	return out
}

// appendJSON writes a value of a file as JSON. A number keeps its literal; one that is
// none in JSON (010, .5, 1_000) becomes a string, and so reaches the gate as written.
func appendJSON(b []byte, t *limits.Tree) []byte {
	switch {
	case t.Shape == limits.Mapping:
		var o object
		for i, k := range t.Keys {
			o.member(k.Text, t.Values[i])
		}
		return append(b, o.closed()...)
	case t.Shape == limits.List:
		b = append(b, '[')
		for i, v := range t.Values {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, v)
		}
		return append(b, ']')
	case t.Null:
		return append(b, "null"...)
	case t.Bool && (t.Text == "true" || t.Text == "false"), t.Number && jsontext.Value(t.Text).IsValid():
		return append(b, t.Text...)
	}
	return quoted(b, t.Text)
}

// happening reads a step that is not a call.
func (r *reader) happening(s *step, v *limits.Tree, at string) {
	switch s.kind {
	case kindAdvance, kindWallClock:
		s.duration = r.duration(v, at)
		if s.kind == kindAdvance && s.duration < 0 {
			r.add(v, at, "goes back", "wall_clock steps the wall clock alone")
		}
		if s.duration > AdvanceMax {
			r.add(v, at, "is longer than a year", "write several steps")
		}
	case kindQuote:
		s.quotes = r.quotes(v, at)
	case kindBroker:
		s.word = r.word(v, at, brokerWords()...)
	case kindFill:
		f := r.mapping(v, at, "order", "quantity", "price", "id")
		s.target = f.text("order", true)
		s.fill = fillPart{
			quantity: r.quantity(f.need("quantity"), join(at, "quantity")),
			price:    r.price(f.need("price"), join(at, "price")), id: f.text("id", false),
		}
	case kindExternal:
		s.external = r.external(v, at)
		s.target = s.external.id
	case kindReconcile:
		r.reconcile(s, v, at)
	case kindMode:
		s.word = r.word(v, at, "active", "reduce_only", "halted")
	case kindLimits:
		if v.Shape != limits.Mapping {
			r.add(v, at, "is not a mapping", "keys that are laid over the limits in force")
		}
		s.limits = v
	case kindRestart:
		if !r.flag(v, at) {
			r.add(v, at, "is not true", "")
		}
	case kindCrash:
		s.word = s.crash
	}
}

func (r *reader) external(t *limits.Tree, at string) externalPart {
	f := r.mapping(t, at, "order", "fill", "cash", "canceled", "expired", "rejected", "position")
	if len(f.of) != 1 {
		r.add(t, at, "is not one thing", "one of order, fill, cash, canceled, expired, rejected, position")
		return externalPart{}
	}
	switch {
	case f.has("order"):
		at = join(at, "order")
		g := r.mapping(f.of["order"], at, append([]string{"id"}, intentFields()...)...)
		return externalPart{what: "order", id: g.text("id", false), intent: r.intent(g)}
	case f.has("fill"):
		at = join(at, "fill")
		g := r.mapping(f.of["fill"], at, "symbol", "side", "quantity", "price", "order")
		x := externalPart{what: "fill", id: g.text("order", false)}
		x.symbol = g.text("symbol", x.id == "")
		if side := g.of["side"]; side != nil {
			x.intent.Side, _ = order.ParseSide(r.word(side, join(at, "side"), "buy", "sell"))
		} else if x.id == "" {
			g.need("side")
		}
		x.quantity = r.quantity(g.need("quantity"), join(at, "quantity"))
		x.price = r.price(g.need("price"), join(at, "price"))
		return x
	case f.has("cash"):
		v, path := f.of["cash"], join(at, "cash")
		if v.Shape == limits.Mapping {
			v = r.mapping(v, path, "amount", "reason").need("amount")
		}
		return externalPart{what: "cash", cash: r.notional(v, path)}
	case f.has("position"):
		at = join(at, "position")
		g := r.mapping(f.of["position"], at, "symbol", "quantity")
		return externalPart{what: "position", symbol: g.text("symbol", true), quantity: r.quantity(g.need("quantity"), join(at, "quantity"))}
	}
	for _, ended := range []string{"canceled", "expired", "rejected"} {
		if f.has(ended) {
			return externalPart{what: "ended", ended: ended, id: f.text(ended, true)}
		}
	}
	return externalPart{}
}

// reconcile takes true, {adopt: true}, or a finding about one order.
func (r *reader) reconcile(s *step, v *limits.Tree, at string) {
	if v.Shape != limits.Mapping {
		if !r.flag(v, at) {
			r.add(v, at, "is neither true nor a finding", "such as {order: a1, not_placed: true}")
		}
		return
	}
	f := r.mapping(v, at, "order", "adopt", "placed", "not_placed", "filled")
	if f.has("adopt") && len(f.of) == 1 {
		s.finding.adopt = f.flag("adopt")
		return
	}
	s.target = f.text("order", true)
	for _, result := range []string{"placed", "not_placed", "filled"} {
		if !f.has(result) {
			continue
		}
		if s.finding.result != "" {
			r.add(f.of[result], at, "finds two things", "one of placed, not_placed, filled")
		}
		s.finding.result = result
		if result != "filled" {
			if !f.flag(result) {
				r.add(f.of[result], at, "is not true", "")
			}
			continue
		}
		r.filled(s, f.of[result], join(at, result))
	}
	if s.finding.result == "" {
		r.add(v, at, "does not say what was found", "one of placed, not_placed, filled")
	}
}

// filled takes "10@200.00", or {quantity, price}.
func (r *reader) filled(s *step, v *limits.Tree, at string) {
	if v.Shape == limits.Mapping {
		g := r.mapping(v, at, "quantity", "price")
		s.finding.quantity = r.quantity(g.need("quantity"), join(at, "quantity"))
		s.finding.price = r.price(g.need("price"), join(at, "price"))
		return
	}
	quantity, price, _ := strings.Cut(r.text(v, at), "@")
	var err, err2 error
	s.finding.quantity, err = money.ParseQuantity(quantity)
	s.finding.price, err2 = money.ParsePrice(price)
	if err != nil || err2 != nil {
		r.add(v, at, "is not a quantity at a price", `such as "10@200.00"`)
	}
}

// expectation takes a verdict, or a mapping.
func (r *reader) expectation(t *limits.Tree, at string) *expectation {
	e := &expectation{}
	if t.Shape == limits.Scalar {
		e.verdict = r.word(t, at, "allowed", "denied", "error")
		return e
	}
	f := r.mapping(t, at, "verdict", "rails", "rails_include", "faults", "faults_include", "outcome", "forwarded")
	if v := f.of["verdict"]; v != nil {
		e.verdict = r.word(v, join(at, "verdict"), "allowed", "denied", "error")
	}
	e.rails, e.railsGiven = r.ids(f, "rails")
	e.railsInclude, _ = r.ids(f, "rails_include")
	e.faults, e.faultsGiven = r.ids(f, "faults")
	e.faultsInclude, _ = r.ids(f, "faults_include")
	if f.has("outcome") {
		outcome := f.text("outcome", false)
		e.outcome = &outcome
	}
	if f.has("forwarded") {
		n := f.count("forwarded", StepsMax)
		e.forwarded = &n
	}
	return e
}

// ids reads a list of rails and integrity refusals. An id that does not exist could
// never be met, and is a problem.
func (r *reader) ids(f fields, name string) ([]string, bool) {
	t := f.of[name]
	if t == nil {
		return nil, false
	}
	at := join(f.path, name)
	var out []string
	for _, item := range r.items(t, at) {
		if id := r.word(item, at, refusalIDs()...); id != "" {
			out = append(out, id)
		}
	}
	return out, true
}
