package scenario

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// defaultAt is when a story begins that does not say so: a Wednesday, 11:00 in New York.
func defaultAt() time.Time { return time.Date(2026, time.March, 18, 15, 0, 0, 0, time.UTC) }

// Load reads a file of one scenario or a list of them, in YAML or JSON, strictly. The
// name stands in problems, and paths in the file are relative to its folder. Errors
// are limits.Errors, with the place of every problem.
func Load(name string, text []byte) ([]Scenario, error) {
	t, err := limits.ReadTree(name, text)
	if err != nil {
		return nil, err
	}
	r := &reader{name: name}
	var out []Scenario
	switch {
	case t.Shape != limits.List:
		out = append(out, r.scenario(t, ""))
	case len(t.Values) == 0 || len(t.Values) > ScenariosMax:
		r.add(t, "", fmt.Sprintf("holds %d scenarios", len(t.Values)), fmt.Sprintf("1 to %d", ScenariosMax))
	default:
		for i, item := range t.Values {
			out = append(out, r.scenario(item, fmt.Sprintf("[%d]", i)))
		}
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	stem := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	for i := range out {
		if out[i].Name == "" {
			out[i].Name = stem
			if len(out) > 1 {
				out[i].Name = fmt.Sprintf("%s %d", stem, i+1)
			}
		}
	}
	return out, nil
}

func (r *reader) scenario(t *limits.Tree, path string) Scenario {
	f := r.mapping(t, path, "name", "limits", "at", "instruments", "account", "quotes", "steps", "state")
	s := Scenario{Name: f.text("name", false), File: r.name, at: defaultAt()}
	s.account.cash = money.NotionalFromInt(100_000)
	if l := f.of["limits"]; l != nil {
		s.limitsFile, s.limitsPart = r.limits(l, join(path, "limits"))
	}
	if at := f.of["at"]; at != nil {
		s.at = r.instant(at, join(path, "at"))
	}
	if i := f.of["instruments"]; i != nil {
		s.instruments = r.instruments(i, join(path, "instruments"))
	}
	if a := f.of["account"]; a != nil {
		s.account = r.account(a, join(path, "account"))
	}
	if q := f.of["quotes"]; q != nil {
		s.quotes = r.quotes(q, join(path, "quotes"))
	}
	if steps := f.of["steps"]; steps != nil {
		items := r.items(steps, join(path, "steps"))
		if len(items) > StepsMax {
			r.add(steps, join(path, "steps"), fmt.Sprintf("are more than %d", StepsMax), "")
			items = nil
		}
		for i, item := range items {
			s.steps = append(s.steps, r.step(item, fmt.Sprintf("%s[%d]", join(path, "steps"), i)))
		}
	}
	if state := f.of["state"]; state != nil {
		s.want = r.want(state, join(path, "state"))
	}
	return s
}

// limits takes the name of a file, or an inline map. The map may name with over the
// file that it is laid over; else that is the shipped document.
func (r *reader) limits(t *limits.Tree, path string) (file string, part *limits.Tree) {
	if t.Shape != limits.Mapping {
		return r.text(t, path), nil
	}
	rest := *t
	rest.Keys, rest.Values = nil, nil
	for i, k := range t.Keys {
		if k.Shape == limits.Scalar && k.Text == "over" && file == "" {
			file = r.text(t.Values[i], join(path, "over"))
			continue
		}
		rest.Keys, rest.Values = append(rest.Keys, k), append(rest.Values, t.Values[i])
	}
	return file, &rest
}

func (r *reader) instant(t *limits.Tree, path string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, r.text(t, path))
	if err != nil {
		r.add(t, path, "is not an instant", "such as 2026-03-18T15:00:00Z")
		return defaultAt()
	}
	return at.UTC()
}

func (r *reader) instruments(t *limits.Tree, path string) []order.Instrument {
	var out []order.Instrument
	for _, e := range r.entries(t, path) {
		at := join(path, e.name)
		f := r.mapping(e.value, at, "class", "currency", "multiplier", "active", "underlying")
		in := order.Instrument{
			Symbol: e.name, Class: order.USEquity, Currency: "USD", Active: true, Underlying: f.text("underlying", false),
		}
		if c := f.of["class"]; c != nil {
			var err error
			if in.Class, err = order.ParseAssetClass(r.text(c, join(at, "class"))); err != nil {
				r.add(c, join(at, "class"), "is not a class", "us_equity, us_option, crypto, future or forex")
			}
		}
		if f.has("currency") {
			in.Currency = f.text("currency", false)
		}
		if f.has("active") {
			in.Active = f.flag("active")
		}
		switch {
		case f.has("multiplier"):
			in.Multiplier = r.quantity(f.of["multiplier"], join(at, "multiplier"))
		case in.Class != order.USOption && in.Class != order.Future:
			in.Multiplier = money.QuantityFromInt(1) // a contract's is never guessed
		}
		out = append(out, in)
	}
	return out
}

