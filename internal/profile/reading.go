package profile

import "fmt"

// Class is what a tool does, or would do.
type Class string

// Classes that a call may be read as. Any other class is refused as it is.
const (
	Read        Class = "read"
	Place       Class = "order.place"
	Preview     Class = "order.preview"
	Confirm     Class = "order.confirm"
	Replace     Class = "order.replace"
	Cancel      Class = "order.cancel"
	CancelAll   Class = "order.cancel_all"
	Close       Class = "position.close"
	Draft       Class = "order.draft"
	Conditional Class = "order.conditional"
)

// Need is what a reading still lacks, and who has it.
type Need string

// Needs. A call with a need is not judged before it is met.
const (
	NeedNothing    Need = ""
	NeedOrder      Need = "order"      // the working order, for a replace that does not name the instrument or keeps what it does not say
	NeedPosition   Need = "position"   // what is held, for a close or a target
	NeedInstrument Need = "instrument" // the instrument behind a broker's number
)

// Reading is one call as it was understood. Its zero value is nothing and is refused.
type Reading struct {
	Tool   string
	Class  Class
	Order  Order
	Basket []Order // of a call that asks for several orders: all or none
	Need   Need
	Via    string // the read tool that meets the need
	Keeps  bool   // a replace: what it does not say stays as it is

	arguments *value // of the call, defaults written out, forced values in place
	rules     *ruleset
}

// Reason is why a call has no reading.
type Reason string

// Reasons. They are refusals of a call, before any rail: none can be switched off.
const (
	UnknownTool        Reason = "unknown_tool"         // the profile does not name it
	ClassDenied        Reason = "class_denied"         // it moves money or limits, or cannot be judged
	MalformedCall      Reason = "malformed_call"       // not one JSON object in UTF-8
	DuplicateKey       Reason = "duplicate_key"        // a name stands twice
	UnmappedArgument   Reason = "unmapped_argument"    // an argument that the profile does not map
	ForbiddenArgument  Reason = "forbidden_argument"   // an argument that no agent may set
	SecretArgument     Reason = "secret_argument"      // a credential
	TypeMismatch       Reason = "type_mismatch"        // another JSON type than the server reads
	NumberFormat       Reason = "number_format"        // not a plain decimal
	NotInteger         Reason = "not_integer"          // a fraction where the server cuts it off
	ZeroQuantity       Reason = "zero_quantity"        // zero means all, or nothing
	Enum               Reason = "enum"                 // a word that is not listed
	SymbolFormat       Reason = "symbol_format"        // not this broker's spelling
	IdentifierFormat   Reason = "identifier_format"    // an id that could be a path or a query
	OpaqueID           Reason = "opaque_id"            // a number of the broker's where a symbol should be
	AssetClassMismatch Reason = "asset_class_mismatch" // the symbol is of another class than the tool
	ExclusiveArgs      Reason = "exclusive_args"       // two sizes
	MissingSide        Reason = "missing_side"
	MissingQuantity    Reason = "missing_quantity"
	MissingNotional    Reason = "missing_notional"
	MissingSize        Reason = "missing_size"
	MissingPrice       Reason = "missing_price"
	MissingArgument    Reason = "missing_argument"
	MissingLegField    Reason = "missing_leg_field"
	InconsistentPrice  Reason = "inconsistent_price"  // a price that the order type does not have
	NotionalWithLimit  Reason = "notional_with_limit" // a notional size on other than a market order
	EnvNotPinned       Reason = "env_not_pinned"      // paper or live is not said
	LeverageSize       Reason = "leverage_dependent_size"
	VariantAmbiguous   Reason = "variant_ambiguous" // two forms in one call, or none
	UnknownToken       Reason = "unknown_token"     // not issued to a judged call of this session
	StandingOrder      Reason = "standing_order"    // would place orders later, unseen
	NotJudged          Reason = "not_judged"        // read, but the gate has no figures for such an order
)

// Refusal says why a call has no reading. Field is one of the tool's own names, never
// the caller's text. Problem is ours.
type Refusal struct {
	Reason  Reason
	Field   string
	Problem string
	Class   Class // of a tool whose class is denied
}

func (r *Refusal) Error() string {
	if r.Field == "" {
		return fmt.Sprintf("%s: %s", r.Reason, r.Problem)
	}
	return fmt.Sprintf("%s: %s %s", r.Reason, r.Field, r.Problem)
}
