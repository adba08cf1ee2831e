// Package rail holds the pre-trade checks, one file each. A rail is a pure function
// from Facts to a Finding. All rails run on every order; a rail that cannot decide
// answers Fault. Rails do not know each other, the gate or the journal.
package rail

// ID is a rail's stable name: used in configuration, entries, refusals and metrics.
type ID string

// Status is one rail's answer. The zero value is none and counts as a fault, so a
// finding that nobody filled in refuses.
type Status uint8

// Statuses.
const (
	StatusNone Status = iota
	Pass
	Deny
	Fault // an input that the rail needs is absent or unreadable
	Off   // switched off by name, or it does not apply to this action
)

var statusWords = [...]string{"none", "pass", "deny", "fault", "off"}

// String returns the word of the journal: none, pass, deny, fault or off.
func (s Status) String() string {
	if int(s) < len(statusWords) {
		return statusWords[s]
	}
	return statusWords[StatusNone]
}

// Finding is one rail's answer. It is small, so that it comes back in registers: what
// explains a denial or fault stands apart. Detail is never nil but in the zero Finding,
// and must not be changed.
type Finding struct {
	Rail   ID
	Status Status
	Retry  Retry
	*Detail
}

// Detail explains a finding. Observed, Limit and Passes are set on a denial. They are
// short texts in the units of the document. On a fault, Text names what is missing.
type Detail struct {
	Observed string // what the order would come to
	Limit    string // the operator's number
	Passes   string // what would pass; empty when no change of this order could
	Text     string // one sentence for people and agents, without the agent's own text
}

// Retry says what could make the same order pass. The zero value is no.
type Retry uint8

// Retries.
const (
	RetryNo      Retry = iota // not while the limits and the state stand as they do
	RetryChanged              // with changed terms
	RetryLater                // unchanged, after some time
)

// Exempt says what a reducing order is spared.
type Exempt uint8

// Exemptions of reducing orders.
const (
	ExemptNone Exempt = iota // it is judged like any other
	ExemptAll                // it passes
	ExemptOwn                // it has its own number: a second bucket, a wider band, one step
)

// Rail is one check.
type Rail struct {
	ID     ID
	Family string // instrument, size, position, collar, session
	// Keys are the keys of the limits document that it reads, as section.key; none for
	// a rail that cannot be switched off.
	Keys   []string
	Exempt Exempt
	// Check never panics on absent facts, never allocates when it passes, and does not
	// change the facts.
	Check func(f *Facts) Finding
	// Effect is what it changes beside refusing, when Trips says so. Trips is nil for a
	// rail without an effect. It is asked on every order, reducing ones too, once the
	// verdict stands: denied is whether this order is denied. It does not ask whether the
	// effect already holds.
	Effect EffectKind
	Trips  func(f *Facts, denied bool) bool
}

// EffectKind is what a rail changes beside refusing.
type EffectKind uint8

// Effects.
const (
	EffectNone       EffectKind = iota
	EffectLatch                 // the rest of the trade date
	EffectReduceOnly            // mode reduce_only until an operator resumes
)

var effectWords = [...]string{"none", "latch", "reduce_only"}

// String returns the word of the journal: none, latch or reduce_only.
func (k EffectKind) String() string {
	if int(k) < len(effectWords) {
		return effectWords[k]
	}
	return effectWords[EffectNone]
}
