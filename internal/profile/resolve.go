package profile

import "slices"

// Resolve returns the question by which the instrument behind a broker's own number is asked
// for: that of the profile's instrument figures, with the number in the symbol's place. Not
// ok where the call names its instrument, where several legs do it by numbers, and where the
// profile has no way to ask: such a call keeps its need, and is not judged.
func (p *Profile) Resolve(r *Reading) (Query, bool) {
	if r.rules == nil || !unresolved(&r.Order) || len(r.Order.Legs) > 0 || len(r.Basket) > 0 || r.numbered() == nil {
		return Query{}, false
	}
	return p.Query(InstrumentFigures, r.Order.RawID, "")
}

// Resolved takes the instrument out of the answer to Resolve's question. There must be one
// row and no more, of the very number that was asked for, with a symbol in a spelling that
// the argument names and of the class and currency that the symbol says. Anything else is
// refused: a first hit is no instrument. The number is what goes on, as it was given.
func (r *Reading) Resolved(q Query, reply Reply) (Reading, *Refusal) {
	refused := func(problem string) (Reading, *Refusal) {
		return Reading{}, &Refusal{Reason: OpaqueID, Problem: problem}
	}
	a := r.numbered()
	if a == nil || !unresolved(&r.Order) || q.symbol != r.Order.RawID {
		return refused("is no number that was asked for")
	}
	rows, after, err := q.Rows(reply)
	switch {
	case err != nil:
		return refused("stands for nothing that the broker's answer tells")
	case len(rows) != 1 || after != "":
		return refused("stands for more than one instrument, or for none")
	case rows[0].Get("id") != r.Order.RawID:
		return refused("is not the number that the broker's answer is about")
	}
	row := rows[0]
	out, reason := a.symbol(row.Get("symbol"), r.rules.asset)
	switch currency := row.Get("currency"); {
	case reason != "":
		return Reading{}, &Refusal{Reason: reason, Problem: "the number stands for an instrument that this tool does not trade"}
	case out.class == "" || classWord(row.Get("class")) != out.class:
		return refused("stands for an instrument of another class than its symbol says")
	case currency != "" && out.currency != "" && currency != out.currency,
		r.Order.Currency != "" && out.currency != "" && r.Order.Currency != out.currency:
		return refused("stands for an instrument of another currency")
	}
	known := *r
	known.Order.Symbol, known.Order.AssetClass = out.symbol, out.class
	if out.currency != "" {
		known.Order.Currency = out.currency
	}
	known.Need = known.needs()
	return known, nil
}

// numbered is the argument that holds the broker's number; nil where it does not say how
// the symbols behind the numbers are spelled.
func (r *Reading) numbered() *argument {
	if r.rules == nil {
		return nil
	}
	i := slices.IndexFunc(r.rules.args, func(a argument) bool { return a.to == "raw_id" && len(a.spelling) > 0 })
	if i < 0 {
		return nil
	}
	return &r.rules.args[i]
}

// classWord writes a class as the order's has it.
func classWord(s string) string {
	switch s {
	case "us_equity":
		return "equity"
	case "us_option":
		return "option"
	}
	return s
}
