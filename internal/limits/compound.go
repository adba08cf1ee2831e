package limits

import (
	"strconv"
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/strict"
)

// fields returns the values of a small mapping that has exactly these keys.
func fields(n *node, names ...string) ([]*node, complaint) {
	form := "write {"
	for i, name := range names {
		if i > 0 {
			form += ", "
		}
		form += name + ": ..."
	}
	form += "}, or off"
	switch {
	case n.Null:
		return nil, nullComplaint
	case n.Shape != strict.Mapping:
		return nil, complaint{Problem: "is not a mapping", Hint: form}
	}
	values := make([]*node, len(names))
	for i, key := range n.Keys {
		at := -1
		for j, name := range names {
			if key.Shape == strict.Scalar && key.Text == name {
				at = j
			}
		}
		switch {
		case at < 0:
			return nil, complaint{Problem: "has the unknown key " + quoted(key.Text), Hint: form, At: key}
		case values[at] != nil:
			return nil, complaint{Problem: "has the key " + names[at] + " twice", At: key}
		}
		values[at] = n.Values[i]
	}
	for j, v := range values {
		if v == nil {
			return nil, complaint{Problem: "is missing", Hint: form, Suffix: "." + names[j]}
		}
	}
	return values, complaint{}
}

// inside gives a complaint about a value in a small mapping its place and key.
func inside(c complaint, at *node, name string) complaint {
	if c.Found() && c.At == nil {
		c.At, c.Suffix = at, "."+name
	}
	return c
}

// timeWindow is hours of the exchange's local day, from included and to not.
func timeWindow() figure[TimeWindow] {
	return figure[TimeWindow]{
		kind: KindTimeWindow, direction: NarrowerTightens, schema: timeWindowSchema,
		read: func(n *node) (w TimeWindow, c complaint) {
			v, c := fields(n, "from", "to")
			if c.Found() {
				return w, c
			}
			if w.From, c = readTimeOfDay(v[0]); c.Found() {
				return w, inside(c, v[0], "from")
			}
			if w.To, c = readTimeOfDay(v[1]); c.Found() {
				return w, inside(c, v[1], "to")
			}
			if w.From >= w.To {
				return w, complaint{Problem: "ends before it begins", At: v[1], Suffix: ".to"}
			}
			return w, complaint{}
		},
		write: func(b []byte, w TimeWindow) []byte {
			b = appendTimeOfDay(append(b, `{"from":"`...), w.From)
			b = appendTimeOfDay(append(b, `","to":"`...), w.To)
			return append(b, `"}`...)
		},
		effect: func(before, after TimeWindow) Effect {
			switch {
			case before == after:
				return Same
			case after.From >= before.From && after.To <= before.To:
				return Tightens
			case after.From <= before.From && after.To >= before.To:
				return Loosens
			}
			return Changes
		},
	}
}

// readTimeOfDay reads HH:MM. Unquoted it is base sixty in YAML 1.1.
func readTimeOfDay(n *node) (time.Duration, complaint) {
	const form = `write it as "HH:MM", in quotes`
	t := n.Text
	switch {
	case n.Null:
		return 0, nullComplaint
	case n.Shape != strict.Scalar, !n.Quoted, len(t) != 5, t[2] != ':':
		return 0, complaint{Problem: "is not a time of day", Hint: form}
	}
	for _, i := range [...]int{0, 1, 3, 4} {
		if t[i] < '0' || t[i] > '9' {
			return 0, complaint{Problem: "is not a time of day", Hint: form}
		}
	}
	hours, minutes := int(t[0]-'0')*10+int(t[1]-'0'), int(t[3]-'0')*10+int(t[4]-'0')
	if hours > 23 || minutes > 59 {
		return 0, complaint{Problem: "is not a time of day", Hint: form}
	}
	return time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute, complaint{}
}

func appendTimeOfDay(b []byte, v time.Duration) []byte {
	hours, minutes := int(v/time.Hour), int(v%time.Hour/time.Minute)
	return append(b, byte('0'+hours/10), byte('0'+hours%10), ':', byte('0'+minutes/10), byte('0'+minutes%10))
}

// within reads a count inside a window, such as {denials: 100, window: 10m}.
func within(n *node, name string, low, high int) (events int, window time.Duration, c complaint) {
	v, c := fields(n, name, "window")
	if c.Found() {
		return 0, 0, c
	}
	text, c := numberText(v[0])
	if !c.Found() {
		events, c = wholeNumber(text, low, high)
	}
	if c.Found() {
		return 0, 0, inside(c, v[0], name)
	}
	window, c = readDuration(v[1], BehaviourWindowMax)
	return events, window, inside(c, v[1], "window")
}

