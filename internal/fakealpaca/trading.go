package fakealpaca

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
)

// request is the body of a new order or a replace, as the service takes it: figures as
// texts or numbers.
type request struct {
	Symbol        string      `json:"symbol"`
	Qty           *figureText `json:"qty"`
	Notional      *figureText `json:"notional"`
	Side          string      `json:"side"`
	Type          string      `json:"type"`
	TimeInForce   string      `json:"time_in_force"`
	LimitPrice    *figureText `json:"limit_price"`
	StopPrice     *figureText `json:"stop_price"`
	TrailPrice    *figureText `json:"trail_price"`
	TrailPercent  *figureText `json:"trail_percent"`
	Trail         *figureText `json:"trail"`
	ExtendedHours bool        `json:"extended_hours"`
	ClientOrderID string      `json:"client_order_id"`
	OrderClass    string      `json:"order_class"`
}

// figureText is a figure by its text, quoted or not.
type figureText string

// UnmarshalJSON keeps the literal.
func (f *figureText) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*f = figureText(s)
		return nil
	}
	*f = figureText(b)
	return nil
}

func (f *figureText) price() (money.Price, bool) {
	if f == nil {
		return money.Price{}, true
	}
	p, err := money.ParsePrice(string(*f))
	return p, err == nil && p.IsPositive()
}

func (f *figureText) quantity() (money.Quantity, bool) {
	if f == nil {
		return money.Quantity{}, true
	}
	q, err := money.ParseQuantity(string(*f))
	return q, err == nil && q.IsPositive()
}

func invalid(message string) answer {
	return refused(http.StatusUnprocessableEntity, 40010001, message)
}

func body(r *http.Request) (req request, ok bool) {
	return req, json.NewDecoder(r.Body).Decode(&req) == nil
}

// place takes a new order: what the service checks, in its order.
func (b *Broker) place(r *http.Request) answer {
	req, ok := body(r)
	if !ok {
		return refused(http.StatusBadRequest, 40010000, "request body format is invalid")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	o, problem := b.checked(&req)
	switch {
	case problem != "":
		return invalid(problem)
	case b.blocked:
		return refused(http.StatusForbidden, 40310000, "account is not allowed to trade")
	case len(b.book.orders) >= OrdersMax:
		return invalid("too many orders")
	}
	if o.ClientOrderID == "" {
		o.ClientOrderID = b.book.id("client")
	} else if b.book.byClientID(o.ClientOrderID) != nil {
		return invalid("client_order_id must be unique")
	}
	if a, short := b.cannotPay(o); short {
		return a
	}
	o.ID = b.book.id("order")
	b.book.take(o, b.now(), b.open())
	return answer{http.StatusOK, orderObject(o)}
}

func (b *Broker) cannotPay(o *Order) (answer, bool) {
	if o.Side != "buy" {
		return answer{}, false
	}
	cost, ok := b.book.dearest(o).Times(o.Quantity, money.Up)
	free, _ := b.book.cash.Sub(b.book.reserved())
	if !ok || cost.Cmp(free) > 0 {
		return refused(http.StatusForbidden, 40310000, "insufficient buying power"), true
	}
	return answer{}, false
}

// checked reads a request into an order, or says what is wrong with it.
func (b *Broker) checked(req *request) (*Order, string) {
	q, qok := req.Qty.quantity()
	limit, lok := req.LimitPrice.price()
	stop, sok := req.StopPrice.price()
	o := &Order{
		ClientOrderID: req.ClientOrderID, Symbol: req.Symbol, Side: req.Side, Type: req.Type, Force: req.TimeInForce,
		Quantity: q, Limit: limit, Stop: stop, Extended: req.ExtendedHours,
	}
	_, known := b.book.quotes[req.Symbol]
	switch {
	case !known:
		return nil, "asset \"" + req.Symbol + "\" not found"
	case !qok || !lok || !sok:
		return nil, "a figure is invalid"
	case req.Qty == nil && req.Notional == nil:
		return nil, "qty or notional is required"
	case req.Notional != nil:
		return nil, "notional orders are not traded here"
	case !slices.Contains([]string{"buy", "sell"}, req.Side):
		return nil, "invalid side"
	case !slices.Contains([]string{"market", "limit", "stop", "stop_limit"}, req.Type):
		return nil, "invalid order type"
	case !slices.Contains([]string{"day", "gtc", "ioc"}, req.TimeInForce):
		return nil, "invalid time_in_force"
	case (req.Type == "limit" || req.Type == "stop_limit") != (req.LimitPrice != nil):
		return nil, "limit price does not go with the order type"
	case (req.Type == "stop" || req.Type == "stop_limit") != (req.StopPrice != nil):
		return nil, "stop price does not go with the order type"
	case req.TrailPrice != nil || req.TrailPercent != nil || req.OrderClass != "" && req.OrderClass != "simple":
		return nil, "order class is not traded here"
	case req.ExtendedHours && (req.Type != "limit" || req.TimeInForce == "ioc"):
		return nil, "extended hours order must be DAY or GTC limit orders"
	case len(req.ClientOrderID) > 128:
		return nil, "client_order_id must be no more than 128 characters"
	}
	return o, ""
}

func (b *Broker) get(r *http.Request) answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	if o := b.book.find(r.PathValue("id")); o != nil {
		return answer{http.StatusOK, orderObject(o)}
	}
	return notFound("order")
}

