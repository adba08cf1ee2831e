package journal

import "github.com/broker-rails/broker-rails/internal/order"

// form says what a value's only text is.
type form uint8

const (
	formText    form = iota + 1
	formWord         // one of the member's words
	formDecimal      // a string, in its shortest spelling
	formInstant      // a string, as Time is written
	formFlag         // true or false
	formSigned       // a whole number of 64 bits
	formCount        // the same without a sign
	formObject       // of the member's parts
	formTexts        // a list of texts
	formObjects      // a list of objects of the member's parts
)

// member is one member of an object.
type member struct {
	name  string // with quotes and colon, as it stands in the bytes
	form  form
	opt   bool // left out where it has nothing to say, so that its zero is not written
	words []string
	parts []member
}

func is(name string, f form) member { return member{name: `"` + name + `":`, form: f} }

// opt is a member that is left out when it is empty, zero or false.
func opt(name string, f form) member {
	m := is(name, f)
	m.opt = true
	return m
}

// kept is a member that may be left out, and may be there as zero too.
func kept(name string, f form) member {
	m := is(name, f)
	m.opt = true
	m.words = zeroKept
	return m
}

func word(name string, words []string) member {
	m := is(name, formWord)
	m.words = words
	return m
}

func object(name string, parts []member) member {
	m := is(name, formObject)
	m.parts = parts
	return m
}

func optObject(name string, parts []member) member {
	m := object(name, parts)
	m.opt = true
	return m
}

func list(name string, parts []member) member {
	m := opt(name, formObjects)
	m.parts = parts
	return m
}

