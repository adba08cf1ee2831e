package adversary

import (
	"slices"
	"strconv"
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/normalize"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/strict"
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

func (r *reader) steps(of strict.Fields, key string) []step {
	if of.At(key) == nil {
		return nil
	}
	items := r.items(of.At(key), of.Path(key), StepsMax)
	out := make([]step, 0, len(items))
	for i, item := range items {
		out = append(out, r.step(item, of.Path(key)+"["+strconv.Itoa(i)+"]"))
	}
	return out
}

func (r *reader) step(t *strict.Tree, path string) step {
	known := append(kinds(), "expect", "allowed", "repeat", "every", "at_once", "price_by", "answers", "quiet", "doubt", "faults", "free")
	f := r.Fields(t, path, known...)
	s := step{line: t.Line, repeat: 1, answers: 1}
	var value *strict.Tree
	for _, k := range kinds() {
		if v := f.At(k); v != nil {
			if s.kind != "" {
				f.Refuse(k, "stands beside "+string(s.kind)+": a step does one thing", "")
			}
			s.kind, value = kind(k), v
		}
	}
	if s.kind == "" {
		r.Refuse(t, path, "does nothing: name an order, a call, …", "")
		return s
	}
	s.quiet, s.doubt = f.Flag("quiet"), f.Flag("doubt")
	s.faults, s.free = f.Flag("faults"), f.Flag("free")
	if f.At("answers") != nil {
		s.answers = f.Count("answers", 0, 1)
	}
	r.repeats(&s, f)
	if v := f.At("expect"); v != nil {
		for _, id := range r.items(v, f.Path("expect"), rail.Count) {
			if !slices.Contains(refusals(), id.Text) {
				r.Refuse(id, f.Path("expect"), "names no rail and no integrity refusal: "+strict.Nearest(id.Text, refusals()), "")
			}
			s.expect = append(s.expect, id.Text)
		}
		slices.Sort(s.expect)
	}
	switch {
	case (len(s.expect) > 0 || s.repeat > 1 || s.doubt) && !s.calls():
		f.Refuse(string(s.kind), "is not judged: expect, repeat and doubt go with calls", "")
	case s.free && (len(s.expect) > 0 || s.doubt || s.quiet || !s.calls()):
		f.Refuse("free", "goes with calls, and without expect, doubt and quiet", "")
	case s.quiet && (len(s.expect) > 0 || s.doubt):
		f.Refuse("quiet", "stands beside an expectation", "")
	case s.faults && len(s.expect) == 0:
		f.Refuse("faults", "stands without a refusal: a fault alone refuses nothing here", "")
	case s.allowed > 0 && len(s.expect) == 0:
		f.Refuse("allowed", "needs the refusals that follow in expect", "")
	}
	r.does(&s, value, f.Path(string(s.kind)))
	return s
}

func (r *reader) repeats(s *step, f strict.Fields) {
	s.repeat = f.Count("repeat", 1, RepeatMax)
	if f.At("allowed") != nil {
		s.allowed = f.Count("allowed", 0, s.repeat-1)
	}
	s.every = r.duration(f.At("every"), f.Path("every"))
	s.atOnce = f.Flag("at_once")
	if s.atOnce && (s.kind != kindOrder && s.kind != kindCall || s.every > 0 || s.quiet || s.doubt || s.repeat > AttackersMax) {
		f.Refuse("at_once", "goes with repeated orders and calls, "+strconv.Itoa(AttackersMax)+" at most, without every, quiet and doubt", "")
	}
	s.priceBy = figure(r, f.At("price_by"), f.Path("price_by"), money.ParsePrice)
}

// does reads what a step does.
func (r *reader) does(s *step, v *strict.Tree, path string) {
	switch s.kind {
	case kindOrder:
		s.tool, s.arguments = normalize.PlaceOrder, v
		if v.Shape != strict.Mapping {
			r.Refuse(v, path, "is not a mapping of arguments", "")
		}
	case kindCall:
		f := r.Fields(v, path, "tool", "arguments")
		s.tool = f.NeedPlain("tool")
		if a := f.At("arguments"); a != nil && a.Shape == strict.Scalar {
			s.text = a.Text
		} else {
			s.arguments = a
		}
	case kindRead:
		f := r.Fields(v, path, "tool", "arguments", "holds")
		s.tool, s.arguments, s.text = f.NeedPlain("tool"), f.At("arguments"), f.Plain("holds")
	case kindRaw:
		s.text = r.Plain(v, path)
	case kindSilence:
		s.text = r.Plain(v, path)
	case kindMode:
		s.text = r.Word(v, path, "active", "reduce_only", "halted")
	case kindBroker:
		s.text = r.Word(v, path, "reject", "timeout", "timeout_after", "partial", "late_fill", "duplicate_fill")
	case kindReconnect, kindRestart, kindReconcile:
		if !r.Flag(v, path) {
			r.Refuse(v, path, "is not true", "")
		}
	case kindAdvance, kindWall:
		s.duration = r.duration(v, path)
		if s.kind == kindAdvance && s.duration < 0 {
			r.Refuse(v, path, "goes back", "")
		}
	case kindQuote:
		f := r.Fields(v, path, "symbol", "bid", "ask", "age", "halted")
		s.quote = quote{
			symbol: f.NeedPlain("symbol"), bid: figure(r, f.Must("bid"), f.Path("bid"), money.ParsePrice), ask: figure(r, f.Must("ask"), f.Path("ask"), money.ParsePrice),
			halted: f.Flag("halted"), age: r.duration(f.At("age"), f.Path("age")),
		}
	case kindExternal:
		f := r.Fields(v, path, "symbol", "side", "quantity", "price")
		s.external = external{
			symbol: f.NeedPlain("symbol"), side: figure(r, f.Must("side"), f.Path("side"), order.ParseSide),
			quantity: figure(r, f.Must("quantity"), f.Path("quantity"), money.ParseQuantity), price: figure(r, f.Must("price"), f.Path("price"), money.ParsePrice),
		}
	}
}

// instruments are listed beside the practice market's.
func (r *reader) instruments(t *strict.Tree, path string) []order.Instrument {
	var out []order.Instrument
	for _, pair := range r.Pairs(t, path, entriesMax) {
		f := r.Fields(pair.Value, path+"."+pair.Key, "class", "currency", "underlying", "active", "multiplier")
		in := order.Instrument{
			Symbol: pair.Key, Class: figure(r, f.Must("class"), f.Path("class"), order.ParseAssetClass), Currency: f.NeedPlain("currency"),
			Underlying: f.Plain("underlying"), Active: true, Multiplier: money.QuantityFromInt(1),
		}
		if f.At("active") != nil {
			in.Active = f.Flag("active")
		}
		if m := f.At("multiplier"); m != nil {
			in.Multiplier = figure(r, m, f.Path("multiplier"), money.ParseQuantity)
		}
		out = append(out, in)
	}
	return out
}

// duration is zero when it is not written.
func (r *reader) duration(t *strict.Tree, path string) time.Duration {
	d := strict.Parse(&r.Reader, t, path, time.ParseDuration, "is not a duration", "such as 61s or 24h")
	if d > AdvanceMax || d < -AdvanceMax {
		r.Refuse(t, path, "is longer than "+AdvanceMax.String(), "")
	}
	return d
}