func appendWithin(b []byte, name string, events int, window time.Duration) []byte {
	b = append(append(append(b, `{"`...), name...), `":`...)
	b = strconv.AppendInt(b, int64(events), 10)
	b = appendDuration(append(b, `,"window":`...), window)
	return append(b, '}')
}

// withinEffect compares counts within windows: fewer events, or the same within a
// longer window, trip sooner.
func withinEffect(eventsBefore, eventsAfter int, windowBefore, windowAfter time.Duration) Effect {
	return ordered(eventsAfter-eventsBefore, LowerTightens).and(
		ordered(compareInt(windowAfter, windowBefore), HigherTightens))
}

func denialStorm() figure[DenialStorm] {
	return figure[DenialStorm]{
		kind: KindDenialStorm, direction: SoonerTightens, schema: withinSchema("denials", 0, DenialsMax),
		read: func(n *node) (s DenialStorm, c complaint) {
			s.Denials, s.Window, c = within(n, "denials", 0, DenialsMax)
			return s, c
		},
		write: func(b []byte, s DenialStorm) []byte { return appendWithin(b, "denials", s.Denials, s.Window) },
		effect: func(a, b DenialStorm) Effect {
			return withinEffect(a.Denials, b.Denials, a.Window, b.Window)
		},
	}
}

func repeatedExecution() figure[RepeatedExecution] {
	return figure[RepeatedExecution]{
		kind: KindRepeatedExecution, direction: SoonerTightens, schema: withinSchema("cycles", 1, CyclesMax),
		read: func(n *node) (r RepeatedExecution, c complaint) {
			r.Cycles, r.Window, c = within(n, "cycles", 1, CyclesMax)
			return r, c
		},
		write: func(b []byte, r RepeatedExecution) []byte { return appendWithin(b, "cycles", r.Cycles, r.Window) },
		effect: func(a, b RepeatedExecution) Effect {
			return withinEffect(a.Cycles, b.Cycles, a.Window, b.Window)
		},
	}
}

const usEquityWord = "us_equity"

// usEquityCoarse and usEquityFine are the steps of Regulation NMS rule 612.
var usEquityCoarse, usEquityFine = money.MustPrice("0.01"), money.MustPrice("0.0001")

func priceStep() figure[PriceStep] {
	number := ofDecimal(KindPriceStep, CoarserTightens, money.ParsePrice, bounds[money.Price]{})
	return figure[PriceStep]{
		kind: KindPriceStep, direction: CoarserTightens, schema: priceStepSchema,
		read: func(n *node) (PriceStep, complaint) {
			if n.Shape == strict.Scalar && n.Text == usEquityWord {
				return PriceStep{USEquity: true}, complaint{}
			}
			step, c := number.read(n)
			if c.Found() && c.Hint != nullComplaint.Hint {
				c.Hint = "write us_equity, a number above 0, or off"
			}
			return PriceStep{Step: step}, c
		},
		write: func(b []byte, s PriceStep) []byte {
			if s.USEquity {
				return append(b, `"us_equity"`...)
			}
			return number.write(b, s.Step)
		},
		effect: func(before, after PriceStep) Effect {
			switch {
			case before == after:
				return Same
			case coarser(after, before):
				return Tightens
			case coarser(before, after):
				return Loosens
			}
			return Changes
		},
	}
}

// coarser reports whether every price on step a is also on step b.
func coarser(a, b PriceStep) bool {
	switch {
	case a.USEquity && b.USEquity:
		return true
	case a.USEquity:
		return usEquityFine.MultipleOf(b.Step) // 0.01 is a multiple of 0.0001
	case b.USEquity:
		return a.Step.MultipleOf(usEquityCoarse)
	}
	return a.Step.MultipleOf(b.Step)
}

func quantityStep() figure[money.Quantity] {
	f := ofDecimal(KindQuantity, CoarserTightens, money.ParseQuantity, bounds[money.Quantity]{})
	f.effect = func(before, after money.Quantity) Effect {
		switch {
		case before == after:
			return Same
		case after.MultipleOf(before):
			return Tightens
		case before.MultipleOf(after):
			return Loosens
		}
		return Changes
	}
	return f
}
