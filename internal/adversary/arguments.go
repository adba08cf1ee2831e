package adversary

import (
	"context"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/strict"
)

// plainPrice is the ask that a case finds, of AAPL and of MSFT.
const plainPrice = "200.02"

func plainQuote(symbol string) quote {
	return quote{symbol: symbol, bid: money.MustPrice("199.98"), ask: money.MustPrice(plainPrice), age: time.Second}
}

// plain is the order that a step's own arguments are laid over: it passes every limit of
// the shipped document.
func plain() [][2]string {
	return [][2]string{
		{"symbol", "AAPL"}, {"side", "buy"}, {"order_type", "limit"}, {"quantity", "10"}, {"limit_price", plainPrice}, {"time_in_force", "day"},
	}
}

// arguments are those of the n-th call of a step.
func (d *desk) arguments(s *step, n int) ([]byte, error) {
	if s.kind != kindOrder {
		if s.text != "" {
			return []byte(d.named(s.text)), nil
		}
		return []byte(d.named(string(appendJSON(nil, s.arguments)))), nil
	}
	t := strict.Tree{Shape: strict.Mapping}
	own := map[string]bool{}
	for _, k := range s.arguments.Keys {
		own[k.Text] = true
	}
	for _, f := range plain() {
		if !own[f[0]] {
			t.Keys, t.Values = append(t.Keys, text(f[0])), append(t.Values, text(f[1]))
		}
	}
	t.Keys, t.Values = append(t.Keys, s.arguments.Keys...), append(t.Values, s.arguments.Values...)
	for i, k := range t.Keys {
		if k.Text != "limit_price" || s.priceBy.IsZero() {
			continue
		}
		price, err := money.ParsePrice(t.Values[i].Text)
		if err != nil {
			return nil, err
		}
		for range n {
			price, _ = price.Sub(s.priceBy) // below zero the gate refuses it
		}
		t.Values[i] = text(price.String())
	}
	d.moved(&t)
	return []byte(d.named(string(appendJSON(nil, &t)))), nil
}

// roomForMoves is how much better a price is made in a market that runs, so that an order
// which trades at once in the case still does when its call arrives.
func roomForMoves() money.Price { return money.MustPrice("0.25") }

// moved puts prices where the market is now, when that is one that runs: a buy as far from
// its ask as it is from the plain one, a sell from its bid, and further on the same side.
func (d *desk) moved(t *strict.Tree) {
	r, runs := d.market.(*running)
	if !runs {
		return
	}
	symbol := valueOf(t, "symbol")
	if symbol == "" {
		symbol = "AAPL"
	}
	q, err := r.paper.Quote(context.Background(), symbol, r.practice.Read().Market)
	if err != nil || !q.Valid() {
		return
	}
	was, now := plainQuote(symbol).ask, q.Ask
	if valueOf(t, "side") == "sell" {
		was, now = plainQuote(symbol).bid, q.Bid
	}
	for i, k := range t.Keys {
		price, err := money.ParsePrice(t.Values[i].Text)
		if k.Text != "limit_price" && k.Text != "stop_price" || err != nil || t.Values[i].Shape != strict.Scalar {
			continue
		}
		by, _ := price.Sub(was)
		room := roomForMoves()
		if price.Cmp(was) < 0 || valueOf(t, "side") == "sell" && price == was {
			room = room.Neg()
		}
		price, _ = now.Add(by)
		price, _ = price.Add(room)
		as := *t.Values[i]
		as.Text = price.String()
		t.Values[i] = &as
	}
}

func text(s string) *strict.Tree { return &strict.Tree{Shape: strict.Scalar, Text: s, Quoted: true} }

// named puts the gate's id of an order in the place of "@" and the agent's own.
func (d *desk) named(text string) string {
	for _, id := range sortedKeys(d.orders) {
		text = strings.ReplaceAll(text, `"@`+id+`"`, `"`+d.orders[id]+`"`)
	}
	return text
}