func (b *Broker) byClientID(r *http.Request) answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	if o := b.book.byClientID(r.URL.Query().Get("client_order_id")); o != nil {
		return answer{http.StatusOK, orderObject(o)}
	}
	return notFound("order")
}

func notFound(what string) answer {
	return refused(http.StatusNotFound, 40410000, what+" not found")
}

// list pages through orders, newest first unless asked for otherwise.
func (b *Broker) list(r *http.Request) answer {
	q := r.URL.Query()
	limit := 50
	if s := q.Get("limit"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > 500 {
			return invalid("limit must be between 1 and 500")
		}
		limit = n
	}
	after, aok := instant(q.Get("after"))
	until, uok := instant(q.Get("until"))
	if !aok || !uok {
		return invalid("invalid time")
	}
	status := q.Get("status")
	b.mu.Lock()
	defer b.mu.Unlock()
	found := []object{}
	all := slices.Clone(b.book.orders)
	if q.Get("direction") != "asc" {
		slices.Reverse(all)
	}
	for _, o := range all {
		switch {
		case len(found) >= limit, (status == "" || status == "open") && !o.open(), status == "closed" && o.open():
		case !after.IsZero() && !o.created.After(after), !until.IsZero() && !o.created.Before(until):
		default:
			found = append(found, orderObject(o))
		}
	}
	return answer{http.StatusOK, found}
}

