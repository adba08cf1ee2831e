package profile

import (
	"strings"

	"github.com/broker-rails/broker-rails/internal/money"
)

// Answer reads the reply to a call that went on under our id: as Outcome does, and what
// was accepted must be what was sent. An order id beside another symbol, side, quantity or
// client order id is the answer to something else, and leaves the order in doubt. What a
// reply does not repeat is not compared.
func (r *Reading) Answer(id string, reply Reply) Proof {
	p := r.Outcome(reply)
	if p.Outcome == Accepted && !r.echoes(&p, r.Injected(id)) {
		p.Outcome = InDoubt
	}
	return p
}

func (r *Reading) echoes(p *Proof, own string) bool {
	o := &r.Order
	if p.ClientID != "" && own != "" && p.ClientID != own {
		return false
	}
	if p.Symbol != "" && o.Symbol != "" && !r.sameSymbol(p.Symbol) {
		return false
	}
	if p.Side != "" && o.Side != "" && o.Side != "position" && sold(r.side(p.Side)) != sold(o.Side) {
		return false
	}
	if p.Quantity != "" && !o.Quantity.IsZero() && r.Class != Close {
		q, err := money.ParseQuantity(p.Quantity)
		return err == nil && q.Equal(o.Quantity)
	}
	return true
}

// sameSymbol spells the reply's symbol as the tool's argument is spelled.
func (r *Reading) sameSymbol(s string) bool {
	for i := range r.rules.args {
		if a := &r.rules.args[i]; a.to == "symbol" {
			out, reason := a.symbol(s, "")
			return reason == "" && (out.symbol == r.Order.Symbol || strings.HasSuffix(r.Order.Symbol, ":"+out.symbol))
		}
	}
	return s == r.Order.Symbol
}

// side reads a reply's side by the tool's own words, or by the plain ones.
func (r *Reading) side(s string) string {
	for i := range r.rules.args {
		if a := &r.rules.args[i]; a.to == "side" {
			for _, w := range a.words {
				if w.From == s {
					return w.To
				}
			}
		}
	}
	return strings.ToLower(s)
}

// sold reduces a side to whether it sells; 0 for what is no side.
func sold(side string) int {
	switch side {
	case "buy", "buy_to_cover":
		return 1
	case "sell", "sell_short":
		return 2
	}
	return 0
}
