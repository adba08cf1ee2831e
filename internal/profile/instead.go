package profile

// PlaceInstead reads an explicit order as a call of this profile's own place tool for its
// class of instrument: a close is sent so, under our id, where the closing tool would take
// none. Only a call that reads back as the same order is one.
func (p *Profile) PlaceInstead(o *Order) (Reading, *Refusal) {
	for _, rs := range p.tools {
		if rs.class != Place || rs.asset == "" || rs.asset != o.AssetClass || rs.inject.name == "" || len(rs.variants) > 0 {
			continue
		}
		raw, ok := rs.spelled(o)
		if !ok {
			continue
		}
		r, refusal := p.Read(rs.tool, raw)
		if refusal != nil {
			return Reading{}, refusal
		}
		if g := &r.Order; g.Symbol == o.Symbol && sold(g.Side) == sold(o.Side) && g.Quantity == o.Quantity && g.Type == o.Type && g.Force == o.Force {
			return r, nil
		}
	}
	return Reading{}, &Refusal{Reason: NotJudged, Problem: "cannot be sent as an explicit order by this profile"}
}

// CancelInstead reads a cancel of one order by the broker's id.
func (p *Profile) CancelInstead(id string) (Reading, *Refusal) {
	for _, rs := range p.tools {
		if rs.class != Cancel || len(rs.args) == 0 || len(rs.variants) > 0 {
			continue
		}
		if raw, ok := rs.spelled(&Order{OrderID: id}); ok {
			return p.Read(rs.tool, raw)
		}
	}
	return Reading{}, &Refusal{Reason: NotJudged, Problem: "cannot be sent as a cancel of one order by this profile"}
}

// spelled writes an order's symbol, side, type, time in force, quantity and id as the
// tool's arguments; false when it takes none for something that the order says.
func (rs *ruleset) spelled(o *Order) ([]byte, bool) {
	c := &call{rules: rs, object: &value{kind: '{'}}
	for _, term := range []struct{ to, text string }{{"symbol", o.Symbol}, {"order_id", o.OrderID}, {"side", o.Side}, {"order_type", o.Type}, {"time_in_force", o.Force}} {
		if term.text == "" {
			continue
		}
		to, found := term.text, false
		for i := range rs.args {
			a := &rs.args[i]
			if a.to != term.to {
				continue
			}
			found = len(a.words) == 0
			for _, w := range a.words {
				if w.To == term.text {
					to, found = w.From, true
					break
				}
			}
			c.object.set(a.name, text(to))
			break
		}
		if !found {
			return nil, false
		}
	}
	if !o.Quantity.IsZero() && !c.figure("quantity", o.Quantity.String()) {
		return nil, false
	}
	return c.object.appendTo(nil), true
}