func instant(s string) (time.Time, bool) {
	if s == "" {
		return time.Time{}, true
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t, err == nil
}

// replace makes a new order of an open one. It answers 200 also when a fill overtook it:
// what became of it is told by the stream.
func (b *Broker) replace(r *http.Request) answer {
	req, ok := body(r)
	if !ok {
		return refused(http.StatusBadRequest, 40010000, "request body format is invalid")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.book.find(r.PathValue("id"))
	switch {
	case old == nil:
		return notFound("order")
	case !old.open() || old.Status == "accepted":
		return invalid("order is not in a state that can be replaced")
	case req.Notional != nil || req.Trail != nil:
		return invalid("notional and trail are not traded here")
	}
	next := *old
	next.ClientOrderID, next.Replaces, next.ReplacedBy = req.ClientOrderID, old.ID, ""
	if p := b.amended(&next, &req); p != "" {
		return invalid(p)
	}
	switch {
	case next.ClientOrderID == "":
		next.ClientOrderID = b.book.id("client")
	case b.book.byClientID(next.ClientOrderID) != nil:
		return invalid("client_order_id must be unique")
	}
	next.ID = b.book.id("order")
	if b.due("PATCH", "lost_replace") != nil {
		rest, _ := old.Quantity.Sub(old.Filled)
		b.book.fill(old, rest, b.book.dearest(old), b.now())
		b.tell(event{Kind: "order_replace_rejected", Order: *old, At: b.now()})
		next.Status = "pending_new"
		return answer{http.StatusOK, orderObject(&next)}
	}
	old.ReplacedBy = next.ID
	b.book.end(old, "replaced", b.now())
	b.book.take(&next, b.now(), b.open())
	return answer{http.StatusOK, orderObject(&next)}
}

func (b *Broker) amended(o *Order, req *request) string {
	if req.Qty != nil {
		q, ok := req.Qty.quantity()
		if !ok || q.Cmp(o.Filled) <= 0 {
			return "invalid qty"
		}
		o.Quantity = q
	}
	if req.LimitPrice != nil {
		p, ok := req.LimitPrice.price()
		if !ok || o.Limit.IsZero() {
			return "invalid limit_price"
		}
		o.Limit = p
	}
	if req.StopPrice != nil {
		p, ok := req.StopPrice.price()
		if !ok || o.Stop.IsZero() {
			return "invalid stop_price"
		}
		o.Stop = p
	}
	if req.TimeInForce != "" {
		o.Force = req.TimeInForce
	}
	return ""
}

func (b *Broker) cancel(r *http.Request) answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.book.find(r.PathValue("id"))
	switch {
	case o == nil:
		return notFound("order")
	case !o.open():
		return refused(http.StatusUnprocessableEntity, 42210000, "order is already in \""+o.Status+"\" state")
	}
	b.canceled(o)
	return answer{http.StatusNoContent, nil}
}

func (b *Broker) canceled(o *Order) {
	if b.due("DELETE", "lost_cancel") != nil {
		rest, _ := o.Quantity.Sub(o.Filled)
		b.book.fill(o, rest, b.book.dearest(o), b.now())
		b.tell(event{Kind: "order_cancel_rejected", Order: *o, At: b.now()})
		return
	}
	b.book.end(o, "canceled", b.now())
}

func (b *Broker) cancelAll(*http.Request) answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []object{}
	for _, o := range b.book.orders {
		if !o.open() {
			continue
		}
		if b.due("DELETE", "partial_207") != nil {
			out = append(out, object{"id": o.ID, "status": 500, "body": object{"code": 50010000, "message": "internal server error occurred"}})
			continue
		}
		b.canceled(o)
		out = append(out, object{"id": o.ID, "status": 200, "body": orderObject(o)})
	}
	return answer{http.StatusMultiStatus, out}
}

func (b *Broker) positions(*http.Request) answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []object{}
	for _, p := range b.book.sorted() {
		out = append(out, b.positionObject(p))
	}
	return answer{http.StatusOK, out}
}

// held finds a position by its symbol or the service's number of it. The lock is held.
func (b *Broker) held(name string) *Position {
	for _, p := range b.book.positions {
		if p.Symbol == name || assetID(p.Symbol) == name {
			return p
		}
	}
	return nil
}

func (b *Broker) position(r *http.Request) answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.held(r.PathValue("symbol")); p != nil {
		return answer{http.StatusOK, b.positionObject(*p)}
	}
	return notFound("position")
}

func (b *Broker) closePosition(r *http.Request) answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.held(r.PathValue("symbol"))
	if p == nil {
		return notFound("position")
	}
	q := p.Quantity.Abs()
	if s := r.URL.Query().Get("qty"); s != "" {
		part, err := money.ParseQuantity(s)
		if err != nil || !part.IsPositive() || part.Cmp(q) > 0 {
			return invalid("invalid qty")
		}
		q = part
	} else if s := r.URL.Query().Get("percentage"); s != "" {
		pct, err := money.ParsePercent(s)
		part, ok := q.WholeShare(pct)
		if err != nil || !ok || part.IsZero() {
			return invalid("invalid percentage")
		}
		q = part
	}
	return answer{http.StatusOK, orderObject(b.closed(p, q))}
}

func (b *Broker) closed(p *Position, q money.Quantity) *Order {
	side := "sell"
	if p.Quantity.IsNegative() {
		side = "buy"
	}
	o := &Order{ID: b.book.id("order"), ClientOrderID: b.book.id("client"), Symbol: p.Symbol, Side: side, Type: "market", Force: "day", Quantity: q}
	b.book.take(o, b.now(), b.open())
	return o
}

func (b *Broker) closeAll(r *http.Request) answer {
	if r.URL.Query().Get("cancel_orders") == "true" {
		b.cancelAll(r)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []object{}
	for _, p := range b.book.sorted() {
		o := b.closed(b.book.positions[p.Symbol], p.Quantity.Abs())
		out = append(out, object{"symbol": p.Symbol, "status": 200, "body": orderObject(o)})
	}
	return answer{http.StatusMultiStatus, out}
}
