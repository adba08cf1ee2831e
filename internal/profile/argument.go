package profile

import (
	"slices"
	"strings"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// literal spells a default as the argument's JSON type.
func (a *argument) literal(s string) *value {
	switch a.kind {
	case "number", "integer":
		return &value{kind: '0', text: s}
	case "flag":
		return &value{kind: kindOfFlag(s), text: s}
	}
	return text(s)
}

// argument reads one argument and brings it to its target.
func (c *call) argument(a *argument) {
	var v *value
	for i, n := range c.names {
		if n == a.name {
			v = c.members[i]
		}
	}
	if v != nil && v.kind == 'n' {
		if !a.nullable {
			c.refuse(TypeMismatch, a.name, "is null")
			return
		}
		c.drop(a.name)
		v = nil
	}
	if v == nil {
		if a.absent == "refuse" {
			c.refuse(missing(a.to), a.name, "is missing")
		}
		return
	}
	if reason := a.fits(v); reason != "" {
		c.refuse(reason, a.name, "is not of the type that the server reads")
		return
	}
	if a.to != "none" {
		if slices.Contains(c.taken, a.to) {
			c.refuse(ExclusiveArgs, a.name, "says again what another argument says")
			return
		}
		c.taken = append(c.taken, a.to)
	}
	switch a.to {
	case "none":
		if len(a.words) > 0 {
			c.word(a, v.text)
		}
	case "symbol":
		c.symbolOf(a, v)
	case "quantity", "notional", "percent", "target", "limit_price", "stop_price", "trail_amount", "trail_percent",
		"net_price", "ratio", "take_profit.limit_price", "stop_loss.stop_price", "stop_loss.limit_price":
		c.number(a, v.text)
	case "order_id", "token", "raw_id", "account", "client_order_id":
		c.identifier(a, v)
	default:
		c.said(a, v.text)
	}
}

// said takes a word: by the argument's map, or as it is where any short text will do.
func (c *call) said(a *argument, word string) {
	if len(a.words) > 0 {
		if word = c.word(a, word); word == "" {
			return
		}
	} else if !short(word) {
		c.refuse(Enum, a.name, "is not a short text")
		return
	}
	o := &c.order
	switch {
	case a.to == "currency" && !upper(word, 3, 5):
		c.refuse(Enum, a.name, "is not a currency's code")
	case a.to == "currency" && o.Currency != "" && o.Currency != word:
		c.refuse(AssetClassMismatch, a.name, "is not the currency of the instrument that is named")
	case a.to == "asset_class" && o.AssetClass != "" && o.AssetClass != word:
		c.refuse(AssetClassMismatch, a.name, "is not the class of the instrument that is named")
	default:
		o.take(a.to, word)
	}
}

// short reports whether a text is 1 to WordBytesMax visible ASCII characters.
func short(s string) bool {
	return s != "" && len(s) <= WordBytesMax && !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' })
}

// missing is the reason when an argument that must be there is not.
func missing(to string) Reason {
	switch to {
	case "side":
		return MissingSide
	case "quantity", "ratio":
		return MissingQuantity
	case "notional":
		return MissingNotional
	case "limit_price", "stop_price", "net_price":
		return MissingPrice
	case "environment":
		return EnvNotPinned
	}
	return MissingArgument
}

// fits compares the JSON type with the one that the server reads. A server that takes
// another type reads another value: none is converted here.
func (a *argument) fits(v *value) Reason {
	switch a.kind {
	case "text", "decimal_text":
		if v.kind != '"' {
			return TypeMismatch
		}
	case "number":
		if v.kind != '0' {
			return TypeMismatch
		}
	case "integer":
		switch {
		case v.kind != '0':
			return TypeMismatch
		case strings.ContainsAny(v.text, ".eE"):
			return NotInteger
		}
	case "decimal":
		if v.kind != '0' && v.kind != '"' {
			return TypeMismatch
		}
	case "flag":
		if v.kind != 't' && v.kind != 'f' {
			return TypeMismatch
		}
	}
	if v.kind == '0' && !exactInDouble(v.text) {
		return NumberFormat
	}
	return ""
}

// exactInDouble reports whether a number's literal has so few significant digits that a
// server that reads it as a double reads the same number.
func exactInDouble(s string) bool {
	s, _, _ = strings.Cut(strings.ToLower(s), "e")
	digits := strings.TrimLeft(strings.Replace(strings.TrimPrefix(s, "-"), ".", "", 1), "0")
	return len(digits) <= DigitsMax
}

// word translates by the argument's map: by exact match, never by case.
func (c *call) word(a *argument, s string) string {
	for _, w := range a.words {
		if w.From == s {
			return w.To
		}
	}
	known := make([]string, 0, len(a.words))
	for _, w := range a.words {
		known = append(known, w.From)
	}
	c.refuse(Enum, a.name, "is not one of "+strings.Join(known, ", "))
	return ""
}

func (c *call) symbolOf(a *argument, v *value) {
	out, reason := a.symbol(v.text, c.rules.asset)
	if reason != "" {
		c.refuse(reason, a.name, "is not a symbol as this tool takes it")
		return
	}
	o := &c.order
	switch {
	case out.class != "" && o.AssetClass != "" && o.AssetClass != out.class:
		c.refuse(AssetClassMismatch, a.name, "is not of the class that the call names")
		return
	case out.currency != "" && o.Currency != "" && o.Currency != out.currency:
		c.refuse(AssetClassMismatch, a.name, "is not traded in the currency that the call names")
		return
	}
	o.Symbol = out.symbol
	if out.class != "" {
		o.AssetClass = out.class
	}
	if out.currency != "" {
		o.Currency = out.currency
	}
	// Letters that were raised go on raised.
	if raised := strings.ToUpper(v.text); raised != v.text && out.class == "equity" {
		c.put(a.name, text(raised))
	}
}

func (c *call) identifier(a *argument, v *value) {
	form := a.id
	if form == "" {
		form = "plain"
	}
	if !wellFormed(form, v.text) || a.to == "client_order_id" && len(v.text) > order.ClientOrderIDBytesMax {
		c.refuse(IdentifierFormat, a.name, "is not an id as this server has them")
		return
	}
	c.order.take(a.to, v.text)
}

// number keeps a figure's text; its unit is known when all arguments are read.
func (c *call) number(a *argument, s string) {
	if a.sign && strings.HasPrefix(s, "-") {
		c.order.Side, s = "sell", s[1:]
	} else if a.sign {
		c.order.Side = "buy"
	}
	if a.to == "net_price" {
		if _, err := money.ParsePrice(strings.TrimPrefix(s, "-")); err != nil {
			c.refuse(NumberFormat, a.name, "is not a plain decimal")
		}
		c.order.NetPrice = s
		return
	}
	// Quantities, prices and amounts share one form: digits, at most nine decimals.
	q, err := money.ParseQuantity(s)
	switch {
	case err != nil || q.IsNegative():
		c.refuse(NumberFormat, a.name, "is not a plain decimal above zero")
	case q.IsZero() && a.to != "target":
		if a.to == "quantity" || a.to == "notional" || a.to == "percent" || a.to == "ratio" {
			c.refuse(ZeroQuantity, a.name, "is zero")
			return
		}
		c.refuse(NumberFormat, a.name, "is zero")
	default:
		unit := a.unit
		for i := range a.units {
			if a.units[i].when.holds(c.text) {
				unit = a.units[i].unit
				break
			}
		}
		if unit == "" && len(a.units) > 0 {
			c.refuse(LeverageSize, a.name, "is of a unit that the call does not say")
			return
		}
		c.numbers[a.to] = s
		c.numbers[a.to+" unit"] = unit
	}
}

// figures turns the texts into figures with units.
func (c *call) figures() {
	o := &c.order
	quantity := func(to string) (q money.Quantity) {
		q, _ = money.ParseQuantity(c.numbers[to]) // parsed before; zero when not said
		return q
	}
	price := func(to string) (p money.Price) {
		p, _ = money.ParsePrice(c.numbers[to])
		return p
	}
	if c.numbers["quantity unit"] == "quote" {
		if c.numbers["notional"] != "" {
			c.refuse(ExclusiveArgs, "", "gives two sizes")
		}
		c.numbers["notional"], c.numbers["notional unit"] = c.numbers["quantity"], "quote"
		delete(c.numbers, "quantity")
	}
	o.Quantity, c.ratio = quantity("quantity"), quantity("ratio")
	if s := c.numbers["notional"]; s != "" {
		o.Notional, _ = money.ParseNotional(s)
		if o.NotionalCurrency = c.numbers["notional unit"]; o.NotionalCurrency == "quote" || o.NotionalCurrency == "" {
			o.NotionalCurrency = o.Currency
		}
	}
	if s := c.numbers["percent"]; s != "" {
		o.Percent, _ = money.ParsePercent(s)
		if o.Percent.Cmp(money.PercentFromInt(100)) > 0 {
			c.refuse(NumberFormat, "", "a percentage is above 100")
		}
	}
	if s := c.numbers["target"]; s != "" {
		q := quantity("target")
		o.Target = &q
	}
	o.LimitPrice, o.StopPrice, o.TrailAmount = price("limit_price"), price("stop_price"), price("trail_amount")
	if s := c.numbers["trail_percent"]; s != "" {
		o.TrailPercent, _ = money.ParsePercent(s)
	}
	c.childTake, c.childStop, c.childLim = price("take_profit.limit_price"), price("stop_loss.stop_price"), price("stop_loss.limit_price")
}

// take sets what a word says.
func (o *Order) take(to, word string) {
	switch to {
	case "asset_class":
		o.AssetClass = word
	case "venue":
		o.Venue = word
	case "currency":
		o.Currency = word
	case "side":
		o.Side = word
	case "effect":
		o.Effect = word
	case "order_type":
		o.Type = word
	case "time_in_force":
		o.Force = word
	case "session":
		o.Session = word
	case "product":
		o.Product = word
	case "order_class":
		o.OrderClass = word
	case "client_order_id":
		o.ClientOrderID = word
	case "order_id":
		o.OrderID = word
	case "token":
		o.Token = word
	case "account":
		o.Account = word
	case "environment":
		o.Environment = word
	case "expire_at":
		o.ExpireAt = word
	case "raw_id":
		o.RawID = word
	case "reduce":
		o.Reduce = word == "true"
	case "percent":
		if word == "all" {
			o.All = true
		}
	}
}
