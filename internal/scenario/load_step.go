package scenario

import (
	"slices"
	"strings"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/normalize"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/strict"
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
func (r *reader) step(t *strict.Tree, path string) step {
	f := r.Fields(t, path, append(kinds(), "expect")...)
	s := step{line: t.Line}
	for _, name := range kinds() {
		if f.At(name) == nil || kind(name) == kindCrash && s.kind.calls() {
			continue
		}
		if s.kind != "" {
			r.Refuse(f.At(name), path, "does two things, "+string(s.kind)+" and "+name, "write two steps")
			return s
		}
		s.kind = kind(name)
	}
	if s.kind == "" {
		r.Refuse(t, path, "does nothing", "one of "+strings.Join(kinds(), ", "))
		return s
	}
	if e := f.At("expect"); e != nil {
		s.expect = r.expectation(e, join(path, "expect"))
	}
	if c := f.At(string(kindCrash)); c != nil {
		s.crash = r.Word(c, join(path, "crash"), crashBeforeSend, crashAfterSend)
	}
	v, at := f.At(string(s.kind)), join(path, string(s.kind))
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
func (r *reader) call(s *step, v *strict.Tree, at string) {
	switch s.kind {
	case kindOrder:
		s.tool, s.raw = normalize.PlaceOrder, r.order(v, at)
	case kindRaw:
		s.tool, s.raw = normalize.PlaceOrder, []byte(r.Plain(v, at))
	case kindCancel:
		s.tool, s.target = normalize.CancelOrder, r.Plain(v, at)
	case kindReplace:
		f := r.Fields(v, at, "order", "quantity", "limit_price", "stop_price")
		s.tool, s.target = normalize.ReplaceOrder, f.NeedPlain("order")
		var o object
		for _, name := range []string{"quantity", "limit_price", "stop_price"} {
			if f.At(name) != nil {
				o.member(name, f.At(name))
			}
		}
		s.raw = o.closed()
	case kindCall:
		f := r.Fields(v, at, "tool", "arguments")
		s.tool = f.NeedPlain("tool")
		if a := f.At("arguments"); a != nil {
			s.raw = strict.AppendJSON(nil, a)
			if a.Shape == strict.Mapping {
				s.arguments = a
			}
		}
	}
}

// order writes the arguments of place_order. What may be left out is filled in. A key
// that is no argument goes to the gate as it stands, so that its refusal can be tried;
// one that looks like a slip of the pen is a problem.
func (r *reader) order(t *strict.Tree, at string) []byte {
	known := normalize.Fields(normalize.PlaceOrder)
	var o object
	given := map[string]bool{}
	for _, e := range r.Pairs(t, at, entriesMax) {
		if near := strict.Nearest(e.Key, known); !slices.Contains(known, e.Key) && near != "" {
			r.Refuse(e.At, join(at, strict.Printable(e.Key)), "is not a known key", "did you mean "+near+"?")
		}
		given[e.Key] = true
		o.member(e.Key, e.Value)
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
	o.b = append(strict.AppendQuoted(o.b, name), ':')
}

func (o *object) member(name string, t *strict.Tree) {
	o.name(name)
	o.b = strict.AppendJSON(o.b, t)
}

func (o *object) text(name, text string) {
	o.name(name)
	o.b = strict.AppendQuoted(o.b, text)
}

func (o *object) closed() []byte {
	if o.b == nil {
		return []byte("{}")
	}
	return append(o.b, '}')
}

// happening reads a step that is not a call.
func (r *reader) happening(s *step, v *strict.Tree, at string) {
	switch s.kind {
	case kindAdvance, kindWallClock:
		s.duration = r.duration(v, at)
		if s.kind == kindAdvance && s.duration < 0 {
			r.Refuse(v, at, "goes back", "wall_clock steps the wall clock alone")
		}
		if s.duration > AdvanceMax {
			r.Refuse(v, at, "is longer than a year", "write several steps")
		}
	case kindQuote:
		s.quotes = r.quotes(v, at)
	case kindBroker:
		s.word = r.Word(v, at, brokerWords()...)
	case kindFill:
		f := r.Fields(v, at, "order", "quantity", "price", "id")
		s.target = f.NeedPlain("order")
		s.fill = fillPart{
			quantity: r.quantity(f.Must("quantity"), join(at, "quantity")),
			price:    r.price(f.Must("price"), join(at, "price")), id: f.Plain("id"),
		}
	case kindExternal:
		s.external = r.external(v, at)
		s.target = s.external.id
	case kindReconcile:
		r.reconcile(s, v, at)
	case kindMode:
		s.word = r.Word(v, at, "active", "reduce_only", "halted")
	case kindLimits:
		if v.Shape != strict.Mapping {
			r.Refuse(v, at, "is not a mapping", "keys that are laid over the limits in force")
		}
		s.limits = v
	case kindRestart:
		if !r.Flag(v, at) {
			r.Refuse(v, at, "is not true", "")
		}
	case kindCrash:
		s.word = s.crash
	}
}

func (r *reader) external(t *strict.Tree, at string) externalPart {
	f := r.Fields(t, at, "order", "fill", "cash", "canceled", "expired", "rejected", "position")
	if f.Len() != 1 {
		r.Refuse(t, at, "is not one thing", "one of order, fill, cash, canceled, expired, rejected, position")
		return externalPart{}
	}
	switch {
	case f.At("order") != nil:
		at = join(at, "order")
		g := r.Fields(f.At("order"), at, append([]string{"id"}, intentFields()...)...)
		return externalPart{what: "order", id: g.Plain("id"), intent: r.intent(g)}
	case f.At("fill") != nil:
		at = join(at, "fill")
		g := r.Fields(f.At("fill"), at, "symbol", "side", "quantity", "price", "order")
		x := externalPart{what: "fill", id: g.Plain("order")}
		x.symbol = g.Plain("symbol")
		if x.symbol == "" && x.id == "" {
			g.Must("symbol")
		}
		if side := g.At("side"); side != nil {
			x.intent.Side, _ = order.ParseSide(r.Word(side, join(at, "side"), "buy", "sell"))
		} else if x.id == "" {
			g.Must("side")
		}
		x.quantity = r.quantity(g.Must("quantity"), join(at, "quantity"))
		x.price = r.price(g.Must("price"), join(at, "price"))
		return x
	case f.At("cash") != nil:
		v, path := f.At("cash"), join(at, "cash")
		if v.Shape == strict.Mapping {
			v = r.Fields(v, path, "amount", "reason").Must("amount")
		}
		return externalPart{what: "cash", cash: r.notional(v, path)}
	case f.At("position") != nil:
		at = join(at, "position")
		g := r.Fields(f.At("position"), at, "symbol", "quantity")
		return externalPart{what: "position", symbol: g.NeedPlain("symbol"), quantity: r.quantity(g.Must("quantity"), join(at, "quantity"))}
	}
	for _, ended := range []string{"canceled", "expired", "rejected"} {
		if f.At(ended) != nil {
			return externalPart{what: "ended", ended: ended, id: f.NeedPlain(ended)}
		}
	}
	return externalPart{}
}

// reconcile takes true, {adopt: true}, or a finding about one order.
func (r *reader) reconcile(s *step, v *strict.Tree, at string) {
	if v.Shape != strict.Mapping {
		if !r.Flag(v, at) {
			r.Refuse(v, at, "is neither true nor a finding", "such as {order: a1, not_placed: true}")
		}
		return
	}
	f := r.Fields(v, at, "order", "adopt", "placed", "not_placed", "filled")
	if f.At("adopt") != nil && f.Len() == 1 {
		s.finding.adopt = f.Flag("adopt")
		return
	}
	s.target = f.NeedPlain("order")
	for _, result := range []string{"placed", "not_placed", "filled"} {
		if f.At(result) == nil {
			continue
		}
		if s.finding.result != "" {
			r.Refuse(f.At(result), at, "finds two things", "one of placed, not_placed, filled")
		}
		s.finding.result = result
		if result != "filled" {
			if !f.Flag(result) {
				r.Refuse(f.At(result), at, "is not true", "")
			}
			continue
		}
		r.filled(s, f.At(result), join(at, result))
	}
	if s.finding.result == "" {
		r.Refuse(v, at, "does not say what was found", "one of placed, not_placed, filled")
	}
}

// filled takes "10@200.00", or {quantity, price}.
func (r *reader) filled(s *step, v *strict.Tree, at string) {
	if v.Shape == strict.Mapping {
		g := r.Fields(v, at, "quantity", "price")
		s.finding.quantity = r.quantity(g.Must("quantity"), join(at, "quantity"))
		s.finding.price = r.price(g.Must("price"), join(at, "price"))
		return
	}
	quantity, price, _ := strings.Cut(r.Plain(v, at), "@")
	var err, err2 error
	s.finding.quantity, err = money.ParseQuantity(quantity)
	s.finding.price, err2 = money.ParsePrice(price)
	if err != nil || err2 != nil {
		r.Refuse(v, at, "is not a quantity at a price", `such as "10@200.00"`)
	}
}

// expectation takes a verdict, or a mapping.
func (r *reader) expectation(t *strict.Tree, at string) *expectation {
	e := &expectation{}
	if t.Shape == strict.Scalar {
		e.verdict = r.Word(t, at, "allowed", "denied", "error")
		return e
	}
	f := r.Fields(t, at, "verdict", "rails", "rails_include", "faults", "faults_include", "outcome", "forwarded")
	if v := f.At("verdict"); v != nil {
		e.verdict = r.Word(v, join(at, "verdict"), "allowed", "denied", "error")
	}
	e.rails, e.railsGiven = r.ids(f, "rails")
	e.railsInclude, _ = r.ids(f, "rails_include")
	e.faults, e.faultsGiven = r.ids(f, "faults")
	e.faultsInclude, _ = r.ids(f, "faults_include")
	if f.At("outcome") != nil {
		outcome := f.Plain("outcome")
		e.outcome = &outcome
	}
	if f.At("forwarded") != nil {
		n := f.Count("forwarded", 0, StepsMax)
		e.forwarded = &n
	}
	return e
}

// ids reads a list of rails and integrity refusals. An id that does not exist could
// never be met, and is a problem.
func (r *reader) ids(f strict.Fields, name string) ([]string, bool) {
	t := f.At(name)
	if t == nil {
		return nil, false
	}
	at := f.Path(name)
	var out []string
	for _, item := range r.Items(t, at, itemsMax) {
		if id := r.refusal(item, at); id != "" {
			out = append(out, id)
		}
	}
	return out, true
}
