package profile

import "github.com/broker-rails/broker-rails/internal/money"

// Order is what a call asks for, in the words of every broker: wider than what the gate
// can judge. Intent narrows it. An empty text is: not said.
type Order struct {
	Symbol     string // in its one spelling: BRK.B, BTC/USD, an OCC symbol of 21, NFO:NIFTY26DECFUT
	AssetClass string // equity, option, crypto, derivative, commodity; empty where only the venue knows
	Venue      string // ISO 10383 where the profile names one
	Currency   string
	Side       string // buy, sell, sell_short, buy_to_cover; position: the opposite of what is held
	Effect     string // open, close
	Type       string // market, limit, stop, stop_limit, trailing
	Force      string // time in force: day, gtc, ioc, fok, gtd, opg, cls
	Session    string // regular, extended, overnight, after_market
	Product    string // as the broker calls its margin kinds: cash, margin, intraday
	OrderClass string // simple, bracket, oto, oco, multileg

	Quantity         money.Quantity // units; contracts for options. Zero: not said
	Notional         money.Notional // in NotionalCurrency
	NotionalCurrency string
	Percent          money.Percent   // of the position
	Target           *money.Quantity // the position that is to result
	All              bool            // the whole position

	LimitPrice   money.Price
	StopPrice    money.Price
	TrailAmount  money.Price
	TrailPercent money.Percent
	NetPrice     string // of several legs, signed as a debit: negative is a credit

	ClientOrderID string
	OrderID       string // the broker's id of the order that a replace or cancel names
	Token         string // of a confirmation
	Account       string
	Environment   string // paper, live
	ExpireAt      string
	RawID         string // the broker's own number of an instrument, not yet resolved
	Reduce        bool   // the call can only reduce

	Legs     []Order // of one order that fills as a whole; quantities are whole, ratio applied
	Children []Order // exits that the broker starts by itself
}
