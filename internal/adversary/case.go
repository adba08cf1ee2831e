package adversary

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/strict"
)

// Case is one attack, read and checked. Load makes it.
type Case struct {
	Channel string
	Name    string
	Why     string // what would go wrong if it passed
	File    string

	limits *strict.Tree // laid over the shipped document; nil: nothing
	begin  begin
	before []step // what the account has done; every call must pass
	attack []step
	world  world
	twin   []step // from the same beginning; every call must pass
	noTwin string // why there is none
}

// begin is the account when the case begins.
type begin struct {
	at          time.Time
	cash        money.Notional
	instruments []order.Instrument
}

// Expected is every id that must refuse some call of the attack, sorted, once each.
func (c *Case) Expected() []string {
	set := map[string]bool{}
	for i := range c.attack {
		for _, id := range c.attack[i].expect {
			set[id] = true
		}
	}
	return sorted(set)
}

// world is what the broker's ledger must show of the attack's own orders. What is not
// given is not compared, but for this: where no call may pass, nothing may have changed.
type world struct {
	fills  *int
	shares map[string]money.Quantity // net bought by the attack's own orders
	// held: at each step, all that the broker recorded stays within the limits document's
	// caps. Calls need not name who refuses them then.
	held bool
}

// kind is what a step does.
type kind string

const (
	kindOrder    kind = "order"    // place_order, on top of a plain order
	kindCall     kind = "call"     // any tool, any arguments
	kindRaw      kind = "raw"      // one JSON-RPC message as it stands, in a session of its own
	kindRead     kind = "read"     // a reading tool, whose answer must hold a text
	kindAdvance  kind = "advance"  // time runs, quotes keep up
	kindWall     kind = "wall"     // the wall clock steps
	kindQuote    kind = "quote"    // what the market says of a symbol
	kindSilence  kind = "silence"  // the market says nothing of a symbol any more
	kindMode     kind = "mode"     // by the operator
	kindBroker   kind = "broker"   // what the broker does with the next message
	kindExternal kind = "external" // a trade that the account's owner made elsewhere

	kindReconnect kind = "reconnect" // the client ends its session and begins another
	kindRestart   kind = "restart"   // the server ends and begins anew on its journal
	kindReconcile kind = "reconcile" // by the operator
)

func kinds() []string {
	return []string{
		string(kindOrder), string(kindCall), string(kindRaw), string(kindRead), string(kindAdvance), string(kindWall),
		string(kindQuote), string(kindSilence), string(kindMode), string(kindBroker), string(kindExternal),
		string(kindReconnect), string(kindRestart), string(kindReconcile),
	}
}

// step is one step. Which fields count is said by its kind.
type step struct {
	kind kind
	line int

	tool      string
	arguments *strict.Tree // of an order or a call, when they are a mapping
	text      string       // arguments as bytes, a raw message, a mode, a symbol, or what an answer must hold
	answers   int          // messages that come back to a raw one
	free      bool         // the call is not judged: whoever refuses it, the ledger must hold
	quiet     bool         // the call is neither judged nor refused: it only reads, or repeats what was answered

	repeat  int           // times; 1 if not given
	every   time.Duration // between them
	atOnce  bool          // all of them together, each by a client session of its own
	priceBy money.Price   // each lower than the last by this
	allowed int           // how many pass before the rest is refused
	expect  []string      // who refuses; nobody: all pass
	faults  bool          // what the market does not say keeps other rails from deciding, beside the denial
	doubt   bool          // the reply is lost: the order passed and is in doubt

	duration time.Duration
	quote    quote
	external external
}

// calls reports whether a step is a tool call or a message.
func (s *step) calls() bool { return s.kind == kindOrder || s.kind == kindCall || s.kind == kindRaw }

type quote struct {
	symbol   string
	bid, ask money.Price
	age      time.Duration
	halted   bool
}

type external struct {
	symbol   string
	side     order.Side
	quantity money.Quantity
	price    money.Price
}
