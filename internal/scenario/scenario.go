package scenario

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/strict"
)

// Bounds of a scenario file.
const (
	FileBytesMax   = limits.DocumentBytesMax
	ScenariosMax   = 1_000
	StepsMax       = 10_000
	OrdersTodayMax = 10_000
)

// AdvanceMax is the longest that time advances in one step: every session of it is begun
// and ended.
const AdvanceMax = 366 * 24 * time.Hour

// Scenario is one story, read and checked. Load makes it.
type Scenario struct {
	Name string
	File string // as given to Load; limits are found beside it

	limitsFile  string       // path of a whole limits document; empty: the shipped one
	limitsPart  *strict.Tree // laid over it; nil: nothing
	at          time.Time
	instruments []order.Instrument
	account     accountPart
	quotes      []quote
	steps       []step
	want        want
}

// accountPart is what the account holds when the story begins.
type accountPart struct {
	cash          money.Notional
	positions     []position
	orders        []openOrder
	ordersToday   int
	notionalToday money.Notional
	equityAtOpen  *money.Notional // nil: what cash and positions are worth at the first quotes
}

type position struct {
	symbol   string
	quantity money.Quantity
	price    money.Price // average; zero: the quote's
}

type openOrder struct {
	id     string
	symbol string
	intent order.Intent
}

// quote is what is said of one symbol. A silent one takes the quote away.
type quote struct {
	symbol         string
	silent, halted bool
	bid, ask, last *money.Price
	age            time.Duration
	currency       string
}

// kind is what a step does.
type kind string

const (
	kindOrder     kind = "order"
	kindCall      kind = "call"
	kindRaw       kind = "raw"
	kindReplace   kind = "replace"
	kindCancel    kind = "cancel"
	kindAdvance   kind = "advance"
	kindWallClock kind = "wall_clock"
	kindQuote     kind = "quote"
	kindBroker    kind = "broker"
	kindFill      kind = "fill"
	kindExternal  kind = "external"
	kindReconcile kind = "reconcile"
	kindMode      kind = "mode"
	kindLimits    kind = "limits"
	kindRestart   kind = "restart"
	kindCrash     kind = "crash"
)

// step is one step. Which fields count is said by its kind.
type step struct {
	kind kind
	line int
	tool string // order, call, raw, replace, cancel
	raw  []byte // arguments of the call
	// arguments are those of a call step, when they are a mapping.
	arguments *strict.Tree
	target    string // the scenario's own name of an order
	crash     string // order, call: where the process ends; empty: it does not

	duration time.Duration // advance, wall_clock
	quotes   []quote
	word     string // broker, mode, crash
	fill     fillPart
	external externalPart
	finding  findingPart
	limits   *strict.Tree // limits: laid over those in force
	expect   *expectation
}

type fillPart struct {
	quantity money.Quantity
	price    money.Price
	id       string // execution id
}

// externalPart is what happened outside the gate; which is said by what.
type externalPart struct {
	what     string // order, fill, cash, ended, position
	id       string // order: what later steps call it
	intent   order.Intent
	symbol   string
	quantity money.Quantity
	price    money.Price
	cash     money.Notional
	ended    string // canceled, expired, rejected
}

// findingPart is a reconciliation: of everything, or of one order by hand.
type findingPart struct {
	adopt    bool
	result   string // placed, not_placed, filled; empty: of everything
	quantity money.Quantity
	price    money.Price
}

// expectation is what a call must come to. What is not named is not compared.
type expectation struct {
	verdict       string
	rails         []string // the exact set of what refuses
	railsGiven    bool
	railsInclude  []string
	faults        []string
	faultsGiven   bool
	faultsInclude []string
	outcome       *string
	forwarded     *int
}

// want is what the account must be in the end. What is not named is not compared.
type want struct {
	positions []position
	figures   []wantedFigure
}

type wantedFigure struct{ name, text string }
