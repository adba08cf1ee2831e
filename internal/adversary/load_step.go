package adversary

import (
	"slices"
	"strconv"
	"time"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/normalize"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// refusals are the ids that can refuse a call. Faults are not among them.
func refusals() []string {
	out := []string{
		string(normalize.MalformedCall), string(normalize.UnknownTool), string(normalize.UnknownArgument),
		string(normalize.InvalidNumber), string(normalize.ConflictingFields),
	}
	for _, r := range rail.All() {
		out = append(out, string(r.ID))
	}
	return out
}

func (r *reader) steps(t *limits.Tree, key string) []step {
	if t == nil {
		return nil
	}
	items := r.items(t, key, StepsMax)
	out := make([]step, 0, len(items))
	for _, item := range items {
		out = append(out, r.step(item))
	}
	return out
}

func (r *reader) step(t *limits.Tree) step {
	known := append(kinds(), "expect", "allowed", "repeat", "every", "at_once", "price_by", "answers", "quiet", "doubt", "faults", "free")
	f := r.mapping(t, known...)
	s := step{line: t.Line, repeat: 1, answers: 1}
	var value *limits.Tree
	for _, k := range kinds() {
		if v := f.of[k]; v != nil {
			if s.kind != "" {
				r.add(t, k, "stands beside "+string(s.kind)+": a step does one thing")
			}
			s.kind, value = kind(k), v
		}
	}
	if s.kind == "" {
		r.add(t, "", "does nothing: name an order, a call, …")
		return s
	}
	s.quiet, s.doubt = r.flag(f.of["quiet"], "quiet"), r.flag(f.of["doubt"], "doubt")
	s.faults, s.free = r.flag(f.of["faults"], "faults"), r.flag(f.of["free"], "free")
	if v := f.of["answers"]; v != nil {
		s.answers = r.count(v, "answers", 1)
	}
	r.repeats(&s, f)
	if v := f.of["expect"]; v != nil {
		for _, id := range r.items(v, "expect", rail.Count) {
			if !slices.Contains(refusals(), id.Text) {
				r.add(id, "expect", "names no rail and no integrity refusal: "+limits.Nearest(id.Text, refusals()))
			}
			s.expect = append(s.expect, id.Text)
		}
		slices.Sort(s.expect)
	}
	switch {
	case (len(s.expect) > 0 || s.repeat > 1 || s.doubt) && !s.calls():
		r.add(t, string(s.kind), "is not judged: expect, repeat and doubt go with calls")
	case s.free && (len(s.expect) > 0 || s.doubt || s.quiet || !s.calls()):
		r.add(t, "free", "goes with calls, and without expect, doubt and quiet")
	case s.quiet && (len(s.expect) > 0 || s.doubt):
		r.add(t, "quiet", "stands beside an expectation")
	case s.faults && len(s.expect) == 0:
		r.add(t, "faults", "stands without a refusal: a fault alone refuses nothing here")
	case s.allowed > 0 && len(s.expect) == 0:
		r.add(t, "allowed", "needs the refusals that follow in expect")
	}
	r.does(&s, value)
	return s
}

func (r *reader) repeats(s *step, f fields) {
	if v := f.of["repeat"]; v != nil {
		s.repeat = max(1, r.count(v, "repeat", RepeatMax))
	}
	if v := f.of["allowed"]; v != nil {
		s.allowed = r.count(v, "allowed", s.repeat-1)
	}
	if v := f.of["every"]; v != nil {
		s.every = r.duration(v, "every")
	}
	s.atOnce = r.flag(f.of["at_once"], "at_once")
	if s.atOnce && (s.kind != kindOrder && s.kind != kindCall || s.every > 0 || s.quiet || s.doubt || s.repeat > AttackersMax) {
		r.add(f.at, "at_once", "goes with repeated orders and calls, "+strconv.Itoa(AttackersMax)+" at most, without every, quiet and doubt")
	}
	if v := f.of["price_by"]; v != nil {
		s.priceBy = figure(r, v, "price_by", money.ParsePrice)
	}
}

// does reads what a step does.
func (r *reader) does(s *step, v *limits.Tree) {
	switch s.kind {
	case kindOrder:
		s.tool, s.arguments = normalize.PlaceOrder, v
		if v.Shape != limits.Mapping {
			r.add(v, "order", "is not a mapping of arguments")
		}
	case kindCall:
		f := r.mapping(v, "tool", "arguments")
		s.tool = f.need("tool")
		if a := f.of["arguments"]; a != nil && a.Shape == limits.Scalar {
			s.text = a.Text
		} else {
			s.arguments = a
		}
	case kindRead:
		f := r.mapping(v, "tool", "arguments", "holds")
		s.tool, s.arguments, s.text = f.need("tool"), f.of["arguments"], f.text("holds")
	case kindRaw:
		s.text = r.plain(v, "raw")
	case kindSilence:
		s.text = r.plain(v, "silence")
	case kindMode:
		s.text = r.word(v, "mode", "active", "reduce_only", "halted")
	case kindBroker:
		s.text = r.word(v, "broker", "reject", "timeout", "timeout_after", "partial", "late_fill", "duplicate_fill")
	case kindReconnect, kindRestart, kindReconcile:
		r.word(v, string(s.kind), "true")
	case kindAdvance, kindWall:
		s.duration = r.duration(v, string(s.kind))
		if s.kind == kindAdvance && s.duration < 0 {
			r.add(v, "advance", "goes back")
		}
	case kindQuote:
		f := r.mapping(v, "symbol", "bid", "ask", "age", "halted")
		s.quote = quote{
			symbol: f.need("symbol"), bid: figure(r, f.of["bid"], "bid", money.ParsePrice), ask: figure(r, f.of["ask"], "ask", money.ParsePrice),
			halted: r.flag(f.of["halted"], "halted"),
		}
		if age := f.of["age"]; age != nil {
			s.quote.age = r.duration(age, "age")
		}
	case kindExternal:
		f := r.mapping(v, "symbol", "side", "quantity", "price")
		s.external = external{
			symbol: f.need("symbol"), side: figure(r, f.of["side"], "side", order.ParseSide),
			quantity: figure(r, f.of["quantity"], "quantity", money.ParseQuantity), price: figure(r, f.of["price"], "price", money.ParsePrice),
		}
	}
}

// instruments are listed beside the practice market's.
func (r *reader) instruments(t *limits.Tree) []order.Instrument {
	if t == nil {
		return nil
	}
	var out []order.Instrument
	if t.Shape != limits.Mapping {
		r.add(t, "instruments", "is not a mapping of symbols")
		return nil
	}
	for i, k := range t.Keys {
		f := r.mapping(t.Values[i], "class", "currency", "underlying", "active", "multiplier")
		in := order.Instrument{
			Symbol: k.Text, Class: figure(r, f.of["class"], "class", order.ParseAssetClass), Currency: f.need("currency"),
			Underlying: f.text("underlying"), Active: true, Multiplier: money.QuantityFromInt(1),
		}
		if a := f.of["active"]; a != nil {
			in.Active = r.flag(a, "active")
		}
		if m := f.of["multiplier"]; m != nil {
			in.Multiplier = figure(r, m, "multiplier", money.ParseQuantity)
		}
		out = append(out, in)
	}
	return out
}

func (r *reader) duration(t *limits.Tree, key string) time.Duration {
	d, err := time.ParseDuration(t.Text)
	if err != nil || d > AdvanceMax || d < -AdvanceMax {
		r.add(t, key, "is not a duration such as 61s or 24h")
	}
	return d
}

func (r *reader) count(t *limits.Tree, key string, most int) int {
	n, err := strconv.Atoi(t.Text)
	if err != nil || n < 0 || n > most {
		r.add(t, key, "is not a whole number from 0 to "+strconv.Itoa(most))
		return 0
	}
	return n
}
