package scenario

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/strict"
)

// defaultAt is when a story begins that does not say so: a Wednesday, 11:00 in New York.
func defaultAt() time.Time { return time.Date(2026, time.March, 18, 15, 0, 0, 0, time.UTC) }

// Load reads a file of one scenario or a list of them, in YAML or JSON, strictly. The
// name stands in problems, and paths in the file are relative to its folder. Errors
// are limits.Errors, with the place of every problem.
func Load(name string, text []byte) ([]Scenario, error) {
	t, err := strict.Read(name, text)
	if err != nil {
		return nil, err
	}
	r := newReader(name)
	var out []Scenario
	switch {
	case t.Shape != strict.List:
		out = append(out, r.scenario(t, ""))
	case len(t.Values) == 0 || len(t.Values) > ScenariosMax:
		r.Refuse(t, "", fmt.Sprintf("holds %d scenarios", len(t.Values)), fmt.Sprintf("1 to %d", ScenariosMax))
	default:
		for i, item := range t.Values {
			out = append(out, r.scenario(item, fmt.Sprintf("[%d]", i)))
		}
	}
	if err := r.Err(); err != nil {
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

func (r *reader) scenario(t *strict.Tree, path string) Scenario {
	f := r.Fields(t, path, "name", "limits", "at", "instruments", "account", "quotes", "steps", "state")
	s := Scenario{Name: f.Plain("name"), File: r.Name, at: defaultAt()}
	s.account.cash = money.NotionalFromInt(100_000)
	if l := f.At("limits"); l != nil {
		s.limitsFile, s.limitsPart = r.limits(l, join(path, "limits"))
	}
	if at := f.At("at"); at != nil {
		s.at = r.instant(at, join(path, "at"))
	}
	if i := f.At("instruments"); i != nil {
		s.instruments = r.instruments(i, join(path, "instruments"))
	}
	if a := f.At("account"); a != nil {
		s.account = r.account(a, join(path, "account"))
	}
	if q := f.At("quotes"); q != nil {
		s.quotes = r.quotes(q, join(path, "quotes"))
	}
	if steps := f.At("steps"); steps != nil {
		items := r.Items(steps, join(path, "steps"), itemsMax)
		if len(items) > StepsMax {
			r.Refuse(steps, join(path, "steps"), fmt.Sprintf("are more than %d", StepsMax), "")
			items = nil
		}
		for i, item := range items {
			s.steps = append(s.steps, r.step(item, fmt.Sprintf("%s[%d]", join(path, "steps"), i)))
		}
	}
	if state := f.At("state"); state != nil {
		s.want = r.want(state, join(path, "state"))
	}
	return s
}

// limits takes the name of a file, or an inline map. The map may name with over the
// file that it is laid over; else that is the shipped document.
func (r *reader) limits(t *strict.Tree, path string) (file string, part *strict.Tree) {
	if t.Shape != strict.Mapping {
		return r.Plain(t, path), nil
	}
	rest := *t
	rest.Keys, rest.Values = nil, nil
	for i, k := range t.Keys {
		if k.Shape == strict.Scalar && k.Text == "over" && file == "" {
			file = r.Plain(t.Values[i], join(path, "over"))
			continue
		}
		rest.Keys, rest.Values = append(rest.Keys, k), append(rest.Values, t.Values[i])
	}
	return file, &rest
}

func (r *reader) instant(t *strict.Tree, path string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, r.Plain(t, path))
	if err != nil {
		r.Refuse(t, path, "is not an instant", "such as 2026-03-18T15:00:00Z")
		return defaultAt()
	}
	return at.UTC()
}

func (r *reader) instruments(t *strict.Tree, path string) []order.Instrument {
	var out []order.Instrument
	for _, e := range r.Pairs(t, path, entriesMax) {
		at := join(path, e.Key)
		f := r.Fields(e.Value, at, "class", "currency", "multiplier", "active", "underlying")
		in := order.Instrument{
			Symbol: e.Key, Class: order.USEquity, Currency: "USD", Active: true, Underlying: f.Plain("underlying"),
		}
		if c := f.At("class"); c != nil {
			var err error
			if in.Class, err = order.ParseAssetClass(r.Plain(c, join(at, "class"))); err != nil {
				r.Refuse(c, join(at, "class"), "is not a class", "us_equity, us_option, crypto, future or forex")
			}
		}
		if f.At("currency") != nil {
			in.Currency = f.Plain("currency")
		}
		if f.At("active") != nil {
			in.Active = f.Flag("active")
		}
		switch {
		case f.At("multiplier") != nil:
			in.Multiplier = r.quantity(f.At("multiplier"), join(at, "multiplier"))
		case in.Class != order.USOption && in.Class != order.Future:
			in.Multiplier = money.QuantityFromInt(1) // a contract's is never guessed
		}
		out = append(out, in)
	}
	return out
}

func (r *reader) account(t *strict.Tree, path string) accountPart {
	f := r.Fields(t, path, "cash", "positions", "open_orders", "orders_today", "notional_today", "equity_at_open")
	a := accountPart{cash: money.NotionalFromInt(100_000), ordersToday: f.Count("orders_today", 0, OrdersTodayMax)}
	if f.At("cash") != nil {
		a.cash = r.notional(f.At("cash"), join(path, "cash"))
	}
	a.notionalToday = r.notional(f.At("notional_today"), join(path, "notional_today"))
	if e := f.At("equity_at_open"); e != nil {
		equity := r.notional(e, join(path, "equity_at_open"))
		a.equityAtOpen = &equity
	}
	if p := f.At("positions"); p != nil {
		a.positions = r.positions(p, join(path, "positions"))
	}
	if orders := f.At("open_orders"); orders != nil {
		for i, item := range r.Items(orders, join(path, "open_orders"), itemsMax) {
			a.orders = append(a.orders, r.openOrder(item, fmt.Sprintf("%s[%d]", join(path, "open_orders"), i)))
		}
	}
	return a
}

// positions takes a map of symbols to quantities, or to {quantity, price}.
func (r *reader) positions(t *strict.Tree, path string) []position {
	var out []position
	for _, e := range r.Pairs(t, path, entriesMax) {
		at := join(path, e.Key)
		p := position{symbol: e.Key}
		if e.Value.Shape == strict.Mapping {
			f := r.Fields(e.Value, at, "quantity", "price")
			p.quantity = r.quantity(f.Must("quantity"), join(at, "quantity"))
			p.price = r.price(f.At("price"), join(at, "price"))
		} else {
			p.quantity = r.quantity(e.Value, at)
		}
		out = append(out, p)
	}
	return out
}

func (r *reader) openOrder(t *strict.Tree, path string) openOrder {
	f := r.Fields(t, path, append([]string{"id"}, intentFields()...)...)
	o := openOrder{id: f.NeedPlain("id"), intent: r.intent(f)}
	o.intent.TimeInForce = order.GTC
	if tif := f.At("time_in_force"); tif != nil {
		o.intent.TimeInForce, _ = order.ParseTimeInForce(r.Word(tif, join(path, "time_in_force"), "day", "gtc"))
	}
	o.symbol = o.intent.Symbol
	return o
}

func intentFields() []string {
	return []string{"symbol", "side", "order_type", "quantity", "limit_price", "stop_price", "time_in_force"}
}

// intent reads an order that is there already, or that came from outside.
func (r *reader) intent(f strict.Fields) order.Intent {
	in := order.Intent{Action: order.ActionNew, Symbol: f.NeedPlain("symbol"), Type: order.Limit, TimeInForce: order.Day}
	if t := f.Must("side"); t != nil {
		in.Side, _ = order.ParseSide(r.Word(t, f.Path("side"), "buy", "sell"))
	}
	if t := f.At("order_type"); t != nil {
		in.Type, _ = order.ParseType(r.Word(t, f.Path("order_type"), "limit", "market", "stop", "stop_limit"))
	}
	if t := f.At("time_in_force"); t != nil {
		in.TimeInForce, _ = order.ParseTimeInForce(r.Word(t, f.Path("time_in_force"), "day", "gtc", "ioc"))
	}
	in.Quantity = r.quantity(f.Must("quantity"), f.Path("quantity"))
	if in.Type.HasLimit() {
		in.LimitPrice = r.price(f.Must("limit_price"), f.Path("limit_price"))
	}
	if in.Type.HasStop() {
		in.StopPrice = r.price(f.Must("stop_price"), f.Path("stop_price"))
	}
	return in
}

func (r *reader) quotes(t *strict.Tree, path string) []quote {
	var out []quote
	for _, e := range r.Pairs(t, path, entriesMax) {
		at := join(path, e.Key)
		q := quote{symbol: e.Key}
		if e.Value.Shape == strict.Scalar && e.Value.Null {
			q.silent = true
			out = append(out, q)
			continue
		}
		f := r.Fields(e.Value, at, "bid", "ask", "last", "age", "halted", "currency")
		q.halted, q.currency = f.Flag("halted"), f.Plain("currency")
		if a := f.At("age"); a != nil {
			q.age = r.duration(a, join(at, "age"))
		}
		for name, to := range map[string]**money.Price{"bid": &q.bid, "ask": &q.ask, "last": &q.last} {
			if v := f.At(name); v != nil && !v.Null {
				p := r.price(v, join(at, name))
				*to = &p
			}
		}
		out = append(out, q)
	}
	return out
}

// want reads the state at the end.
func (r *reader) want(t *strict.Tree, path string) want {
	f := r.Fields(t, path, append([]string{"positions"}, stateFigures()...)...)
	var w want
	if p := f.At("positions"); p != nil {
		w.positions = r.positions(p, join(path, "positions"))
	}
	for _, name := range stateFigures() {
		if f.At(name) != nil {
			w.figures = append(w.figures, wantedFigure{name, f.Plain(name)})
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
