package scenario

import (
	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/normalize"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// Where a process can end within a call.
const (
	crashBeforeSend = "before_send" // decided, durable, and not sent
	crashAfterSend  = "after_send"  // taken by the broker, and no outcome recorded
)

// OutcomeInFlight is the outcome of a call whose process ended before it knew: nothing
// is journaled, and from its reply_by on the order is in doubt.
const OutcomeInFlight = "in_flight"

type brokerWord struct {
	word  string
	fault paper.FaultKind
}

// brokerFaults are what a broker can be told to do with the next message.
func brokerFaults() []brokerWord {
	return []brokerWord{
		{"accept", paper.FaultAccept}, {"reject", paper.FaultReject}, {"timeout", paper.FaultTimeout},
		{"timeout_after", paper.FaultTimeoutAfter}, {"partial", paper.FaultPartial},
		{"duplicate_fill", paper.FaultDuplicateFill}, {"late_fill", paper.FaultLateFill},
	}
}

func brokerWords() []string {
	var out []string
	for _, w := range brokerFaults() {
		out = append(out, w.word)
	}
	return out
}

func brokerFault(word string) paper.FaultKind {
	for _, w := range brokerFaults() {
		if w.word == word {
			return w.fault
		}
	}
	return paper.FaultNone
}

// refusalIDs are all ids that a refusal can bear.
func refusalIDs() []string {
	out := []string{
		string(normalize.MalformedCall), string(normalize.UnknownTool), string(normalize.UnknownArgument),
		string(normalize.InvalidNumber), string(normalize.ConflictingFields),
		risk.LimitsInvalid, risk.AccountUnavailable, risk.InternalFault, gate.CodeJournalUnavailable,
	}
	for _, r := range rail.All() {
		out = append(out, string(r.ID))
	}
	return out
}