func (r *reader) account(t *limits.Tree, path string) accountPart {
	f := r.mapping(t, path, "cash", "positions", "open_orders", "orders_today", "notional_today", "equity_at_open")
	a := accountPart{cash: money.NotionalFromInt(100_000), ordersToday: f.count("orders_today", OrdersTodayMax)}
	if f.has("cash") {
		a.cash = r.notional(f.of["cash"], join(path, "cash"))
	}
	a.notionalToday = r.notional(f.of["notional_today"], join(path, "notional_today"))
	if e := f.of["equity_at_open"]; e != nil {
		equity := r.notional(e, join(path, "equity_at_open"))
		a.equityAtOpen = &equity
	}
	if p := f.of["positions"]; p != nil {
		a.positions = r.positions(p, join(path, "positions"))
	}
	if orders := f.of["open_orders"]; orders != nil {
		for i, item := range r.items(orders, join(path, "open_orders")) {
			a.orders = append(a.orders, r.openOrder(item, fmt.Sprintf("%s[%d]", join(path, "open_orders"), i)))
		}
	}
	return a
}

// positions takes a map of symbols to quantities, or to {quantity, price}.
func (r *reader) positions(t *limits.Tree, path string) []position {
	var out []position
	for _, e := range r.entries(t, path) {
		at := join(path, e.name)
		p := position{symbol: e.name}
		if e.value.Shape == limits.Mapping {
			f := r.mapping(e.value, at, "quantity", "price")
			p.quantity = r.quantity(f.need("quantity"), join(at, "quantity"))
			p.price = r.price(f.of["price"], join(at, "price"))
		} else {
			p.quantity = r.quantity(e.value, at)
		}
		out = append(out, p)
	}
	return out
}

func (r *reader) openOrder(t *limits.Tree, path string) openOrder {
	f := r.mapping(t, path, append([]string{"id"}, intentFields()...)...)
	o := openOrder{id: f.text("id", true), intent: r.intent(f)}
	o.intent.TimeInForce = order.GTC
	if tif := f.of["time_in_force"]; tif != nil {
		o.intent.TimeInForce, _ = order.ParseTimeInForce(r.word(tif, join(path, "time_in_force"), "day", "gtc"))
	}
	o.symbol = o.intent.Symbol
	return o
}

func intentFields() []string {
	return []string{"symbol", "side", "order_type", "quantity", "limit_price", "stop_price", "time_in_force"}
}

// intent reads an order that is there already, or that came from outside.
func (r *reader) intent(f fields) order.Intent {
	in := order.Intent{Action: order.ActionNew, Symbol: f.text("symbol", true), Type: order.Limit, TimeInForce: order.Day}
	if t := f.need("side"); t != nil {
		in.Side, _ = order.ParseSide(r.word(t, join(f.path, "side"), "buy", "sell"))
	}
	if t := f.of["order_type"]; t != nil {
		in.Type, _ = order.ParseType(r.word(t, join(f.path, "order_type"), "limit", "market", "stop", "stop_limit"))
	}
	if t := f.of["time_in_force"]; t != nil {
		in.TimeInForce, _ = order.ParseTimeInForce(r.word(t, join(f.path, "time_in_force"), "day", "gtc", "ioc"))
	}
	in.Quantity = r.quantity(f.need("quantity"), join(f.path, "quantity"))
	if in.Type.HasLimit() {
		in.LimitPrice = r.price(f.need("limit_price"), join(f.path, "limit_price"))
	}
	if in.Type.HasStop() {
		in.StopPrice = r.price(f.need("stop_price"), join(f.path, "stop_price"))
	}
	return in
}

func (r *reader) quotes(t *limits.Tree, path string) []quote {
	var out []quote
	for _, e := range r.entries(t, path) {
		at := join(path, e.name)
		q := quote{symbol: e.name}
		if e.value.Shape == limits.Scalar && e.value.Null {
			q.silent = true
			out = append(out, q)
			continue
		}
		f := r.mapping(e.value, at, "bid", "ask", "last", "age", "halted", "currency")
		q.halted, q.currency = f.flag("halted"), f.text("currency", false)
		if a := f.of["age"]; a != nil {
			q.age = r.duration(a, join(at, "age"))
		}
		for name, to := range map[string]**money.Price{"bid": &q.bid, "ask": &q.ask, "last": &q.last} {
			if v := f.of[name]; v != nil && !v.Null {
				p := r.price(v, join(at, name))
				*to = &p
			}
		}
		out = append(out, q)
	}
	return out
}

// want reads the state at the end.
func (r *reader) want(t *limits.Tree, path string) want {
	f := r.mapping(t, path, append([]string{"positions"}, stateFigures()...)...)
	var w want
	if p := f.of["positions"]; p != nil {
		w.positions = r.positions(p, join(path, "positions"))
	}
	for _, name := range stateFigures() {
		if f.has(name) {
			w.figures = append(w.figures, wantedFigure{name, f.text(name, false)})
		}
	}
	return w
}

// stateFigures are the names of the final state's figures.
func stateFigures() []string {
	return []string{
		"cash", "denials", "equity_at_open", "exit_orders_today", "forwarded", "in_doubt", "loss_latched", "mode",
		"notional_today", "open_orders", "orders_today", "reserved",
	}
}
