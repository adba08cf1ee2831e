package alpaca

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// figure is a number by its text: the service writes most of them as texts and some as
// numbers. null is the empty text.
type figure string

// UnmarshalJSON keeps the literal.
func (f *figure) UnmarshalJSON(b []byte) error {
	switch {
	case string(b) == "null":
		*f = ""
		return nil
	case len(b) > 0 && b[0] == '"':
		return json.Unmarshal(b, (*string)(f))
	case len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9'):
		*f = figure(b)
		return nil
	}
	return errUnreadable
}

func (f figure) quantity() (money.Quantity, error) { return money.ParseQuantity(string(f)) }

// price reads a price; none is zero.
func (f figure) price() (money.Price, error) {
	if f == "" {
		return money.Price{}, nil
	}
	return money.ParsePrice(string(f))
}

func (f figure) notional() (money.Notional, error) { return money.ParseNotional(string(f)) }

// shownOrder is an order as the service shows it.
type shownOrder struct {
	ID            string    `json:"id"`
	ClientOrderID string    `json:"client_order_id"`
	Symbol        string    `json:"symbol"`
	AssetClass    string    `json:"asset_class"`
	Side          string    `json:"side"`
	Type          string    `json:"type"`
	TimeInForce   string    `json:"time_in_force"`
	Status        string    `json:"status"`
	Qty           figure    `json:"qty"`
	FilledQty     figure    `json:"filled_qty"`
	LimitPrice    figure    `json:"limit_price"`
	StopPrice     figure    `json:"stop_price"`
	Replaces      string    `json:"replaces"`
	ReplacedBy    string    `json:"replaced_by"`
	SubmittedAt   time.Time `json:"submitted_at"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
	CanceledAt    time.Time `json:"canceled_at"`
	ExpiredAt     time.Time `json:"expired_at"`
	FailedAt      time.Time `json:"failed_at"`
	ReplacedAt    time.Time `json:"replaced_at"`
}

// Statuses that the package tells apart. Any other, known or not, is of a live order.
const (
	statusFilled   = "filled"
	statusReplaced = "replaced"
)

// ended is the word of the gate for how an order ended without filling up; empty if it
// did not.
func (o *shownOrder) ended() string {
	switch o.Status {
	case journal.ResultCanceled, journal.ResultExpired, journal.ResultRejected:
		return o.Status
	}
	return ""
}

// over reports whether nothing of the order can fill any more.
func (o *shownOrder) over() bool {
	return o.Status == statusFilled || o.Status == statusReplaced || o.ended() != ""
}

// settling reports whether a change of the order has been asked for and not been made.
func (o *shownOrder) settling() bool {
	return o.Status == "pending_replace" || o.Status == "pending_cancel"
}

// endedAt is when it ended, by the broker's clock.
func (o *shownOrder) endedAt() time.Time {
	for _, t := range []time.Time{o.CanceledAt, o.ExpiredAt, o.FailedAt, o.ReplacedAt, o.UpdatedAt, o.SubmittedAt} {
		if !t.IsZero() {
			return t.UTC()
		}
	}
	return time.Time{}
}

var errByAmount = errors.New("an order at the broker is by amount or of several legs, and cannot be counted: cancel it there")

// side reads a side.
func side(text string) (order.Side, error) {
	switch text {
	case "buy":
		return order.Buy, nil
	case "sell", "sell_short":
		return order.Sell, nil
	}
	return order.SideNone, fmt.Errorf("side: %w", errUnreadable)
}

// asBroker is the order in the gate's form. client is the client order id that the gate
// knows it by.
func (o *shownOrder) asBroker(client string) (journal.BrokerOrder, error) {
	if o.Qty == "" || o.Symbol == "" {
		return journal.BrokerOrder{}, errByAmount
	}
	var errs [5]error
	out := journal.BrokerOrder{BrokerID: o.ID, ClientOrderID: client, Instrument: instrument(o.Symbol, o.AssetClass)}
	out.Quantity, errs[0] = o.Qty.quantity()
	if o.FilledQty != "" {
		out.Filled, errs[1] = o.FilledQty.quantity()
	}
	out.LimitPrice, errs[2] = o.LimitPrice.price()
	out.StopPrice, errs[3] = o.StopPrice.price()
	out.Side, errs[4] = side(o.Side)
	switch o.Type {
	case "limit":
		out.Type = order.Limit
	case "stop":
		out.Type = order.Stop
	case "stop_limit":
		out.Type = order.StopLimit
	default:
		// Also an order that trails the market: it has no price that could be relied on.
		out.Type, out.LimitPrice, out.StopPrice = order.Market, money.Price{}, money.Price{}
	}
	switch o.TimeInForce {
	case "gtc":
		out.TimeInForce = order.GTC
	case "ioc", "fok":
		out.TimeInForce = order.IOC
	default:
		out.TimeInForce = order.Day
	}
	if err := errors.Join(errs[:]...); err != nil || o.ID == "" || !out.Quantity.IsPositive() || out.Filled.IsNegative() {
		return journal.BrokerOrder{}, fmt.Errorf("order %s: %w", journal.BoundText(o.ID, TextBytesMax), errUnreadable)
	}
	return out, nil
}

// currency of the accounts that the package trades.
const currency = "USD"

// instrument is what the service calls by a symbol. A class that is not known is none, and
// the gate refuses to trade it.
func instrument(symbol, class string) order.Instrument {
	in := order.Instrument{Symbol: symbol, Currency: currency, Multiplier: money.QuantityFromInt(1), Active: true}
	switch class {
	case "us_equity":
		in.Class = order.USEquity
	case "us_option":
		in.Class, in.Multiplier = order.USOption, money.QuantityFromInt(100)
	case "crypto":
		in.Class = order.Crypto
	}
	return in
}

// activity is a line of the account's activities: an execution, or money that moved.
type activity struct {
	ID              string    `json:"id"`
	Type            string    `json:"activity_type"`
	TransactionTime time.Time `json:"transaction_time"`
	Date            string    `json:"date"`
	Price           figure    `json:"price"`
	Qty             figure    `json:"qty"`
	Side            string    `json:"side"`
	Symbol          string    `json:"symbol"`
	OrderID         string    `json:"order_id"`
	NetAmount       figure    `json:"net_amount"`
	Status          string    `json:"status"`
}

const typeFill = "FILL"

// at is when it happened; a line with a date only happened at the date's beginning.
func (a *activity) at() (time.Time, error) {
	if !a.TransactionTime.IsZero() {
		return a.TransactionTime.UTC(), nil
	}
	t, err := time.Parse(time.DateOnly, a.Date)
	if err != nil || a.ID == "" {
		return time.Time{}, fmt.Errorf("activity without a time or an id: %w", errUnreadable)
	}
	return t, nil
}

// shownPosition is a position; qty is negative for a short one.
type shownPosition struct {
	Symbol     string `json:"symbol"`
	AssetClass string `json:"asset_class"`
	Qty        figure `json:"qty"`
	Side       string `json:"side"`
	Average    figure `json:"avg_entry_price"`
}

// shownAccount is the account's own figures.
type shownAccount struct {
	Number      string `json:"account_number"`
	Status      string `json:"status"`
	Currency    string `json:"currency"`
	Cash        figure `json:"cash"`
	BuyingPower figure `json:"buying_power"`
	LastEquity  figure `json:"last_equity"`
	Blocked     bool   `json:"account_blocked"`
	NoTrading   bool   `json:"trading_blocked"`
	Suspended   bool   `json:"trade_suspended_by_user"`
}