// The members of every body, in the order of their names. They say once more what the
// structs in entry.go say, so that reading needs no reflection; a test holds one to the
// other.
//
//archtest:immutable tables that nothing writes to
var (
	zeroKept = []string{"zero is kept"}

	actionWords = []string{order.ActionNew.String(), order.ActionReplace.String(), order.ActionCancel.String()}
	sideWords   = []string{order.Buy.String(), order.Sell.String(), ""}
	typeWords   = []string{order.Limit.String(), order.Market.String(), order.Stop.String(), order.StopLimit.String(), ""}
	tifWords    = []string{order.Day.String(), order.GTC.String(), order.IOC.String(), order.GTD.String(), ""}
	classWords  = []string{
		order.USEquity.String(), order.USOption.String(), order.Crypto.String(), order.Future.String(), order.Forex.String(), "",
	}

	instrumentForm = []member{
		is("active", formFlag), word("class", classWords), is("currency", formText), is("multiplier", formDecimal),
		is("symbol", formText), opt("underlying", formText),
	}
	orderForm = []member{
		is("broker_id", formText), opt("client_order_id", formText), opt("filled", formDecimal), opt("group", formText),
		object("instrument", instrumentForm), opt("limit_price", formDecimal), is("quantity", formDecimal), word("side", sideWords),
		opt("stop_price", formDecimal), word("time_in_force", tifWords), word("type", typeWords),
	}
	positionForm = []member{is("cost", formDecimal), object("instrument", instrumentForm), is("quantity", formDecimal)}
	markForm     = []member{is("ask", formDecimal), is("at", formInstant), is("bid", formDecimal), is("symbol", formText)}
	intentForm   = []member{
		is("account", formText), word("action", actionWords), opt("client_order_id", formText), opt("expire_at", formInstant),
		opt("extended_hours", formFlag), opt("limit_price", formDecimal), word("order_type", typeWords), is("quantity", formDecimal),
		word("side", sideWords), opt("stop_price", formDecimal), is("symbol", formText), opt("target", formText),
		word("time_in_force", tifWords),
	}
	quoteForm = []member{
		opt("absent", formFlag), kept("ask", formDecimal), is("at", formInstant), kept("bid", formDecimal), opt("currency", formText),
		opt("feed", formText), opt("halted", formFlag), kept("last", formDecimal), optObject("last_valid", markForm),
	}
	findingForm = []member{
		opt("limit", formText), opt("observed", formText), opt("passes", formText), is("rail", formText), is("status", formText),
		opt("text", formText),
	}
	figuresForm     = []member{is("at", formInstant), is("buying_power", formDecimal), is("cash", formDecimal)}
	clockForm       = []member{opt("boot_id", formText), is("boot_ns", formSigned), opt("suspect", formFlag), is("wall", formInstant)}
	effectForm      = []member{is("kind", formText), is("rail", formText)}
	reservationForm = []member{
		is("bucket", formText), is("cost", formDecimal), is("notional", formDecimal), is("price", formDecimal), is("quantity", formDecimal),
	}
	flowForm = []member{is("amount", formDecimal), opt("reason", formText)}
	endForm  = []member{is("broker_id", formText), is("result", formText)}
	takeForm = []member{
		opt("broker_id", formText), is("fees", formDecimal), object("instrument", instrumentForm), is("price", formDecimal),
		is("quantity", formDecimal), word("side", sideWords),
	}
	differenceForm = []member{is("broker", formDecimal), is("ledger", formDecimal), is("symbol", formText)}
	resolutionForm = []member{
		opt("broker_id", formText), is("order_id", formText), opt("price", formDecimal), opt("quantity", formDecimal),
		is("reason", formText), is("result", formText),
	}
	holdingForm = []member{
		opt("cost", formDecimal), optObject("instrument", instrumentForm), is("quantity", formDecimal), is("symbol", formText),
	}

	genesisForm = []member{
		is("broker", formText), is("cash", formDecimal), is("currency", formText), opt("cursor", formText), opt("old_head", formText),
		list("orders", orderForm), list("positions", positionForm), opt("reason", formText), is("version", formText), is("who", formText),
	}
	limitsForm = []member{
		is("fingerprint", formText), opt("loosens", formTexts), is("text", formText), opt("tightens", formTexts), is("who", formText),
	}
	openForm     = []member{is("equity", formDecimal), is("source", formText), is("trade_date", formText)}
	decisionForm = []member{
		opt("agent", formText), optObject("broker", figuresForm), is("calendar", formText), opt("call_id", formText),
		object("clock", clockForm), is("control", formCount), is("door", formText), list("effects", effectForm), is("engine", formText),
		kept("equity", formDecimal), opt("fees", formDecimal), list("findings", findingForm), opt("flags", formTexts),
		object("instrument", instrumentForm), object("intent", intentForm), list("marks", markForm), is("mode", formText),
		opt("note", formText), is("off", formSigned), is("passes", formSigned), optObject("quote", quoteForm), is("raw_digest", formText),
		opt("reducing", formFlag), opt("reply_by", formInstant), optObject("reservation", reservationForm), is("state_digest", formText),
		is("verdict", formText),
	}
	outcomeForm = []member{
		opt("broker_id", formText), opt("cursor", formText), is("decision", formCount), opt("order_id", formText), opt("reason", formText),
		opt("reply_digest", formText), is("result", formText),
	}
	latchForm = []member{is("rail", formText), is("trade_date", formText)}
	fillForm  = []member{
		opt("cursor", formText), is("executed_at", formInstant), is("execution_id", formText), is("fees", formDecimal),
		is("order_id", formText), is("price", formDecimal), is("quantity", formDecimal),
	}
	externalForm = []member{
		optObject("cash", flowForm), opt("cursor", formText), optObject("ended", endForm), optObject("fill", takeForm),
		optObject("order", orderForm), is("source_id", formText),
	}
	modeForm = []member{
		is("by", formText), is("mode", formText), is("reason", formText), opt("rebase_peak", formFlag), is("who", formText),
	}
	refusalForm = []member{
		opt("agent", formText), opt("call_id", formText), is("code", formText), is("count", formSigned), opt("denial", formFlag),
		is("door", formText), opt("message", formFlag), is("raw_bytes", formSigned), opt("raw_digest", formText), opt("text", formText),
		opt("tool", formText),
	}
	reconcileForm = []member{
		opt("adopted", formTexts), is("as_of", formInstant), is("cash", formDecimal), list("differences", differenceForm),
		optObject("order", resolutionForm), list("positions", holdingForm), opt("reason", formText), opt("who", formText),
		is("whole", formFlag),
	}
	recoveryForm = []member{opt("in_doubt", formTexts), opt("note", formText), is("version", formText)}
)

// bodyForm is the form of a kind's body; nil for a kind that is not known.
func bodyForm(k Kind) []member {
	switch k {
	case KindDecision:
		return decisionForm
	case KindOutcome:
		return outcomeForm
	case KindFill:
		return fillForm
	case KindRefusal:
		return refusalForm
	case KindGenesis:
		return genesisForm
	case KindLimits:
		return limitsForm
	case KindOpen:
		return openForm
	case KindLatch:
		return latchForm
	case KindExternal:
		return externalForm
	case KindMode:
		return modeForm
	case KindReconcile:
		return reconcileForm
	case KindRecovery:
		return recoveryForm
	}
	return nil
}
