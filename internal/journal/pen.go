package journal

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// pen writes a body member by member. The kinds of which every order makes several are
// written with it: a general encoder takes most of what a decision costs. The tests hold
// it to the general encoder's bytes.
type pen struct {
	b   []byte
	err error // the first
}

// write writes the kinds that it knows, and reports whether the body is of one.
func (p *pen) write(body any) bool {
	switch v := body.(type) {
	case Decision:
		p.decision(&v)
	case *Decision:
		if v == nil {
			return false
		}
		p.decision(v)
	case Outcome:
		p.outcome(&v)
	case Fill:
		p.fill(&v)
	case Refusal:
		p.refusal(&v)
	default:
		return false
	}
	return true
}

func (p *pen) open()  { p.b = append(p.b, '{') }
func (p *pen) close() { p.b = append(p.b, '}') }

// name begins a member. A value never ends in an opening brace, since strings end in
// their quote.
func (p *pen) name(name string) {
	if p.b[len(p.b)-1] != '{' {
		p.b = append(p.b, ',')
	}
	p.b = append(append(append(p.b, '"'), name...), '"', ':')
}

func (p *pen) value(text string) {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			b, err := jsontext.AppendQuote(p.b, text)
			p.b = b
			p.fail(err)
			return
		}
	}
	p.b = append(append(append(p.b, '"'), text...), '"')
}

func (p *pen) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *pen) text(name, value string) {
	p.name(name)
	p.value(value)
}

func (p *pen) optional(name, value string) {
	if value != "" {
		p.text(name, value)
	}
}

func (p *pen) flag(name string, value bool) {
	p.name(name)
	p.b = strconv.AppendBool(p.b, value)
}

func (p *pen) optionalFlag(name string, value bool) {
	if value {
		p.flag(name, value)
	}
}

func (p *pen) number(name string, value int64) {
	p.name(name)
	p.b = strconv.AppendInt(p.b, value, 10)
}

func (p *pen) count(name string, value uint64) {
	p.name(name)
	p.b = strconv.AppendUint(p.b, value, 10)
}

func (p *pen) instant(name string, at time.Time) {
	p.name(name)
	b, err := Time{at}.AppendText(append(p.b, '"'))
	if err != nil {
		p.fail(err)
		return
	}
	p.b = append(b, '"')
}

func (p *pen) notional(name string, v money.Notional) {
	p.name(name)
	p.b = append(v.AppendTo(append(p.b, '"')), '"')
}

func (p *pen) price(name string, v money.Price) {
	p.name(name)
	p.b = append(v.AppendTo(append(p.b, '"')), '"')
}

func (p *pen) optionalPrice(name string, v money.Price) {
	if !v.IsZero() {
		p.price(name, v)
	}
}

func (p *pen) pricePointer(name string, v *money.Price) {
	if v != nil {
		p.price(name, *v)
	}
}

func (p *pen) quantity(name string, v money.Quantity) {
	p.name(name)
	p.b = append(v.AppendTo(append(p.b, '"')), '"')
}

// each writes a list, unless it is nil.
func each[T any](p *pen, name string, list []T, write func(*T)) {
	if list == nil {
		return
	}
	p.name(name)
	p.b = append(p.b, '[')
	for i := range list {
		if i > 0 {
			p.b = append(p.b, ',')
		}
		write(&list[i])
	}
	p.b = append(p.b, ']')
}

func (p *pen) instrument(name string, in *order.Instrument) {
	p.name(name)
	p.open()
	p.flag("active", in.Active)
	p.text("class", in.Class.String())
	p.text("currency", in.Currency)
	p.quantity("multiplier", in.Multiplier)
	p.text("symbol", in.Symbol)
	p.optional("underlying", in.Underlying)
	p.close()
}

func (p *pen) intent(name string, in *order.Intent) {
	p.name(name)
	p.open()
	p.text("account", in.Account)
	if _, err := in.Action.MarshalText(); err != nil {
		p.fail(err)
	}
	p.text("action", in.Action.String())
	p.optional("client_order_id", in.ClientOrderID)
	if !in.ExpireAt.IsZero() {
		p.instant("expire_at", in.ExpireAt)
	}
	p.optionalFlag("extended_hours", in.ExtendedHours)
	p.optionalPrice("limit_price", in.LimitPrice)
	p.text("order_type", in.Type.String())
	p.quantity("quantity", in.Quantity)
	p.text("side", in.Side.String())
	p.optionalPrice("stop_price", in.StopPrice)
	p.text("symbol", in.Symbol)
	p.optional("target", in.Target)
	p.text("time_in_force", in.TimeInForce.String())
	p.close()
}

func (p *pen) mark(m *Mark) {
	p.open()
	p.price("ask", m.Ask)
	p.instant("at", m.At.Time)
	p.price("bid", m.Bid)
	p.text("symbol", m.Symbol)
	p.close()
}

func (p *pen) outcome(o *Outcome) {
	p.open()
	p.optional("broker_id", o.BrokerID)
	p.optional("cursor", o.Cursor)
	p.count("decision", o.Decision)
	p.optional("order_id", o.OrderID)
	p.optional("reason", o.Reason)
	p.optional("reply_digest", o.ReplyDigest)
	p.text("result", o.Result)
	p.close()
}

func (p *pen) fill(f *Fill) {
	p.open()
	p.optional("cursor", f.Cursor)
	p.instant("executed_at", f.ExecutedAt.Time)
	p.text("execution_id", f.ExecutionID)
	p.notional("fees", f.Fees)
	p.text("order_id", f.OrderID)
	p.price("price", f.Price)
	p.quantity("quantity", f.Quantity)
	p.close()
}

func (p *pen) refusal(r *Refusal) {
	p.open()
	p.optional("agent", r.Agent)
	p.optional("call_id", r.CallID)
	p.text("code", r.Code)
	p.number("count", int64(r.Count))
	p.optionalFlag("denial", r.Denial)
	p.text("door", r.Door)
	p.optionalFlag("message", r.Message)
	p.number("raw_bytes", int64(r.RawBytes))
	p.optional("raw_digest", r.RawDigest)
	p.optional("text", r.Text)
	p.optional("tool", r.Tool)
	p.close()
}
